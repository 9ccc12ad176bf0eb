// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The end of a scenario with Redlock: the faults stop, the nodes join, and every program gets every
// lock.
#include "redlock_scenario.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

using namespace std::chrono_literals;

namespace pawl::simulation {

void redlock_scenario::wait_until(const char* failure, instant most,
                                  const std::function<bool()>& is_met) {
    const auto until = loop_.now() + most;
    while (loop_.now() < until && !is_met() && holds_.violation().empty())
        loop_.run_for(20ms);
    if (!is_met() && holds_.violation().empty())
        fail(std::string(is_finishing_ ? "at the end, " : "") + failure);
}

bool redlock_scenario::is_idle() const {
    const auto is_of_the_living = [](const auto& each) { return !each->by->is_dead; };
    return std::ranges::none_of(attempts_, is_of_the_living) &&
           std::ranges::all_of(programs_, [](const auto& each) {
               return each->is_dead || std::ranges::none_of(each->users, &user::is_busy,
                                                            [](const auto& caller) -> const user& {
                                                                return *caller;
                                                            });
           });
}

// A quarantine, a lease and two seconds, by the slowest clock, and what the clocks were set back.
instant redlock_scenario::longest_recovery() const {
    const auto slowest = std::ranges::min(plan_.clock_rates);
    const auto counted = plan_.quarantine() + instant(plan_.ttl_max);
    return instant(static_cast<std::int64_t>(static_cast<double>(counted.count()) / slowest)) + 2s +
           nodes_.longest_clock_delay();
}

// The users' requests make the nodes join. A set that has lost its tokens, but not at all nodes,
// needs an operator, who waits until nobody has a lock any more.
void redlock_scenario::restore_set() {
    // Some names lead to other servers from now on, and the set's memory was at the earlier ones.
    const bool is_lost = plan_.replaces_servers && nodes_.count_members() < plan_.majority();
    const auto until = loop_.now() + longest_recovery();
    while (loop_.now() < until && nodes_.count_members() < nodes_.size())
        loop_.run_for(50ms);
    if (nodes_.count_members() == nodes_.size()) return;
    if (!plan_.loses_majority && !plan_.restarts_set && has_begun_ && !is_lost)
        return fail("at the end, a node has not joined again");
    bool has_succeeded = false;
    for (int i = 0; i < 10 && !has_succeeded; ++i) {
        trace_.write("an operator begins the set anew");
        operator_.begin_set(true, [&](bool succeeded) { has_succeeded = succeeded; });
        while (operator_.is_busy())
            loop_.run_for(10ms);
    }
    if (!has_succeeded) fail("at the end, an operator cannot begin the set");
}

void redlock_scenario::finish() {
    trace_.write("all faults end");
    nodes_.stop_faults();
    for (const auto& each : programs_) {
        nodes_.reconnect(each->process);
        resume(*each);
    }
    while (operator_.is_busy())
        loop_.run_for(10ms);
    restore_set();
    is_finishing_ = true;
    wait_until("an acquire or a hold does not end", 20s, [this] { return is_idle(); });
    if (holds_.violation().empty()) acquire_each();
}

void redlock_scenario::acquire_each() {
    is_calm_ = true;
    for (const auto& each : programs_)
        for (const auto& name : redlock_server::names()) {
            if (each->is_dead) continue;
            each->process.post([this, &each, name] { acquire(*each, *each->users[0], {name}); });
            loop_.run_for(1ms);
            wait_until("a lock is not granted or not released", longest_recovery() + 1s,
                       [this] { return is_idle(); });
        }
}

void redlock_scenario::close_all() {
    is_over_ = true;
    for (const auto& each : programs_) {
        nodes_.reconnect(each->process);
        each->process.resume();
        each->process.post([this, &each] {
            for (const auto& caller : each->users)
                retire(*caller);
            each->locks.reset();
        });
    }
    if (client_with_other_names_)
        client_with_other_names_->process.post([this] { client_with_other_names_->locks.reset(); });
    loop_.run_for(1min);
}

}  // namespace pawl::simulation
