// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The part of a soak that runs on one environment: the same servers and client processes, and one
// round of records after the other.
#pragma once

#include "interruption.hpp"
#include "progress.hpp"
#include "settings.hpp"
#include "totals.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace real::soak {

struct soak_parts {
    const settings& options;
    // Has a folder for each round. The folder of a round with a failure is kept.
    const std::string& folder;
    interruption& signals;
    progress& figures;
    const std::vector<totals>& earlier;  // of the environments before
};

// New faults begin until `end`. Does not throw: each failure is in `totals::failures`, also if the
// servers do not recover.
[[nodiscard]] totals run_stretch(const environment_entry& entry, const soak_parts& parts,
                                 std::chrono::steady_clock::time_point end);

// The verb. Returns the exit status for main; a wrong command line is bad_usage.
int run_verb(const std::vector<std::string>& arguments);

}  // namespace real::soak
