// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "file_checker.hpp"

#include "core/util/clock_token.hpp"

#include <algorithm>

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

// From the transaction that grants a lock, or that finds a loss, until the program knows of it.
constexpr auto longest_delivery = 500ms;

}  // namespace

std::size_t file_checker::file_version_at(instant when) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        replacements_, [when](instant replaced_at) { return replaced_at <= when; }));
}

// Tokens are unique, except that readers share one, and higher than all that were granted before
// the request.
void file_checker::check_token(const believed_hold& granted) {
    bool joins = false, joins_the_past = false;
    std::uint64_t newest = 0;
    for (const auto& each : all()) {
        const auto& other = *each;
        if (&other == &granted || other.granted_at > granted.granted_at) continue;
        if (other.token == granted.token) {
            const bool shares =
                granted.is_reader() && other.shared_since && other.name == granted.name;
            if (!shares && !tokens_excused_)
                fail("token " + std::to_string(granted.token) +
                     " was issued twice: " + to_text(other, granted));
            joins = joins || shares;
            // An older file restores rows of living readers. A reader that joins them gets their
            // token.
            joins_the_past = joins_the_past || (shares && file_version_at(other.granted_at) !=
                                                              file_version_at(granted.granted_at));
        }
        if (other.name == granted.name && other.granted_at < granted.requested_at)
            newest = std::max(newest, other.token);
    }
    if (granted.token < newest + (joins ? 0 : 1) && !tokens_excused_ && !joins_the_past)
        fail("token " + std::to_string(granted.token) + " of " + granted.name +
             " was issued after token " + std::to_string(newest));
    if (granted.token > highest_token_) counter_is_old_ = false;
    highest_token_ = std::max(highest_token_, granted.token);
}

void file_checker::end_force(const void* by, bool has_notified) {
    for (auto& each : excuses_)
        if (each.by == by && !each.until) {
            each.until = loop_.now();
            each.has_notified = has_notified;
        }
}

void file_checker::note_file_replaced(bool under_living_programs) {
    if (under_living_programs) replacements_.push_back(loop_.now());
    excuses_.push_back({{}, nullptr, loop_.now(), loop_.now()});
    expected_latch_.reset();
}

void file_checker::note_old_counter(std::chrono::system_clock::time_point wall) {
    counter_is_old_ = true;
    expected_latch_.reset();
    if (static_cast<std::uint64_t>(core::clock_token(wall)) <= highest_token_)
        tokens_excused_ = true;
}

void file_checker::note_wall_set_back() {
    if (counter_is_old_) tokens_excused_ = true;
}

std::optional<instant> file_checker::excused_since(const believed_hold& hold) const {
    for (const auto& each : excuses_)
        if ((each.name.empty() || each.name == hold.name) &&
            (!each.until || *each.until + longest_delivery >= hold.granted_at))
            return each.from;
    return std::nullopt;
}

void file_checker::check_noticed(const believed_hold& hold, instant noticed_at) {
    for (const auto& each : excuses_)
        if (each.by == nullptr && hold.granted_at <= each.from && each.from <= noticed_at &&
            loop_.now() > noticed_at + longest_delivery)
            fail("the holder of " + hold.name + " was not notified of the loss");
}

void file_checker::check_forced(const believed_hold& hold, instant undisturbed_since) {
    for (const auto& each : excuses_)
        if (each.has_notified && each.name == hold.name && hold.granted_at < each.from &&
            undisturbed_since <= each.from && loop_.now() > *each.until + longest_delivery)
            fail("the holder of " + hold.name + " does not know of the forced release");
}

void file_checker::check() {
    for (const auto& each : all())
        if (!is_excused_at(*each, each->granted_at)) check_exclusivity(*each);
}

void file_checker::check_latch(std::uint64_t count) {
    if (expected_latch_ && *expected_latch_ != count)
        fail("the latch is at " + std::to_string(count) + " and not at " +
             std::to_string(*expected_latch_));
    expected_latch_ = count;
}

}  // namespace pawl::simulation
