// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

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
    auto state = records.look(name_);
    if (!watching_since_) watching_since_ = state.now;
    if (auto pending = care_for_unfinished(records, state)) return *std::move(pending);
    skip_late(records, state);
    const auto wanted = select(records, state);
    if (!wanted) return wait(state);
    if (auto held = avoid_overlap(records, state, *wanted)) return *std::move(held);
    if (auto claimed = claim(records, claim_of(*wanted), state.now)) return *std::move(claimed);
    return {};  // another host was faster: look again
}

// What another host has left.
std::optional<schedule_watch::decision> schedule_watch::care_for_unfinished(
    tick_records& records, const schedule_state& state) {
    std::erase_if(next_recovery_, [&state](const auto& each) {
        return std::ranges::find(state.unfinished, each.first, &tick_record::claim) ==
               state.unfinished.end();
    });
    for (const auto& record : state.unfinished) {
        if (record.lease_until > state.now) continue;
        if (record.state == tick_state::running) {
            if (auto recovery = recover(record, state.now)) return recovery;
        } else {
            const auto claimed =
                claim(records, claim_of({seconds_of(record.due), record.key}), state.now);
            return claimed.value_or(decision());
        }
    }
    return {};
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

// Empty if another host has the tick, or if it was too late.
std::optional<schedule_watch::decision> schedule_watch::claim(tick_records& records,
                                                              tick_claim wanted, store_time now) {
    const auto latest = latest_of(wanted.due);
    const auto answer = records.claim(wanted, wanted.due + delay_, options_.ttl);
    decision next;
    if (answer == claim_answer::settled) return {};
    if (answer == claim_answer::early) {  // the database's clock was set back
        next.pause = held_pause;
        return next;
    }
    if (now > latest) {
        records.skip(wanted, "late", wanted.due, 0);
        return {};
    }
    next.next = action::run;
    next.claim = std::move(wanted);
    next.latest = latest;
    return next;
}

// One record for all ticks that are too late by now.
void schedule_watch::skip_late(tick_records& records, schedule_state& state) {
    const auto limit = seconds_of(state.now - delay_ - us(options_.late) - 1us);
    const auto first = schedule_.next(seconds_of(state.settled));
    if (!first || first->due > limit) return;
    std::uint32_t missed = 0;
    auto later = schedule_.next(first->due);
    for (; later && later->due <= limit && missed < most_counted; ++missed)
        later = schedule_.next(later->due);
    records.skip(claim_of(*first), "late", limit, missed);
    state.settled = std::max(state.settled, store_time(limit));
}

std::optional<tick> schedule_watch::next_due(const schedule_state& state) const {
    auto next = schedule_.next(seconds_of(state.settled));
    if (next && begin_of(*next) > state.now) return {};
    return next;
}

// The tick that is to begin, according to catch_up.
std::optional<tick> schedule_watch::select(tick_records& records, const schedule_state& state) {
    const auto first = next_due(state);
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
    if (superseded > 0) records.skip(claim_of(*first), "superseded", before.due, superseded - 1);
    return selected;
}

// A tick that came due while earlier work ran overlaps with it. One that was due before that work
// began is only late.
std::optional<schedule_watch::decision> schedule_watch::avoid_overlap(tick_records& records,
                                                                      const schedule_state& state,
                                                                      const tick& wanted) {
    if (options_.overlap == overlap_policy::allow || state.unfinished.empty()) return {};
    const bool overlaps = std::ranges::any_of(state.unfinished, [&](const tick_record& each) {
        return each.state == tick_state::running && each.began < begin_of(wanted);
    });
    decision held;
    if (overlaps && options_.overlap == overlap_policy::skip)
        records.skip(claim_of(wanted), "overlap", wanted.due, 0);
    else
        held.pause = held_pause;
    return held;
}

schedule_watch::decision schedule_watch::wait(const schedule_state& state) const {
    decision next;
    next.pause = longest_pause;
    auto after = state.settled;
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
        if (records.finish(crashed, tick_state::crashed, 0, "its host died"))
            return begin_result::crashed;
    }
    return has_begun ? begin_result::begun : begin_result::refused;
}

}  // namespace pawl::guard
