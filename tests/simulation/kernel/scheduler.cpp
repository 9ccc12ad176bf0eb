// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "scheduler.hpp"

#include "simulated_process.hpp"

#include <algorithm>

namespace pawl::simulation {

scheduler::event scheduler::schedule_at(instant when, task work) {
    const event key{std::max(when, now_), next_sequence_++};
    events_.emplace(key, std::move(work));
    return key;
}

void scheduler::post(simulated_process& process, task work) {
    ready_.emplace_back(&process, std::move(work));
}

void scheduler::run_ready() {
    while (!ready_.empty()) {
        auto [process, work] = std::move(ready_.front());
        ready_.pop_front();
        ++steps_;
        process->run_task(std::move(work));
    }
}

bool scheduler::step() {
    run_ready();
    if (events_.empty()) return false;
    auto first = events_.extract(events_.begin());
    now_ = first.key().first;
    ++steps_;
    first.mapped()();
    run_ready();
    return true;
}

void scheduler::run_for(instant period) {
    const auto until = now_ + period;
    schedule_at(until, [] {});
    run_ready();
    while (next_event_at() <= until && step()) {}
}

instant scheduler::next_event_at() const noexcept {
    return events_.empty() ? instant::max() : events_.begin()->first.first;
}

}  // namespace pawl::simulation
