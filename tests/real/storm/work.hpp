// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The command of a storm of `pawl run`: works for a moment, ignores SIGTERM, and records when it
// worked under which token.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace real::storm {

// Returns the exit status for main.
int run_worker(const std::string& folder);

struct work_record {
    std::uint64_t token = 0;
    std::int64_t first = 0;  // CLOCK_BOOTTIME, ns
    std::int64_t last = 0;
};
// Ordered by token. Without workers that were killed before their first record.
[[nodiscard]] std::vector<work_record> read_work(const std::string& folder);

}  // namespace real::storm
