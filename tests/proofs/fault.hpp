// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What can go wrong in an environment.
#pragma once

#include "pace.hpp"

#include <functional>
#include <string>
#include <vector>

namespace proofs {

// A fault excuses nothing by itself: the checker looks at what the servers did.
struct fault {
    std::string name;  // for --faults and the table
    // Injects the fault into its environment, waits for its effect and repairs the servers. Throws
    // std::runtime_error if they do not recover.
    std::function<void(pace&)> run;
    std::string obstacle{};        // why it cannot be injected, as the end of a sentence
    bool is_by_name_only = false;  // not run unless --faults names it
};

// Of faults, their definitions, or environments.
[[nodiscard]] std::vector<std::string> names_of(const auto& entries) {
    std::vector<std::string> names;
    for (const auto& each : entries)
        names.emplace_back(each.name);
    return names;
}

}  // namespace proofs
