// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "beliefs.hpp"

#include <algorithm>
#include <utility>

using namespace std::chrono_literals;

namespace pawl::simulation {

believed_hold& beliefs::add(believed_hold granted) {
    holds_.push_back(std::make_unique<believed_hold>(std::move(granted)));
    return *holds_.back();
}

void beliefs::end(believed_hold& hold) const {
    if (!hold.ended_at) hold.ended_at = loop_.now();
}

bool beliefs::was_paused(const void* program, instant from) const {
    return std::ranges::any_of(pauses_, [&](const pause& each) {
        return each.program == program && each.until + 1ms >= from;
    });
}

bool beliefs::is_paused(const believed_hold& hold, instant when) const {
    return std::ranges::any_of(pauses_, [&](const pause& each) {
        return each.program == hold.program && each.from <= when && when <= each.until + 1ms;
    });
}

void beliefs::check_exclusivity(const believed_hold& second) {
    const auto when = second.granted_at;
    if (!second.is_believed_at(when)) return;
    auto permits = second.permits;
    for (const auto& each : all()) {
        const auto& first = *each;
        if (&first == &second) break;
        if (first.name != second.name || !first.is_believed_at(when) || is_excused_at(first, when))
            continue;
        permits += first.permits;
        if (second.permits == 0 && !second.may_join(first))
            fail("two holders of " + to_text(first, second));
    }
    if (permits > total_permits) fail("more permits are held than the total");
}

std::string beliefs::to_text(const believed_hold& first, const believed_hold& second) {
    return first.name + ", granted at " + std::to_string(first.granted_at / 1ms) + " and " +
           std::to_string(second.granted_at / 1ms);
}

void beliefs::fail(const std::string& sentence) {
    if (violation_.empty())
        violation_ = sentence + " at " + std::to_string(loop_.now() / 1ms) + " ms";
}

}  // namespace pawl::simulation
