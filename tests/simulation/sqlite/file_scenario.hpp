// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One scenario of the SQLite backend: programs that lock in one file, and faults of the file, the
// clocks and the programs. One seed makes all random choices. See docs/contributing/testing.md.
#pragma once

#include "host.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace pawl::simulation {

// Bugs that can be injected, to measure whether the scenarios find them. Most are triggers in the
// file, so that the store's own transactions execute them.
enum class file_bug : std::uint8_t {
    none,
    tokens_without_clock,   // tokens are last + 1, so they repeat after an older file was restored
    token_never_increases,  // the counter is not stored
    other_boots_deleted,    // every other boot id is taken for a reboot
    renewal_not_written,    // the result says that the hold was extended
    release_takes_all,      // the rows of other owners are deleted too
    release_leaves_row,     // the result says that the hold was released
    lease_cut_short,        // half of the ttl is stored
    modes_forgotten,        // a writer is stored as a reader
    permits_forgotten,      // each hold counts for one permit
    waiters_forgotten,      // waiters are not stored
    latch_counts_twice,     // one step counts twice
};

inline constexpr std::array file_bug_names{
    std::pair{file_bug::none, std::string_view("none")},
    std::pair{file_bug::tokens_without_clock, std::string_view("tokens_without_clock")},
    std::pair{file_bug::token_never_increases, std::string_view("token_never_increases")},
    std::pair{file_bug::other_boots_deleted, std::string_view("other_boots_deleted")},
    std::pair{file_bug::renewal_not_written, std::string_view("renewal_not_written")},
    std::pair{file_bug::release_takes_all, std::string_view("release_takes_all")},
    std::pair{file_bug::release_leaves_row, std::string_view("release_leaves_row")},
    std::pair{file_bug::lease_cut_short, std::string_view("lease_cut_short")},
    std::pair{file_bug::modes_forgotten, std::string_view("modes_forgotten")},
    std::pair{file_bug::permits_forgotten, std::string_view("permits_forgotten")},
    std::pair{file_bug::waiters_forgotten, std::string_view("waiters_forgotten")},
    std::pair{file_bug::latch_counts_twice, std::string_view("latch_counts_twice")},
};

// The trigger that injects the bug into a file; null for bugs without a trigger.
[[nodiscard]] const char* trigger_of(file_bug bug);

struct file_scenario_result {
    std::string violation;  // empty if there is none
    std::uint64_t grants = 0;
    std::uint64_t steps = 0;
    std::uint64_t losses_reported = 0;
    std::uint64_t hash = 0;  // of the trace
    std::string trace;       // if it was requested
};

[[nodiscard]] file_scenario_result run_file_scenario(std::uint64_t seed,
                                                     file_bug bug = file_bug::none,
                                                     bool trace = false);

}  // namespace pawl::simulation
