// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The smallest fencing token that the wall clock allows. It lets tokens survive the loss of their
// counter: docs/decisions/003-tokens-from-the-servers-clock.md.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace pawl::core {

// In units of 1/65536 s since 2024, as in src/redis/native/scripts/_token.lua; 0 before 2024.
[[nodiscard]] constexpr std::int64_t clock_token(
    std::chrono::system_clock::time_point wall) noexcept {
    using namespace std::chrono;
    constexpr sys_days since = 2024y / January / 1;
    const auto passed = duration_cast<microseconds>(wall - since).count();
    return std::max<std::int64_t>(0, passed) / 15625 * 1024 +
           std::max<std::int64_t>(0, passed) % 15625 * 1024 / 15625;
}

}  // namespace pawl::core
