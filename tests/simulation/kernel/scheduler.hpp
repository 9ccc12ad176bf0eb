// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The virtual time of a scenario. Events run by time, then by creation, on one thread.
#pragma once

#include "task.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>

namespace pawl::simulation {

class simulated_process;

// The time since the scenario began.
using instant = std::chrono::nanoseconds;

class scheduler {
public:
    using event = std::pair<instant, std::uint64_t>;

    [[nodiscard]] instant now() const noexcept { return now_; }
    [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }

    // An instant in the past means now.
    event schedule_at(instant when, task work);
    event schedule_after(instant delay, task work) {
        return schedule_at(now_ + delay, std::move(work));
    }
    void cancel(event scheduled) { events_.erase(scheduled); }

    // The work runs at this same instant, after all work that is ready already.
    void post(simulated_process& process, task work);

    // Runs all ready work, moves time to the next event, and runs it and the work that it makes
    // ready. Returns false if no event is left.
    bool step();
    void run_ready();
    // Runs all events of this period and moves time to its end.
    void run_for(instant period);

    [[nodiscard]] bool is_idle() const noexcept { return events_.empty() && ready_.empty(); }
    [[nodiscard]] instant next_event_at() const noexcept;

private:
    instant now_{};
    std::uint64_t next_sequence_ = 0;
    std::uint64_t steps_ = 0;
    std::map<event, task> events_;
    std::deque<std::pair<simulated_process*, task>> ready_;
};

}  // namespace pawl::simulation
