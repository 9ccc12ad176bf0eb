// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "scheduler_rules.hpp"

#include <pawl/error.hpp>
#include <pawl/guard/schedule_watch.hpp>

#include <algorithm>
#include <utility>

namespace pawl::guard {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;

// The database's clock may be set, so it is read at least that often.
constexpr duration longest_pause = 30s;
// Until the work of an earlier tick is looked at again.
constexpr duration held_pause = 250ms;
// More ticks than these are not counted.
constexpr std::uint32_t most_counted = 100'000;

microseconds us(duration length) { return std::chrono::duration_cast<microseconds>(length); }

// FNV-1a, the same on all hosts.
std::uint64_t hash_of(std::string_view text) {
    std::uint64_t hash = 14695981039346656037U;
    for (const char each : text)
        hash = (hash ^ static_cast<unsigned char>(each)) * 1099511628211U;
    return hash;
}

std::chrono::sys_seconds seconds_of(store_time instant) {
    return std::chrono::floor<std::chrono::seconds>(instant);
}

void check_range(bool is_valid, const char* option, const char* range) {
    if (!is_valid)
        throw error(errc::bad_option, std::string("The option ") + option +
                                          " of a schedule is out of range; give " + range + ".");
}

}  // namespace

void check(const schedule_options& options) {
    check_range(options.late >= 1s && options.late <= 744h, "late", "1s to 31d");
    check_range(options.spread >= 0s && options.spread <= 24h, "spread", "0 to 24h");
    check_range(options.max >= 1s, "max", "1s or more");
    check_range(options.ttl >= 1s && options.ttl <= 24h, "ttl", "1s to 24h");
    check_range(options.attempts >= 1 && options.attempts <= 1000, "attempts", "1 to 1000");
}

schedule_watch::schedule_watch(std::string name, cron_schedule when,
                               const schedule_options& options, std::string host)
    : name_(std::move(name)),
      schedule_(std::move(when)),
      options_(options),
      host_(std::move(host)) {
    check(options_);
    const bool has_control =
        std::ranges::any_of(name_, [](unsigned char each) { return each < ' ' || each == 0x7f; });
    if (name_.empty() || name_.size() > 255 || has_control)
        throw error(errc::bad_name,
                    "The name of a schedule must have 1 to 255 bytes and no control characters.");
    host_.resize(std::min<std::size_t>(host_.size(), 255));
    const auto spread = static_cast<std::uint64_t>(us(options_.spread).count());
    if (spread > 0) delay_ = microseconds(hash_of(name_) % spread);
}

std::string schedule_watch::lock_name(const tick_claim& claimed) const {
    return options_.overlap == overlap_policy::allow ? name_ + "@" + claimed.key : name_;
}

store_time schedule_watch::begin_of(const tick& wanted) const { return wanted.due + delay_; }

store_time schedule_watch::latest_of(store_time due) const {
    return due + delay_ + us(options_.late);
}

tick_claim schedule_watch::claim_of(const tick& wanted) const {
    return {.name = name_,
            .key = wanted.key,
            .due = wanted.due,
            .claim = random_claim(),
            .host = host_};
}

schedule_watch::decision schedule_watch::advance(tick_records& records) {
    const auto state = records.look(name_);
    const auto follow = [&records](const plan& next) {
        for (const auto& each : next.skips)
            records.skip(each.claim, each.reason, each.settled, each.missed);
    };
    const auto wanted = plan_after_look(state);
    follow(wanted);
    if (!wanted.claim) return wanted.next;
    const auto answer = records.claim(*wanted.claim, wanted.not_before, options_.ttl);
    auto result = plan_after_claim(*wanted.claim, answer, state.now);
    follow(result);
    return std::move(result.next);
}

schedule_watch::plan schedule_watch::plan_after_look(const schedule_state& state) {
    plan result;
    if (!watching_since_) watching_since_ = state.now;
    if (care_for_unfinished(state, result)) return result;
    const auto settled = skip_late(state, result);
    const auto wanted = select(state, settled, result);
    if (!wanted)
        result.next = wait(state, settled);
    else if (!avoid_overlap(state, *wanted, result))
        plan_claim(*wanted, result);
    return result;
}

schedule_watch::plan schedule_watch::plan_after_claim(const tick_claim& claimed,
                                                      claim_answer answer, store_time now) const {
    plan result;
    const auto latest = latest_of(claimed.due);
    if (answer == claim_answer::settled) return result;  // another host was faster: look again
    if (answer == claim_answer::early) {                 // the database's clock was set back
        result.next.pause = held_pause;
    } else if (now > latest) {
        result.skips.push_back({claimed, "late", claimed.due, 0});
    } else {
        result.next.next = action::run;
        result.next.claim = claimed;
        result.next.latest = latest;
        result.next.lock_wait = latest - now;
    }
    return result;
}

void schedule_watch::plan_claim(const tick& wanted, plan& result) const {
    result.claim = claim_of(wanted);
    result.not_before = begin_of(wanted);
}

