// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "local_ticks.hpp"

#include "../ui/failure.hpp"

#include <pawl/spi/runtime.hpp>

#include <algorithm>

namespace pawl::cli {

namespace {

// A job that works has its tick until it gives it back.
constexpr duration endless = std::chrono::years(1);

guard::store_time host_time() {
    return std::chrono::floor<std::chrono::microseconds>(spi::real_runtime().wall_clock());
}

}  // namespace

local_ticks::local_ticks(const std::vector<cron_line>& lines) {
    for (const auto& line : lines) {
        auto& ticks = schedules_[line.name];
        if (line.options.catch_up != guard::catch_up_policy::none)
            ticks.look_back = line.options.late + line.options.spread;
    }
}

local_ticks::schedule_ticks& local_ticks::of(std::string_view name) {
    return schedules_.find(name)->second;
}

guard::schedule_state local_ticks::look(std::string_view name) {
    auto& ticks = of(name);
    const auto now = host_time();
    if (++ticks.looks == 1)
        ticks.settled = now - std::chrono::ceil<std::chrono::microseconds>(ticks.look_back);
    guard::schedule_state state{.now = now, .settled = ticks.settled};
    for (const auto& [due, record] : ticks.unfinished)
        state.unfinished.push_back(record);
    return state;
}

guard::claim_answer local_ticks::claim(const guard::tick_claim& wanted,
                                       guard::store_time not_before, duration /*lease*/) {
    if (host_time() < not_before) return guard::claim_answer::early;
    auto& ticks = of(wanted.name);
    reopen(wanted, endless);
    ticks.settled = std::max(ticks.settled, wanted.due);
    return guard::claim_answer::claimed;
}

bool local_ticks::skip(const guard::tick_claim& claimed, const std::string& reason,
                       guard::store_time settled, std::uint32_t missed) {
    auto& ticks = of(claimed.name);
    ticks.unfinished.erase(claimed.due);
    ticks.settled = std::max(ticks.settled, settled);
    if (ticks.looks > 1)
        say("Skips '" + claimed.name + "' of " + claimed.key +
            (missed > 0 ? " and " + std::to_string(missed) + " after it" : std::string()) + ": " +
            reason + ".");
    return true;
}

void local_ticks::settle(const guard::tick_claim& claimed) {
    of(claimed.name).unfinished.erase(claimed.due);
}

void local_ticks::reopen(const guard::tick_claim& claimed, duration pause) {
    of(claimed.name).unfinished[claimed.due] = {
        .name = claimed.name,
        .key = claimed.key,
        .due = claimed.due,
        .claim = claimed.claim,
        .lease_until = host_time() + std::chrono::ceil<std::chrono::microseconds>(pause),
        .host = claimed.host};
}

}  // namespace pawl::cli
