// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The number of operations that have not ended, and the wait for the last of them.
#pragma once

#include "wakeup.hpp"

#include <utility>

namespace pawl::core {

// For one waiter at a time; used on one strand.
class in_flight {
public:
    // The timer is made now, so that closing needs no memory and no new timer.
    in_flight(runtime& time, boost::asio::any_io_executor executor)
        : time_(time), ended_(time, std::move(executor)) {
        ended_.prepare();
    }

    // Counts an operation while the guard lives.
    class guard {
    public:
        explicit guard(in_flight& operations) noexcept : operations_(operations) {
            ++operations_.count_;
        }
        ~guard() {
            if (--operations_.count_ == 0) operations_.ended_.notify();
        }
        guard(const guard&) = delete;
        guard& operator=(const guard&) = delete;

    private:
        in_flight& operations_;
    };

    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    // There is an operation, and `give_up_at` has not come. To wait for the last one:
    //     while (operations.must_wait(t)) co_await operations.wait_until(t);
    // A coroutine around this loop would need memory.
    [[nodiscard]] bool must_wait(time_point give_up_at) const noexcept {
        return !empty() && time_.now() < give_up_at;
    }
    // False at `give_up_at`. True when the last operation has ended; that may have been before this
    // call.
    [[nodiscard]] boost::asio::awaitable<bool> wait_until(time_point give_up_at) {
        return ended_.wait_until(give_up_at);
    }

private:
    runtime& time_;
    unsigned count_ = 0;
    wakeup ended_;
};

}  // namespace pawl::core
