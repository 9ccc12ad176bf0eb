// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The servers that a proof can run on.
#pragma once

#include "environment.hpp"

#include <memory>
#include <string>
#include <vector>

namespace proofs {

struct environment_entry {
    std::string name;  // for --on
    std::string description;
    std::vector<std::string> faults;  // their names
    std::unique_ptr<environment> (*start)(const environment_options& options);
};

[[nodiscard]] const std::vector<environment_entry>& environments();

// A master, two replicas, three Sentinels.
[[nodiscard]] std::unique_ptr<environment> start_sentinel(const environment_options& options);
// Three masters with a replica each.
[[nodiscard]] std::unique_ptr<environment> start_cluster(const environment_options& options);

}  // namespace proofs
