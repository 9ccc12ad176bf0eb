// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Waits of coroutines of one executor for each other.
#pragma once

#include <pawl/spi/runtime.hpp>

#include <boost/asio/awaitable.hpp>

#include <list>
#include <utility>

namespace pawl::guard {

// Completes at the time, or when the timer is cancelled. Only one wait at a time.
boost::asio::awaitable<void> wait_until(spi::timer& timer, time_point when);

// A mutex for coroutines: they have turns, in the order of their calls.
class async_turns {
public:
    // The turn lasts as long as this.
    class [[nodiscard]] turn {
    public:
        explicit turn(async_turns& of) noexcept : of_(&of) {}
        turn(turn&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
        turn& operator=(turn&&) = delete;
        ~turn() {
            if (of_ != nullptr) of_->leave();
        }

    private:
        async_turns* of_;
    };

    boost::asio::awaitable<turn> enter();

private:
    void leave() noexcept;

    bool is_taken_ = false;
    std::list<spi::timer*> waiters_;  // the front gets the next turn, and is removed
};

}  // namespace pawl::guard
