// Virtual time for a whole world: events in the order of time, then of their making. One thread.
#pragma once

#include "task.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>

namespace pawl::simulation {

class process;

// Since the world began.
using instant = std::chrono::nanoseconds;

class scheduler {
public:
    using event = std::pair<instant, std::uint64_t>;

    [[nodiscard]] instant now() const noexcept { return now_; }
    [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }

    // Not before now.
    event at(instant when, task what);
    event after(instant delay, task what) { return at(now_ + delay, std::move(what)); }
    void cancel(event which) { events_.erase(which); }

    // Runs as soon as what is ready has run, at this same instant.
    void post(process& on, task what);

    // Runs all that is ready, then moves time on to the next event and runs it and all that it made
    // ready. False: nothing is left to happen.
    bool step();
    void run_ready();

    [[nodiscard]] bool idle() const noexcept { return events_.empty() && ready_.empty(); }
    [[nodiscard]] instant next() const noexcept;

private:
    instant now_{};
    std::uint64_t made_ = 0;
    std::uint64_t steps_ = 0;
    std::map<event, task> events_;
    std::deque<std::pair<process*, task>> ready_;
};

}  // namespace pawl::simulation
