// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The pauses and the log lines of a wait while its service is away or unavailable.
#pragma once

#include "back_off.hpp"
#include "wakeup.hpp"

#include <pawl/error.hpp>

#include <functional>
#include <string_view>

namespace pawl::core {

// For one wait; used on one strand.
class outage {
public:
    using logger = std::function<void(std::string_view)>;
    // The longest pause is also the longest delay between the service's return and the next
    // request.
    static constexpr pause_lengths usual{.first = std::chrono::milliseconds(100),
                                         .longest = std::chrono::seconds(2)};

    // `time` and `log` must outlive the object; `log` may be empty.
    outage(runtime& time, boost::asio::any_io_executor strand, const logger& log,
           const pause_lengths& lengths = usual)
        : time_(time), log_(log), pauses_(time, lengths), timer_(time, std::move(strand)) {}

    // Pauses before the next request, longer each time; until `failure.retry_at()` if that is
    // later, and never beyond `give_up_at`. The reason is written to the log at once, and again
    // every minute.
    boost::asio::awaitable<void> pause(const error& failure, time_point give_up_at);
    // After the service has answered: the next outage is a new one.
    void begin_anew() noexcept { pauses_.reset(); }

private:
    void report(std::string_view reason);

    runtime& time_;
    const logger& log_;
    back_off pauses_;
    wakeup timer_;
    time_point silent_until_ = time_point::min();
};

}  // namespace pawl::core
