// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What is run without a layer, and which damage that must show.
#pragma once

#include "run.hpp"

#include <string>
#include <vector>

namespace real::orders {

// An experiment without one layer, or without the pair that shows what the layer is good for.
struct experiment {
    const char* layer;    // as in --without
    const char* without;  // the layers that are missing: the layer, and those that hide its absence
    orders::story story;
    // Of the auditor: it must be broken. Null: no rule may be broken, but `vain` must be high.
    const char* rule;
    const char* reason;
    std::size_t vain_work::*vain = nullptr;
};

// The layer "replication" is the database's: without it, a failover loses the last commits.
[[nodiscard]] const std::vector<experiment>& experiments();

// Empty: `without` is no name of an experiment, and no list of layers of one.
[[nodiscard]] const experiment* experiment_of(const std::string& without);

// How a run of this experiment is made.
[[nodiscard]] run_options options_of(const experiment& shown, std::size_t orders,
                                     std::uint64_t seed);

[[nodiscard]] std::size_t count_of(const run_result& result, const std::string& rule);

// What is wrong with the runs, as sentences. `least` is how often the rule must be broken.
[[nodiscard]] std::vector<std::string> complaints(const experiment& shown, const run_result& result,
                                                  std::size_t least);
// Of runs with all layers: any damage.
[[nodiscard]] std::vector<std::string> complaints(const run_result& result);
// Of all runs with all layers: a fault that met too few orders.
[[nodiscard]] std::vector<std::string> missing_faults(const std::vector<run_result>& results,
                                                      std::size_t least);

}  // namespace real::orders
