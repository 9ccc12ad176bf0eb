// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "redlock_checker.hpp"

#include <algorithm>
#include <utility>

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

// Readers may have the token of other readers, and of a writer that became one.
bool may_have_one_token(const believed_hold& first, const believed_hold& second) {
    return first.shared_since && second.shared_since && (first.is_reader() || second.is_reader());
}

// A hold of a caller that wanted no token has none, although the nodes number it.
bool have_tokens(const believed_hold& first, const believed_hold& second) {
    return first.token > 0 && second.token > 0;
}

bool concerns(const std::string& event, const std::string& name) {
    return event.empty() || event == name;
}

}  // namespace

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
               (!each.until || *each.until + longest_delay_ >= from);
    });
}

// A holder from which an operator takes a lock learns of it at its next renewal.
bool redlock_checker::is_excused(const believed_hold& first, const believed_hold& second) const {
    const auto since = first.granted_at - longest_lease_ - longest_delay_;
    return is_paused(first, second.granted_at) ||
           std::ranges::any_of(weaknesses_,
                               [&](const weakness& each) {
                                   return concerns(each.name, first.name) && each.at >= since &&
                                          each.at <= second.granted_at;
                               }) ||
           std::ranges::any_of(interferences_, [&](const interference& each) {
               const auto until =
                   each.until.value_or(loop_.now()) + longest_lease_ + longest_delay_;
               return concerns(each.name, first.name) && first.token <= each.expected &&
                      each.from <= second.granted_at && until >= second.granted_at;
           });
}

void redlock_checker::check_pair(const believed_hold& first, const believed_hold& second) {
    const auto pair = to_text(first, second);
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
        if (overlap && !second.may_join(first) && !is_excused(first, second))
            fail("two holders of " + pair);
        return;
    }
    if (are_tokens_judged && first.token > second.token) fail("a token went back: " + pair);
    if (first.is_believed_at(second.granted_at) && !second.may_join(first) &&
        !is_excused(first, second))
        fail("two holders of " + pair);
}

// Whatever has made a later grant possible: at a majority, the counter is above the earlier token
// now, so the earlier hold cannot be renewed.
void redlock_checker::check_overtaken(const believed_hold& first, const believed_hold& second) {
    const auto told_by = second.granted_at + longest_lease_ + longest_delay_;
    if (!second.may_join(first) && have_tokens(first, second) && first.token < second.token &&
        first.granted_at <= second.granted_at && told_by < loop_.now() &&
        first.is_believed_at(told_by) && !was_paused(first.program, second.requested_at))
        fail("a hold of " + first.name + " goes on after a later grant at " +
             std::to_string(second.granted_at / 1ms));
}

void redlock_checker::check_forced(const believed_hold& hold, const forced_release& by) {
    if (hold.name != by.name || hold.granted_at > by.from || hold.token > by.expected) return;
    if (hold.token == 0) return;  // the number may be above the operator's
    const auto told_by = by.until + longest_lease_ + longest_delay_;
    if (told_by < loop_.now() && hold.is_believed_at(told_by) && !is_paused(hold, told_by) &&
        !was_paused(hold.program, by.from))
        fail("a hold of " + hold.name + " goes on after its forced release");
}

// At a majority the counters are above its token, and each release meets one of these nodes.
void redlock_checker::check_release(const reported_release& release) {
    const auto& ended = *release.hold;
    for (const auto& each : all())
        if (each->name == ended.name && have_tokens(ended, *each) && each->token > ended.token &&
            each->granted_at < release.asked_at && !each->may_join(ended) && !ended.may_join(*each))
            fail("the release of a hold of " + ended.name + " says '" + to_string(release.result) +
                 "' after a later grant at " + std::to_string(each->granted_at / 1ms));
}

void redlock_checker::check() {
    for (const auto& each : releases_)
        check_release(each);
    for (const auto& first : all()) {
        for (const auto& by : forced_)
            check_forced(*first, by);
        for (const auto& second : all())
            if (first != second && first->name == second->name) {
                check_pair(*first, *second);
                check_overtaken(*first, *second);
            }
    }
}

}  // namespace pawl::simulation