// What another host has left. False: nothing of it needs care now.
bool schedule_watch::care_for_unfinished(const schedule_state& state, plan& result) {
    std::erase_if(next_recovery_, [&state](const auto& each) {
        return std::ranges::find(state.unfinished, each.first, &tick_record::claim) ==
               state.unfinished.end();
    });
    for (const auto& record : state.unfinished) {
        if (record.lease_until > state.now) continue;
        if (record.state == tick_state::claimed) {
            plan_claim({seconds_of(record.due), record.key}, result);
            return true;
        }
        if (auto recovery = recover(record, state.now)) {
            result.next = *std::move(recovery);
            return true;
        }
    }
    return false;
}

// The lock tells whether the work still runs, so the next attempt is after another lease.
std::optional<schedule_watch::decision> schedule_watch::recover(const tick_record& record,
                                                                store_time now) {
    const auto [next, is_new] = next_recovery_.try_emplace(record.claim, now);
    if (!is_new && next->second > now) return {};
    next->second = now + us(options_.ttl);
    decision recovery;
    recovery.next = action::recover;
    recovery.claim = claim_of({seconds_of(record.due), record.key});
    recovery.latest = latest_of(record.due);
    recovery.crashed = record.claim;
    recovery.attempt = record.attempts + 1;
    recovery.may_repeat = record.attempts < options_.attempts;
    return recovery;
}

// One record for all ticks that are too late by now. Returns what is settled then.
store_time schedule_watch::skip_late(const schedule_state& state, plan& result) const {
    const auto limit = seconds_of(state.now - delay_ - us(options_.late) - 1us);
    const auto first = schedule_.next(seconds_of(state.settled));
    if (!first || first->due > limit) return state.settled;
    std::uint32_t missed = 0;
    auto later = schedule_.next(first->due);
    for (; later && later->due <= limit && missed < most_counted; ++missed)
        later = schedule_.next(later->due);
    result.skips.push_back({claim_of(*first), "late", limit, missed});
    return std::max(state.settled, store_time(limit));
}

std::optional<tick> schedule_watch::next_due(const schedule_state& state,
                                             store_time settled) const {
    auto next = schedule_.next(seconds_of(settled));
    if (next && begin_of(*next) > state.now) return {};
    return next;
}

// The tick that is to begin, according to catch_up.
std::optional<tick> schedule_watch::select(const schedule_state& state, store_time settled,
                                           plan& result) const {
    const auto first = next_due(state, settled);
    if (!first || options_.catch_up == catch_up_policy::all) return first;
    auto selected = *first;
    auto before = selected;
    std::uint32_t superseded = 0;
    for (auto next = schedule_.next(selected.due); next && begin_of(*next) <= state.now;
         next = schedule_.next(selected.due)) {
        before = std::exchange(selected, *next);
        ++superseded;
    }
    const bool was_missed = selected.due < *watching_since_;
    if (options_.catch_up == catch_up_policy::none && was_missed) return {};
    if (superseded > 0)
        result.skips.push_back({claim_of(*first), "superseded", before.due, superseded - 1});
    return selected;
}

// A tick that came due while earlier work ran overlaps with it. One that was due before that work
// began is only late.
bool schedule_watch::avoid_overlap(const schedule_state& state, const tick& wanted,
                                   plan& result) const {
    if (options_.overlap == overlap_policy::allow || state.unfinished.empty()) return false;
    const bool overlaps = std::ranges::any_of(state.unfinished, [&](const tick_record& each) {
        return each.state == tick_state::running && each.began < begin_of(wanted);
    });
    if (overlaps && options_.overlap == overlap_policy::skip)
        result.skips.push_back({claim_of(wanted), "overlap", wanted.due, 0});
    else
        result.next.pause = held_pause;
    return true;
}

schedule_watch::decision schedule_watch::wait(const schedule_state& state,
                                              store_time settled) const {
    decision next;
    next.pause = longest_pause;
    auto after = settled;
    if (options_.catch_up == catch_up_policy::none)
        after = std::max(after, std::min(state.now - delay_, *watching_since_));
    if (const auto coming = schedule_.next(seconds_of(after)))
        next.pause = std::min<duration>(next.pause, begin_of(*coming) - state.now);
    for (const auto& record : state.unfinished) {
        auto until = record.lease_until;
        if (const auto tried = next_recovery_.find(record.claim); tried != next_recovery_.end())
            until = std::max(until, tried->second);
        next.pause = std::min<duration>(next.pause, until - state.now);
    }
    next.pause = std::max<duration>(next.pause, 1ms);
    return next;
}

begin_result begin_tick(tick_records& records, const schedule_watch::decision& decided,
                        fencing_token token, duration ttl) {
    const auto& claim = decided.claim;
    bool has_begun = false;
    if (decided.next == schedule_watch::action::run) {
        has_begun = records.begin(claim, token, decided.latest, ttl);
    } else if (decided.may_repeat) {
        has_begun = records.begin_again(claim, decided.crashed, token, ttl);
    } else {
        auto crashed = claim;
        crashed.claim = decided.crashed;
        if (records.finish(crashed, tick_state::crashed, 0, died_reason))
            return begin_result::crashed;
    }
    return has_begun ? begin_result::begun : begin_result::refused;
}

}  // namespace pawl::guard
