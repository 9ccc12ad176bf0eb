// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "sql_world.hpp"

#include <algorithm>

using namespace std::chrono_literals;

namespace pawl::simulation {

sql_world::sql_world(const world_settings& settings, const trace::line_sink& sink)
    : world(settings, sink), kind_(random_.below(10)), holds_(loop_) {}

world::program* sql_world::program_of(const simulated_process* process) const noexcept {
    const auto position =
        std::ranges::find(programs_, process, [](const auto& each) { return &each->process; });
    return position == programs_.end() ? nullptr : position->get();
}

void sql_world::disturb() {
    if (random_.happens(0.3)) force();
    if (is_gentle()) return;
    for (auto left = random_.below(5); left > 0 && !has_failed(); --left) {
        disturbed_at_ = loop_.now();
        inject_fault();
        loop_.run_for(random_.between(0ms, 3s));
        disturbed_at_ = loop_.now();
    }
}

void sql_world::force() {
    auto& by = *programs_[random_.below(programs_.size())];
    const auto& name = random_name();
    if (by.is_dead) return;
    trace_.write(by.label + " forces " + name);
    holds_.note_force(name);
    by.process.post([this, &by, name, index = holds_.count_forces() - 1] {
        if (is_over_ || by.is_dead) return;
        const auto end = [this, index](const boost::system::error_code&, bool) {
            // Without an answer it may still be carried out, within the longest life of a session.
            loop_.schedule_after(10s, [this, index] { holds_.end_force(index); });
        };
        by.locks->async_force_release(name, by.run_in_process(end));
    });
}

void sql_world::check_loss(const believed_hold& lost) {
    if (!is_gentle() || holds_.is_forced(lost, loop_.now())) return;
    fail("a hold of " + lost.name + " was lost without a cause");
}

void sql_world::check_failure(const attempt& failed, const boost::system::error_code& ec) {
    if (ec == make_error_code(errc::timed_out) && failed.may_time_out) return;
    if (is_calm_ || is_gentle()) fail("an unexpected error: " + message_of(failed));
}

// When nothing disturbs the waiters, a free lock is granted soon; else at the latest when they look
// again after the lease that they know.
void sql_world::observe_lock(const std::string& name, observation& seen) {
    check_rows(name);
    const bool is_wanted = std::ranges::any_of(attempts_, [&](const auto& each) {
        return each->names.front() == name && can_ask(*each->by);
    });
    const instant longest = is_gentle() ? 900ms : is_wild() ? 20s : 4s;
    if (!lasts(seen.nobody_gets_it, is_wanted && is_free(name), longest)) return;
    if (is_quiet_for(longest)) fail("somebody waits for the lock " + name + ", which is free");
}

}  // namespace pawl::simulation
