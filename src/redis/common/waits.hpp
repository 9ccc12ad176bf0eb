// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// How long a client waits for a server.
#pragma once

#include "core/util/spi.hpp"

#include <algorithm>
#include <chrono>

namespace pawl::redis {

// The pause between two refreshes of a waiter is random between these. A refresh replaces a message
// that was lost or never sent.
inline constexpr duration min_refresh_interval = std::chrono::milliseconds(950);
inline constexpr duration max_refresh_interval = std::chrono::milliseconds(1200);
// The request of a waiting acquire, and a waiter's refresh, have at least this long for the reply,
// even if the caller's wait ends earlier. Only a longer silence counts as an unreachable server.
inline constexpr duration min_reply_wait = std::chrono::milliseconds(300);

// When a release gives up: at the hold's deadline, but between 50 ms and the reply timeout from
// now, and after 50 ms if the timeout is shorter.
[[nodiscard]] inline time_point release_deadline(const hold& held, time_point now,
                                                 duration reply_timeout) {
    const auto soonest = now + std::chrono::milliseconds(50);
    return std::clamp(held.grant.deadline, soonest, std::max(soonest, now + reply_timeout));
}

}  // namespace pawl::redis
