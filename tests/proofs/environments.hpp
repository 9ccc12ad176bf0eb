// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The servers that a proof can run on.
#pragma once

#include "fault.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace proofs {

struct environment_entry {
    std::string name;  // for --on
    std::string description;
    std::unique_ptr<environment> (*start)(std::size_t locks, std::size_t clients);
};

[[nodiscard]] const std::vector<environment_entry>& environments();

// A master, two replicas, three Sentinels.
[[nodiscard]] std::unique_ptr<environment> start_sentinel(std::size_t locks, std::size_t clients);
// Three masters with a replica each.
[[nodiscard]] std::unique_ptr<environment> start_cluster(std::size_t locks, std::size_t clients);

}  // namespace proofs
