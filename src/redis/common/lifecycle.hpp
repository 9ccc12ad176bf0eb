// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The operations of a backend that `close` waits for, and their pauses, which it ends.
#pragma once

#include "../../core/util/fork_mark.hpp"
#include "../../core/util/wakeup.hpp"
#include "undo_queues.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <list>

namespace pawl::redis {

// Used on one strand, except for the destructor, which any thread may call after `close`.
class lifecycle {
public:
    lifecycle(runtime& time, const boost::asio::any_io_executor& strand)
        : time_(time), strand_(strand), operations_ended_(time, strand) {
        operations_ended_.prepare();
    }

    // Counts an operation for whose end `close` waits.
    class operation_guard {
    public:
        explicit operation_guard(lifecycle& parent) noexcept : parent_(parent) {
            ++parent_.active_operations_;
        }
        ~operation_guard() {
            if (--parent_.active_operations_ == 0) parent_.operations_ended_.notify();
        }
        operation_guard(const operation_guard&) = delete;
        operation_guard& operator=(const operation_guard&) = delete;

    private:
        lifecycle& parent_;
    };

    // A pause within such an operation. `close` ends the pause early.
    class interruptible_pause {
    public:
        explicit interruptible_pause(lifecycle& parent)
            : parent_(parent),
              timer_(parent.time_, parent.strand_),
              position_(parent.pauses_.insert(parent.pauses_.end(), &timer_)) {}
        ~interruptible_pause() { parent_.pauses_.erase(position_); }
        interruptible_pause(const interruptible_pause&) = delete;
        interruptible_pause& operator=(const interruptible_pause&) = delete;
        // False: the backend closes.
        boost::asio::awaitable<bool> wait_until(time_point deadline) {
            if (!parent_.is_closing_) co_await timer_.wait_until(deadline);
            co_return !parent_.is_closing_;
        }

    private:
        lifecycle& parent_;
        core::wakeup timer_;
        const std::list<core::wakeup*>::iterator position_;
    };

    [[nodiscard]] bool is_closing() const noexcept { return is_closing_; }
    [[nodiscard]] bool is_forked() const noexcept { return made_in_.is_forked(); }
    // Call this after the wait for the operations and undos, before the links are closed.
    void end_pauses();
    // Waits until no operation is active and no undo is pending.
    boost::asio::awaitable<void> wait_until_idle(undo_queues& undos, time_point deadline);

private:
    runtime& time_;
    const boost::asio::any_io_executor& strand_;
    const core::fork_mark made_in_;
    // Its timer is created early, so that closing needs no memory and no new timer.
    core::wakeup operations_ended_;
    unsigned active_operations_ = 0;
    std::list<core::wakeup*> pauses_;
    bool is_closing_ = false;
};

}  // namespace pawl::redis
