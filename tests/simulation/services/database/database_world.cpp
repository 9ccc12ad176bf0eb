// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "database_world.hpp"

#include <boost/asio/bind_executor.hpp>

#include <algorithm>

using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace pawl::simulation {

database_world::database_world(std::uint64_t seed, const trace::line_sink& sink)
    : world({.seed = seed, .users_per_program = 2, .longest_hold = 1s, .longest_rare_hold = 8s},
            sink),
      kind_(random_.below(10)),
      holds_(loop_) {}

world::program* database_world::program_of(const simulated_process& process) noexcept {
    const auto position =
        std::ranges::find(programs_, &process, [](const auto& each) { return &each->process; });
    return position == programs_.end() ? nullptr : position->get();
}

double database_world::clock_rate(prng& random) const {
    return 1 + static_cast<double>(random.between(-4, 4)) / 1000;
}

const std::vector<std::string>& database_world::names() const {
    static const std::vector<std::string> all{"alone", "room"};
    return all;
}

bool database_world::recover() {
    loop_.run_for(2 * std::ranges::max(ttls()));
    return true;
}

lock_options database_world::choose(user& caller, attempt& made) {
    auto& choices = caller.choices;
    const auto all = ttls();
    lock_options options{.ttl = all[choices.below(all.size())], .wait = 20s};
    if (choices.happens(0.25)) options.wait = 1ms * choices.between(0, 1500);
    if (choices.happens(0.1)) options.wait = 0ms;
    if (is_calm_) options.wait = longest_wait() - 5s;
    made.may_time_out = !is_calm_;
    return options;
}

void database_world::check_grant(const attempt& /*completed*/, const believed_hold& granted) {
    if (granted.token != 0) holds_.check_token(granted);
}

void database_world::check_loss(const believed_hold& lost) {
    if (!is_gentle() || holds_.is_forced(lost, loop_.now())) return;
    fail("a hold of " + lost.name + " was lost without a cause");
}

void database_world::check_failure(const attempt& failed, const boost::system::error_code& ec) {
    if (ec == make_error_code(errc::timed_out) && failed.may_time_out) return;
    if (is_calm_ || is_gentle()) fail("an unexpected error: " + message_of(failed));
}

void database_world::observe_lock(const std::string& name, observation& seen) {
    check_table(name);
    const bool is_wanted = std::ranges::any_of(attempts_, [&](const auto& each) {
        return each->names.front() == name && !each->by->is_dead &&
               !each->by->process.is_paused() && server().is_reachable(each->by->process);
    });
    const instant longest = is_gentle() ? 900ms : is_wild() ? 20s : 4s;
    if (!lasts(seen.nobody_gets_it, is_wanted && is_free(name), longest)) return;
    if (is_quiet_for(longest)) fail("somebody waits for the lock " + name + ", which is free");
}

void database_world::disturb() {
    if (random_.happens(0.3)) force();
    if (is_gentle()) return;
    for (auto left = random_.below(5); left > 0 && !has_failed(); --left) {
        disturbed_at_ = loop_.now();
        inject_fault();
        loop_.run_for(random_.between(0ms, 3s));
        disturbed_at_ = loop_.now();
    }
}

void database_world::inject_fault() {
    switch (is_wild() ? random_.below(8) : 0) {
    case 0:
    case 1:
        if (server().end_a_session()) trace_.write("a session ends");
        return;
    case 2: trace_.write("the server restarts"); return server().restart(random_.between(0ms, 3s));
    case 3: trace_.write("the server is frozen"); return server().freeze(random_.between(0ms, 8s));
    case 4: {
        auto& affected = *programs_[random_.below(programs_.size())];
        if (programs_.size() > 6 || !kill(affected)) return;
        server().kill(affected.process);
        return begin_program();
    }
    case 5: return stop_a_program(100ms, 12s);
    case 6: return cut_off_a_program(100ms, 12s);
    default: return disturb_others();
    }
}

void database_world::force() {
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
        by.locks->async_force_release(name, asio::bind_executor(by.process.get_executor(), end));
    });
}

}  // namespace pawl::simulation
