// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Coroutines that wait for the same event.
#pragma once

#include "wakeup.hpp"

#include <list>
#include <utility>

namespace pawl::core {

// Used on one strand; must outlive the waits.
class wakeup_list {
public:
    wakeup_list(runtime& time, boost::asio::any_io_executor executor)
        : time_(time), executor_(std::move(executor)) {}

    // True if `notify_all` was called; false at `when`. Throws on cancellation.
    boost::asio::awaitable<bool> wait_until(time_point when) {
        entry own(*this);
        co_return co_await own.timer.wait_until(when);
    }
    void notify_all() {
        for (auto* each : waiting_)
            each->notify();
    }

private:
    struct entry {
        explicit entry(wakeup_list& owner)
            : list(owner),
              timer(owner.time_, owner.executor_),
              position(owner.waiting_.insert(owner.waiting_.end(), &timer)) {}
        ~entry() { list.waiting_.erase(position); }
        entry(const entry&) = delete;
        entry& operator=(const entry&) = delete;

        wakeup_list& list;
        wakeup timer;
        const std::list<wakeup*>::iterator position;
    };

    runtime& time_;
    const boost::asio::any_io_executor executor_;
    std::list<wakeup*> waiting_;
};

}  // namespace pawl::core
