// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A storm: processes that call `once` for the same operations, and are killed and stopped for
// longer than the lease. Afterwards the database tells how many effects each operation has.
#pragma once

#include "test_database.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace guard_tests {

enum class storm_kind : int {
    inside,                // once, with two statements as the effect
    inside_without_check,  // the same, and the record's end checks neither state nor token
    no_lease,              // once with the lease 0
    outside,               // at_least_once, whose outside accepts everything
    outside_by_key         // at_least_once, whose outside refuses the second effect under a key
};

struct storm_report {
    std::int64_t operations = 0;  // that have an effect
    std::int64_t repeated = 0;    // with an effect more than once
    std::int64_t torn = 0;        // with one half of the effect only
    std::int64_t unlike = 0;      // whose callers were told different results
    std::int64_t missing = 0;     // whose callers were told of an effect that is not there
    std::int64_t kills = 0, pauses = 0;
    std::vector<std::string> errors;
};

// Runs for this time, and longer until there was an operation; with `until_damage` until the first
// damage. Ends after 60 s in any case.
storm_report run_storm(const product& tested, const std::string& isolation, storm_kind kind,
                       std::chrono::milliseconds length, bool until_damage = false);
// The processes of a storm: the words behind --pawl-helper. Returns the exit status.
int run_storm_process(const std::vector<std::string>& arguments);

}  // namespace guard_tests
