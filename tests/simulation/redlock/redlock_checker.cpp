// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "redlock_checker.hpp"

#include <algorithm>
#include <utility>

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

// Between an event at the nodes and the moment at which a program learns of it.
constexpr auto longest_delay = 1s;

// Of two holds at the same time, the later one may be beside the earlier one.
bool may_share(const quorum_hold& first, const quorum_hold& second) {
    return second.is_reader() && first.is_shared_at(second.granted_at);
}

// Readers may have the token of other readers, and of a writer that became one.
bool may_have_one_token(const quorum_hold& first, const quorum_hold& second) {
    return first.shared_since && second.shared_since && (first.is_reader() || second.is_reader());
}

// A hold of a caller that wanted no token has none, although the nodes number it.
bool have_tokens(const quorum_hold& first, const quorum_hold& second) {
    return first.token > 0 && second.token > 0;
}

bool concerns(const std::string& event, const std::string& name) {
    return event.empty() || event == name;
}

}  // namespace

quorum_hold& redlock_checker::add(quorum_hold granted) {
    holds_.push_back(std::make_unique<quorum_hold>(std::move(granted)));
    return *holds_.back();
}

void redlock_checker::end(quorum_hold& hold) const {
    if (!hold.ended_at) hold.ended_at = loop_.now();
}

void redlock_checker::note_interference(const std::string& name, std::uint64_t expected) {
    interferences_.push_back({name, expected, loop_.now(), std::nullopt});
}

void redlock_checker::end_interference(const std::string& name) {
    for (auto& each : interferences_)
        if (each.name == name && !each.until) each.until = loop_.now();
}

bool redlock_checker::is_forced_near(const std::string& name, instant from,
                                     std::uint64_t token) const {
    return std::ranges::any_of(interferences_, [&](const interference& each) {
        return concerns(each.name, name) && token <= each.expected &&
               (!each.until || *each.until + longest_delay >= from);
    });
}

bool redlock_checker::was_paused(const void* program, instant from) const {
    return std::ranges::any_of(pauses_, [&](const pause& each) {
        return each.program == program && each.until + 1ms >= from;
    });
}

bool redlock_checker::is_paused(const quorum_hold& hold, instant when) const {
    return std::ranges::any_of(pauses_, [&](const pause& each) {
        return each.program == hold.program && each.from <= when && when <= each.until + 1ms;
    });
}

// A holder from which an operator takes a lock learns of it at its next renewal.
bool redlock_checker::is_excused(const quorum_hold& first, const quorum_hold& second) const {
    const auto since = first.granted_at - longest_lease_ - longest_delay;
    return is_paused(first, second.granted_at) ||
           std::ranges::any_of(weaknesses_,
                               [&](const weakness& each) {
                                   return concerns(each.name, first.name) && each.at >= since &&
                                          each.at <= second.granted_at;
                               }) ||
           std::ranges::any_of(interferences_, [&](const interference& each) {
               const auto until = each.until.value_or(loop_.now()) + longest_lease_ + longest_delay;
               return concerns(each.name, first.name) && first.token <= each.expected &&
                      each.from <= second.granted_at && until >= second.granted_at;
           });
}

void redlock_checker::check_pair(const quorum_hold& first, const quorum_hold& second) {
    const auto pair = first.name + ", granted at " + std::to_string(first.granted_at / 1ms) +
                      " and " + std::to_string(second.granted_at / 1ms);
    const bool is_seeded_between = std::ranges::any_of(wrong_seeds_, [&](instant at) {
        return at >= std::min(first.requested_at, second.requested_at) &&
               at <= std::max(first.granted_at, second.granted_at);
    });
    const bool are_tokens_judged = !is_seeded_between && have_tokens(first, second);
    if (are_tokens_judged && first.token == second.token && !may_have_one_token(first, second))
        fail("a token was issued twice: " + pair);
    if (first.granted_at >= second.requested_at) {
        // They were requested at the same time.
        const bool overlap =
            first.granted_at <= second.granted_at && first.is_believed_at(second.granted_at);
        if (overlap && !may_share(first, second) && !is_excused(first, second))
            fail("two holders of " + pair);
        return;
    }
    if (are_tokens_judged && first.token > second.token) fail("a token went back: " + pair);
    if (first.is_believed_at(second.granted_at) && !may_share(first, second) &&
        !is_excused(first, second))
        fail("two holders of " + pair);
}

// Whatever has made a later grant possible: at a majority, the counter is above the earlier token
// now, so the earlier hold cannot be renewed.
void redlock_checker::check_overtaken(const quorum_hold& first, const quorum_hold& second) {
    const auto told_by = second.granted_at + longest_lease_ + longest_delay;
    if (!may_share(first, second) && have_tokens(first, second) && first.token < second.token &&
        first.granted_at <= second.granted_at && told_by < loop_.now() &&
        first.is_believed_at(told_by) && !was_paused(first.program, second.requested_at))
        fail("a hold of " + first.name + " goes on after a later grant at " +
             std::to_string(second.granted_at / 1ms));
}

void redlock_checker::check_forced(const quorum_hold& hold, const forced_release& by) {
    if (hold.name != by.name || hold.granted_at > by.from || hold.token > by.expected) return;
    if (hold.token == 0) return;  // the number may be above the operator's
    const auto told_by = by.until + longest_lease_ + longest_delay;
    if (told_by < loop_.now() && hold.is_believed_at(told_by) && !is_paused(hold, told_by) &&
        !was_paused(hold.program, by.from))
        fail("a hold of " + hold.name + " goes on after its forced release");
}

// At a majority the counters are above its token, and each release meets one of these nodes.
void redlock_checker::check_release(const reported_release& release) {
    const auto& ended = *release.hold;
    for (const auto& each : holds_)
        if (each->name == ended.name && have_tokens(ended, *each) && each->token > ended.token &&
            each->granted_at < release.asked_at && !may_share(ended, *each) &&
            !may_share(*each, ended))
            fail("the release of a hold of " + ended.name + " says '" + to_string(release.result) +
                 "' after a later grant at " + std::to_string(each->granted_at / 1ms));
}

void redlock_checker::check() {
    for (const auto& each : releases_)
        check_release(each);
    for (const auto& first : holds_) {
        for (const auto& by : forced_)
            check_forced(*first, by);
        for (const auto& second : holds_)
            if (first != second && first->name == second->name) {
                check_pair(*first, *second);
                check_overtaken(*first, *second);
            }
    }
}

void redlock_checker::fail(const std::string& sentence) {
    if (violation_.empty())
        violation_ = sentence + " at " + std::to_string(loop_.now() / 1ms) + " ms";
}

}  // namespace pawl::simulation
