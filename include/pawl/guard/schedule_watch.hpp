// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The decisions of a scheduler, for programs that run the work in their own way. guard::scheduler
// runs it on threads, and `pawl cron` as commands. Standard headers only.
#pragma once

#include <pawl/guard/schedule.hpp>
#include <pawl/guard/tick_records.hpp>
#include <pawl/options.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace pawl::guard {

// What happens to a tick that is due while the work of an earlier one runs. skip: it is skipped.
// wait: it begins when that has ended, unless it is late then. allow: it begins at once.
enum class overlap_policy : std::uint8_t { skip, wait, allow };

// What happens to the ticks that nobody began in time, if they are not `late` yet. latest: the last
// one begins, the others are skipped. all: each begins, one after the other. none: those from
// before the start of the scheduler are skipped.
enum class catch_up_policy : std::uint8_t { latest, all, none };

// How the ticks of a schedule are run. The same on all hosts.
struct schedule_options {
    overlap_policy overlap = overlap_policy::skip;       // with earlier work
    catch_up_policy catch_up = catch_up_policy::latest;  // after a time without hosts
    // A tick that has not begun by then is skipped. 1 s to 31 days.
    duration late = std::chrono::minutes(5);
    // The work begins later by a part of this, which depends on the schedule's name only. Up to
    // 24 h.
    duration spread{};
    // The longest time that the work may have: 1 s or more.
    time_to_live max = forever;
    // The lease of a claim, and of the lock of running work: when a host dies, others notice it
    // after that time.
    time_to_live ttl = std::chrono::seconds(30);
    // How often the work of one tick may begin. 1: at most once; work whose host died is recorded
    // as crashed. More: another host begins it again then. 1 to 1000.
    std::uint32_t attempts = 1;
};
static_assert(std::is_trivially_copyable_v<schedule_options>);

// Throws errc::bad_option with a sentence that names the option.
void check(const schedule_options& options);

// Watches one schedule on one host. Reads no clock but that of the records. Not thread-safe.
class schedule_watch {
public:
    // wait: nothing is to be done for `pause`. run: the tick is claimed, and its work may begin
    // after tick_records::begin. recover: the work of the tick has shown no sign of life; if its
    // lock is free, take its place with begin_again, or finish it as crashed.
    enum class action : std::uint8_t { wait, run, recover };
    // The answer of `advance`.
    struct decision {
        action next = action::wait;  // what is to be done
        duration pause{};            // until the next call of `advance`
        tick_claim claim{};          // of this host; not yet in the records with `recover`
        store_time latest{};         // for tick_records::begin
        std::string crashed{};       // with `recover`: the claim whose work was running
        bool may_repeat = false;     // with `recover`: attempts are left
        std::uint32_t attempt = 1;   // of the work, if it begins
        // With `run`: how long the lock is waited for; then the tick is skipped. It is held by an
        // earlier claim of this tick, by work whose end is recorded, or by another program.
        duration lock_wait{};
    };

    // A tick that will not begin, and `missed` more: for tick_records::skip.
    struct skipped_tick {
        tick_claim claim{};        // of the first one
        std::string reason{};      // for the history
        store_time settled{};      // the last one
        std::uint32_t missed = 0;  // the number of the others
    };
    // What is to be done with the records, in this order.
    struct plan {
        std::vector<skipped_tick> skips{};  // each is recorded
        std::optional<tick_claim> claim{};  // is made; then plan_after_claim says what to do
        store_time not_before{};            // of that claim
        decision next{};                    // if there is no claim
    };

    // Throws errc::bad_name and errc::bad_option. `host` is shown in the history.
    schedule_watch(std::string name, cron_schedule when, const schedule_options& options,
                   std::string host);

    // The next thing to do, after a look at the records and perhaps a change of them. Throws what
    // they throw; it can be called again.
    [[nodiscard]] decision advance(tick_records& records);
    // The parts of `advance` between the calls of the records.
    [[nodiscard]] plan plan_after_look(const schedule_state& state);
    // `now` is that of the look.
    [[nodiscard]] plan plan_after_claim(const tick_claim& claimed, claim_answer answer,
                                        store_time now) const;

    // The lock under which the work of the tick runs.
    [[nodiscard]] std::string lock_name(const tick_claim& claimed) const;
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] const cron_schedule& schedule() const noexcept { return schedule_; }
    [[nodiscard]] const schedule_options& options() const noexcept { return options_; }

private:
    [[nodiscard]] bool care_for_unfinished(const schedule_state& state, plan& result);
    [[nodiscard]] std::optional<decision> recover(const tick_record& record, store_time now);
    void plan_claim(const tick& wanted, plan& result) const;
    [[nodiscard]] store_time skip_late(const schedule_state& state, plan& result) const;
    [[nodiscard]] std::optional<tick> next_due(const schedule_state& state,
                                               store_time settled) const;
    [[nodiscard]] std::optional<tick> select(const schedule_state& state, store_time settled,
                                             plan& result) const;
    [[nodiscard]] bool avoid_overlap(const schedule_state& state, const tick& wanted,
                                     plan& result) const;
    [[nodiscard]] decision wait(const schedule_state& state, store_time settled) const;
    [[nodiscard]] store_time begin_of(const tick& wanted) const;
    [[nodiscard]] store_time latest_of(store_time due) const;
    [[nodiscard]] tick_claim claim_of(const tick& wanted) const;

    std::string name_;
    cron_schedule schedule_;
    schedule_options options_;
    std::string host_;
    std::chrono::microseconds delay_{};  // of `spread`
    std::optional<store_time> watching_since_;
    std::map<std::string, store_time> next_recovery_;  // by the claim
};

// Whether the work of a tick may begin.
enum class begin_result : std::uint8_t {
    begun,    // it begins now
    refused,  // it does not: another host has the tick, or it is late
    crashed   // it does not: it has ended with its host, and this is recorded now
};

// For the host that has the tick's lock, with its token: changes the records as the decision says.
// Throws what they throw; it can be called again. `ttl` is that of the schedule's options.
[[nodiscard]] begin_result begin_tick(tick_records& records,
                                      const schedule_watch::decision& decided, fencing_token token,
                                      duration ttl);

// 16 random bytes.
[[nodiscard]] std::string random_claim();

}  // namespace pawl::guard
