// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The pauses between the refreshes of a waiter that the server asks to refresh again and again.
#pragma once

#include "../../core/util/back_off.hpp"
#include "../common/limits.hpp"
#include "../common/server_access.hpp"
#include "waiters.hpp"

#include <boost/asio/awaitable.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace pawl::redis::native {

// Prevents a tight loop of requests when a server reports again and again that a lease ends now, or
// grants the lock and refuses its renewal. The first two early refreshes and the first refusal
// cause no pause, since a race looks the same.
class refresh_pacer {
public:
    refresh_pacer(runtime& time, const limits& bounds)
        : time_(time), pauses_(time, bounds.pauses()) {}

    // The time of the next refresh. `sent_at` is the time of the last one.
    [[nodiscard]] time_point next_time(time_point sent_at, time_point refresh_at) noexcept {
        const auto soonest = sent_at + min_interval;
        early_refreshes_ = refresh_at < soonest ? early_refreshes_ + 1 : 0;
        return early_refreshes_ > max_early_refreshes ? soonest : refresh_at;
    }
    // Call this when a reply shows that the waiter is queued: a refused grant was only a race with
    // the server.
    void end_refusals() noexcept {
        was_refused_ = false;
        pauses_.reset();
    }
    // Call this after a grant that was not accepted. Another grant ends the pause.
    boost::asio::awaitable<void> pause_after_refusal(waiter& own_waiter, time_point give_up_at) {
        if (!std::exchange(was_refused_, true)) co_return;
        const auto pause = std::min<duration>(pauses_.next_pause(), min_refresh_interval);
        co_await own_waiter.wakeup.wait_until(std::min(give_up_at, time_.now() + pause));
    }

private:
    static constexpr unsigned max_early_refreshes = 2;
    static constexpr duration min_interval = std::chrono::milliseconds(50);

    runtime& time_;
    core::back_off pauses_;
    unsigned early_refreshes_ = 0;
    bool was_refused_ = false;
};

}  // namespace pawl::redis::native
