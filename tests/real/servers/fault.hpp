// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What can go wrong in an environment.
#pragma once

#include "pace.hpp"

#include <functional>
#include <string>
#include <vector>

namespace real {

// A fault excuses nothing by itself: the checker looks at what the servers did.
struct fault {
    std::string name;  // for --faults and the table
    // Injects the fault into its environment, waits for its effect and repairs the servers. Throws
    // std::runtime_error if they do not recover.
    std::function<void(pace&)> run;
    std::string obstacle{};        // why it cannot be injected, as the end of a sentence
    bool is_by_name_only = false;  // not run unless --faults names it
};

// A fault of an environment's class.
template <class Environment>
struct fault_definition {
    const char* name;
    void (Environment::*run)(pace&);
    bool needs_network = false;
    bool is_by_name_only = false;
};

// `no_network`: why there are no partitions; empty: there are.
template <class Environment>
[[nodiscard]] std::vector<fault> faults_of(Environment& servers, const auto& definitions,
                                           const std::string& no_network) {
    std::vector<fault> all;
    for (const auto& each : definitions)
        all.push_back({.name = each.name,
                       .run = [&servers, run = each.run](pace& pace) { (servers.*run)(pace); },
                       .obstacle = each.needs_network ? no_network : std::string(),
                       .is_by_name_only = each.is_by_name_only});
    return all;
}

// Of faults, their definitions, or environments.
[[nodiscard]] std::vector<std::string> names_of(const auto& entries) {
    std::vector<std::string> names;
    for (const auto& each : entries)
        names.emplace_back(each.name);
    return names;
}

}  // namespace real
