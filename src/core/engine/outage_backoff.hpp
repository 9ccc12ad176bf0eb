// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The pauses of a wait while the service is away.
#pragma once

#include "../util/wait_notice.hpp"
#include "../util/wakeup.hpp"

#include <pawl/error.hpp>

namespace pawl::core {

// For one wait; used on one strand.
class outage_backoff {
public:
    // `log` must outlive the object, and may be empty.
    outage_backoff(runtime& time, boost::asio::any_io_executor strand,
                   const wait_notice::logger& log, time_point give_up_at)
        : time_(time),
          timer_(time, std::move(strand)),
          notice_(time, log),
          give_up_at_(give_up_at) {}

    // Pauses before the next attempt, longer each time, and writes the reason to the log once a
    // minute. Throws `failure` if it is not errc::unreachable, or if no time is left. A backend
    // itself repeats requests that fail with errc::unavailable or errc::no_quorum, since it can
    // tell a busy file from a damaged one; `also_unavailable` is for requests that no backend
    // repeats.
    boost::asio::awaitable<void> wait_or_throw(error failure, bool also_unavailable = false);

private:
    runtime& time_;
    wakeup timer_;
    wait_notice notice_;
    const time_point give_up_at_;
    duration next_pause_ = std::chrono::milliseconds(100);
};

}  // namespace pawl::core
