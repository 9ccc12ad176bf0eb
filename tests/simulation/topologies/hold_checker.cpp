// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "hold_checker.hpp"

#include <algorithm>
#include <utility>

using namespace std::chrono_literals;

namespace pawl::simulation {

believed_hold& hold_checker::add(believed_hold granted) {
    holds_.push_back(std::make_unique<believed_hold>(std::move(granted)));
    return *holds_.back();
}

void hold_checker::end(believed_hold& hold) const {
    if (!hold.ended_at) hold.ended_at = loop_.now();
}

void hold_checker::note_promotion(std::vector<std::string> names, const void* old_master) {
    replacements_.push_back({std::move(names), old_master, loop_.now(), std::nullopt});
}

void hold_checker::note_demotion(const void* old_master) {
    for (auto& each : replacements_)
        if (each.old_master == old_master && !each.until) each.until = loop_.now();
}

bool hold_checker::is_replaced_near(const std::string& name, instant from, instant until) const {
    return std::ranges::any_of(replacements_, [&](const replacement& each) {
        return std::ranges::count(each.names, name) > 0 && each.from <= until &&
               (!each.until || *each.until >= from);
    });
}

bool hold_checker::is_paused(const believed_hold& hold, instant when) const {
    return std::ranges::any_of(pauses_, [&](const pause& each) {
        return each.program == hold.program && each.from <= when && when <= each.until + 1ms;
    });
}

// The excuses: the new master may not know the first grant or, of a slot that moves, may have lost
// the keys that had moved to it already; and the replaced master, which has the earlier epoch, may
// have granted the second one. The grants of a lost master have an earlier epoch than every later
// one, also than those of a node to which the slot just moves.
void hold_checker::check_pair(const believed_hold& first, const believed_hold& second) {
    const auto pair = first.name + ", granted at " + std::to_string(first.granted_at / 1ms) +
                      " and " + std::to_string(second.granted_at / 1ms);
    if (first.token == second.token) fail("a token was issued twice: " + pair);
    if (first.granted_at >= second.requested_at) return;
    const bool is_ordered = first.token < second.token;
    if (!is_ordered && first.epoch() <= second.epoch())
        fail("a token of the same or a later epoch is smaller: " + pair);
    if (!is_ordered && second.is_of_present_master)
        fail("a token of the present master is smaller than an earlier one: " + pair);
    if (!is_ordered &&
        !is_replaced_near(second.name, second.granted_at - longest_delay_, second.granted_at))
        fail("a token went back without a failover: " + pair);
    const bool overlap = first.is_believed_at(second.granted_at);
    if (overlap && !is_paused(first, second.granted_at) &&
        !is_replaced_near(first.name, first.granted_at - longest_lease_ - longest_delay_,
                          second.granted_at))
        fail("two holders of " + pair);
}

void hold_checker::check() {
    for (const auto& first : holds_)
        for (const auto& second : holds_)
            if (first != second && first->name == second->name) check_pair(*first, *second);
}

void hold_checker::fail(const std::string& sentence) {
    if (violation_.empty())
        violation_ = sentence + " at " + std::to_string(loop_.now() / 1ms) + " ms";
}

}  // namespace pawl::simulation
