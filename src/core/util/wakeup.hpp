// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A wait of a coroutine that can be ended early. Pawl's coroutines use no other timers.
#pragma once

#include "spi.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <memory>

namespace pawl::core {

// For one waiter at a time; used on one strand.
class wakeup {
public:
    wakeup(runtime& time, boost::asio::any_io_executor executor)
        : time_(time), executor_(std::move(executor)) {}

    // Makes the timer now; that may fail.
    void prepare();

    // True if `notify` was called, also before this call; false at `when`. Throws on cancellation.
    boost::asio::awaitable<bool> wait_until(time_point when);

    // Ends the present wait, or the next one at once.
    void notify();

private:
    runtime& time_;
    const boost::asio::any_io_executor executor_;
    std::shared_ptr<timer> timer_;  // made at the first wait: most wakeups never wait
    bool is_waiting_ = false;
    bool is_notified_ = false;
};

}  // namespace pawl::core
