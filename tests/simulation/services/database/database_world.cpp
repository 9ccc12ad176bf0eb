// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "database_world.hpp"

#include <algorithm>

using namespace std::chrono_literals;

namespace pawl::simulation {

database_world::database_world(std::uint64_t seed, const trace::line_sink& sink)
    : sql_world({.seed = seed, .users_per_program = 2, .longest_hold = 1s, .longest_rare_hold = 8s},
                sink) {}

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

}  // namespace pawl::simulation
