// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// How far the closing of a client has come, and the handlers that wait for its end.
#pragma once

#include "../util/wakeup.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

namespace pawl::core {

// It never goes back.
enum class close_stage : std::uint8_t {
    open,
    requested,  // `close` was called: releases are queued, a bounded number is in flight
    begun,      // the first call of `close` runs on the strand
    closed,     // new operations are refused
    drained,    // no release begins any more
    finished,   // the handlers of `close` are called
};

// Members marked "Strand" run on the strand; the others may be called from any thread.
class closing {
public:
    using handler = boost::asio::any_completion_handler<void()>;

    closing(runtime& time, const boost::asio::any_io_executor& strand)
        : wakeup_(std::in_place, time, strand) {}
    // Before the first other call. Makes the timer and the room for the first handler early, so
    // that closing needs no new timer.
    void prepare();

    [[nodiscard]] bool has_reached(close_stage stage) const noexcept { return stage_ >= stage; }
    void advance_to(close_stage stage) noexcept;

    // Strand. Keeps the handler for the end; without memory, calls it at once.
    void add_handler(handler closed);
    // Strand.
    [[nodiscard]] std::vector<handler> take_handlers() noexcept;
    // Strand. Sleeps until `notify` or the deadline.
    boost::asio::awaitable<bool> wait_until(time_point deadline) {
        return wakeup_->wait_until(deadline);
    }
    // Strand. Something that closing waits for has ended.
    void notify() { wakeup_->notify(); }
    // Leaves nothing that uses the event loop.
    void dispose() noexcept { wakeup_.reset(); }

private:
    std::atomic<close_stage> stage_ = close_stage::open;
    std::optional<wakeup> wakeup_;
    std::vector<handler> handlers_;
};

}  // namespace pawl::core
