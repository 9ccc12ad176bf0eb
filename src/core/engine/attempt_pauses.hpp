// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The pauses between the attempts of one acquire.
#pragma once

#include "../util/outage.hpp"

#include <algorithm>

namespace pawl::core {

// Used on one strand.
class attempt_pauses {
public:
    // `time` and `log` must outlive the object.
    attempt_pauses(runtime& time, const boost::asio::any_io_executor& strand,
                   const outage::logger& log)
        : time_(time), outage_(time, strand, log), polls_(time, polling), timer_(time, strand) {}

    // After an attempt that took so long and failed with a transient error. An attempt that took
    // longer than the longest pause found the service again, or waited for it that long.
    boost::asio::awaitable<void> after_failure(const error& failure, duration took,
                                               time_point give_up_at) {
        if (took > outage::usual.longest) outage_.begin_anew();
        return outage_.pause(failure, give_up_at);
    }
    // After an attempt that found the lock taken and did not wait for it.
    boost::asio::awaitable<void> while_taken(time_point give_up_at) {
        outage_.begin_anew();
        const auto until = time_.now() + polls_.next_pause();
        co_await timer_.wait_until(std::min(give_up_at, until));
    }

private:
    // A polling caller sees a release some 0.2 s late at the most.
    static constexpr pause_lengths polling{.first = std::chrono::milliseconds(10),
                                           .longest = std::chrono::milliseconds(200)};

    runtime& time_;
    outage outage_;
    back_off polls_;
    wakeup timer_;
};

}  // namespace pawl::core
