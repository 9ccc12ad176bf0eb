// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The helper processes of the storms, beside the clients of clients/client_process.hpp, and how
// long a storm lasts.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace real::storm {

// Locks of a process with the role "stripes", which wants one or two of them at a time.
inline constexpr std::size_t stripes = 3;

// Runs the helper with these words until stdin ends, and returns the exit status for main: 2 if
// there is no such helper.
//   refused URL COUNT                 acquires each of the locks lock0, lock1, … once
//   stripes URL FOLDER PROCESS        eight threads that want the stripes again and again
//   adopt URL FOLDER PROCESS chain    holds "it" under a caller's value until it is killed. It
//                                     adopts the hold of the dead process before it if that hold
//                                     has not ended
//   adopt URL FOLDER PROCESS other    holds "it" under values of its own, again and again
//   work FOLDER                       the command of a storm of `pawl run`: works for a moment,
//                                     ignores SIGTERM, and records when it worked, and under which
//                                     token
int run_helper(const std::vector<std::string>& words);

// Of a worker.
struct work_record {
    std::uint64_t token = 0;
    std::int64_t first = 0;  // CLOCK_BOOTTIME, ns
    std::int64_t last = 0;
};
// Ordered by token. Without workers that were killed before their first record.
[[nodiscard]] std::vector<work_record> read_work(const std::string& folder);

// How long a storm lasts: PAWL_STORM_SECONDS, if that is set.
inline std::chrono::seconds length_or(std::chrono::seconds default_length) {
    const char* setting = std::getenv("PAWL_STORM_SECONDS");
    return setting == nullptr ? default_length : std::chrono::seconds(std::atoi(setting));
}

}  // namespace real::storm
