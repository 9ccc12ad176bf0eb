// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Observes renewals from outside.
#pragma once

#include "command.hpp"

#include <string>

namespace cli_test {

// Waits until the end of the lease has moved `count` times. Each query takes a while, so the end of
// the lease is known only within bounds. A renewal is counted only if the bounds prove it.
[[nodiscard]] inline bool eventually_renewed(const test_sandbox& sandbox, const std::string& name,
                                             int count) {
    std::int64_t latest_end = 0;
    int renewals = 0;
    return support::eventually(
        [&] {
            const auto before = boot_time();
            const auto milliseconds =
                std::stoll(from_json(sandbox.run({"status", name, "--json"}).out,
                                     "(it['holder'] or {}).get('remaining_ms', 0)"));
            if (milliseconds == 0) return false;
            const auto rest = milliseconds * 1'000'000;
            if (latest_end != 0 && before + rest <= latest_end) return false;
            if (latest_end != 0) ++renewals;
            latest_end = boot_time() + rest;
            return renewals == count;
        },
        std::chrono::seconds(30));
}

}  // namespace cli_test
