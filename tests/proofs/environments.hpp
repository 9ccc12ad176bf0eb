// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The servers that a proof can run on.
#pragma once

#include "environment.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace proofs {

struct environment_entry {
    std::string name;  // for --on
    std::string description;
    std::vector<std::string> faults;        // their names
    std::chrono::milliseconds longest_ttl;  // of the leases
    bool have_epochs;                       // Pawl's tokens there: see epoch_of
    std::unique_ptr<environment> (*start)(const environment_options& options);
};

[[nodiscard]] const std::vector<environment_entry>& environments();

// A master, two replicas, three Sentinels.
[[nodiscard]] std::unique_ptr<environment> start_sentinel(const environment_options& options);
// Five independent servers.
[[nodiscard]] std::vector<std::string> redlock_faults();
[[nodiscard]] std::unique_ptr<environment> start_redlock(const environment_options& options);
// Three masters with a replica each.
[[nodiscard]] std::unique_ptr<environment> start_cluster(const environment_options& options);

}  // namespace proofs
