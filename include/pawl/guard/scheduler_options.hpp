// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What both schedulers have in common: scheduler.hpp and async_scheduler.hpp. Standard headers
// only.
#pragma once

#include <pawl/guard/schedule.hpp>
#include <pawl/types.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

namespace pawl::guard {

// The tick whose work runs.
struct running_tick {
    std::string name;           // of the schedule
    tick when{};                // its instant and its key
    fencing_token token{};      // of the lock: send it with each write
    std::uint32_t attempt = 1;  // above 1: the work may have begun before
    std::stop_token lost{};     // stopped when the lock is lost: end the work at once
};

// Settings of a scheduler.
struct scheduler_options {
    // Shown in the history; empty: the name of this host.
    std::string host{};
    // Gets a line for each failure of the records and each tick that did not begin here. Called on
    // the threads of the scheduler.
    std::function<void(std::string_view)> log{};
    // Records are deleted that long after the end of their tick.
    duration keep = std::chrono::hours(24 * 30);
    // For tests in virtual time: called in place of a wait for at most this time. The records then
    // have the test's clock.
    std::function<void(duration)> pause{};
};

}  // namespace pawl::guard
