// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Several hosts watch one schedule in virtual time. The statements run on a real SQLite database in
// memory, whose clock the test sets. A seed makes every random choice.
#include "timed_database.hpp"

#include <pawl/error.hpp>
#include <pawl/guard/schedule_watch.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace pawl::guard;
using guard_tests::timed_database;
using action = schedule_watch::action;

constexpr auto start = timed_database::start;

class ScheduleWatch : public ::testing::Test {
protected:
    void SetUp() override { records.make_schema(); }

    [[nodiscard]] static schedule_watch watch(const schedule_options& options = {},
                                              const std::string& line = "*/10 * * * *") {
        return {"nightly", cron_schedule::parse(line), options, "a"};
    }
    [[nodiscard]] std::string reason_at(std::size_t index) {
        return records.history("nightly", 100).at(index).reason;
    }
    // The next decision that is not to look again.
    schedule_watch::decision decide(schedule_watch& watching) {
        auto next = watching.advance(records);
        while (next.next == action::wait && next.pause == 0s)
            next = watching.advance(records);
        return next;
    }
    void begin(const schedule_watch::decision& next) {
        EXPECT_EQ(next.next, action::run);
        EXPECT_TRUE(records.begin(next.claim, {}, next.latest, 30s));
    }

    timed_database database;
    sql_tick_records records{database};
};

TEST_F(ScheduleWatch, WaitsForTheTick) {
    auto watching = watch();
    database.now += 9min + 55s;
    EXPECT_EQ(decide(watching).next, action::wait);
    EXPECT_EQ(decide(watching).pause, 5s);
    database.now += 5s;
    const auto next = decide(watching);
    EXPECT_EQ(next.next, action::run);
    EXPECT_EQ(next.claim.key, "2026-06-01T00:10:00Z");
    EXPECT_EQ(next.latest, start + 15min);
    EXPECT_EQ(decide(watching).next, action::wait) << "it is claimed";
}

TEST_F(ScheduleWatch, AScheduleThatWasNotKnownMissesNothing) {
    database.now += 1h;
    auto watching = watch();
    EXPECT_EQ(decide(watching).next, action::wait);
    EXPECT_TRUE(records.history("", 10).empty());
}

TEST_F(ScheduleWatch, WhatIsLateIsSkippedInOneRecord) {
    auto watching = watch();
    EXPECT_EQ(decide(watching).next, action::wait);
    database.now += 66min;
    EXPECT_EQ(decide(watching).next, action::wait);
    const auto all = records.history("", 10);
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].key, "2026-06-01T00:10:00Z");
    EXPECT_EQ(all[0].reason, "late");
    EXPECT_EQ(all[0].missed, 5U) << "those until 01:00";
    database.now = start + 70min;
    EXPECT_EQ(decide(watching).claim.key, "2026-06-01T01:10:00Z");
}

TEST_F(ScheduleWatch, CatchesUpWithTheLatest) {
    auto watching = watch({.late = 25min});
    EXPECT_EQ(decide(watching).next, action::wait);
    database.now += 41min;
    EXPECT_EQ(decide(watching).claim.key, "2026-06-01T00:40:00Z");
    EXPECT_EQ(reason_at(1), "superseded");
    EXPECT_EQ(records.history("", 10).at(1).missed, 1U) << "00:20 and 00:30";
    EXPECT_EQ(reason_at(2), "late");
}

TEST_F(ScheduleWatch, CatchesUpWithAllOneAfterTheOther) {
    auto watching = watch({.catch_up = catch_up_policy::all, .late = 1h});
    EXPECT_EQ(decide(watching).next, action::wait);
    database.now += 31min;
    for (const std::string key : {"10", "20", "30"}) {
        const auto next = decide(watching);
        EXPECT_EQ(next.claim.key, "2026-06-01T00:" + key + ":00Z");
        begin(next);
        EXPECT_EQ(decide(watching).next, action::wait) << "held until that has ended";
        EXPECT_TRUE(records.finish(next.claim, tick_state::done, 0, {}));
    }
    EXPECT_EQ(decide(watching).next, action::wait);
}

TEST_F(ScheduleWatch, CatchesUpWithNone) {
    auto first = watch({.catch_up = catch_up_policy::none});
    EXPECT_EQ(decide(first).next, action::wait);
    database.now = start + 11min;
    auto second = watch({.catch_up = catch_up_policy::none});
    EXPECT_EQ(decide(second).next, action::wait) << "from before its start";
    EXPECT_EQ(decide(first).claim.key, "2026-06-01T00:10:00Z") << "it has watched since then";
    database.now = start + 20min;
    EXPECT_EQ(decide(second).claim.key, "2026-06-01T00:20:00Z");
}

TEST_F(ScheduleWatch, AnOverlapIsSkipped) {
    auto watching = watch();
    EXPECT_EQ(decide(watching).next, action::wait);
    database.now = start + 10min;
    const auto running = decide(watching);
    begin(running);
    database.now = start + 20min;
    records.renew(running.claim, 30s);
    EXPECT_EQ(decide(watching).next, action::wait);
    EXPECT_EQ(reason_at(0), "overlap");
    EXPECT_EQ(records.look("nightly").unfinished.size(), 1U);
}

TEST_F(ScheduleWatch, AnOverlapWaits) {
    auto watching = watch({.overlap = overlap_policy::wait});
    EXPECT_EQ(decide(watching).next, action::wait);
    database.now = start + 10min;
    const auto running = decide(watching);
    begin(running);
    database.now = start + 20min;
    records.renew(running.claim, 30s);
    EXPECT_EQ(decide(watching).next, action::wait);
    EXPECT_TRUE(records.finish(running.claim, tick_state::done, 0, {}));
    EXPECT_EQ(decide(watching).claim.key, "2026-06-01T00:20:00Z");
    EXPECT_EQ(watching.lock_name(running.claim), "nightly");
}

TEST_F(ScheduleWatch, AnOverlapIsAllowed) {
    auto watching = watch({.overlap = overlap_policy::allow});
    EXPECT_EQ(decide(watching).next, action::wait);
    database.now = start + 10min;
    const auto running = decide(watching);
    begin(running);
    database.now = start + 20min;
    records.renew(running.claim, 30s);
    const auto second = decide(watching);
    EXPECT_EQ(second.claim.key, "2026-06-01T00:20:00Z");
    EXPECT_EQ(watching.lock_name(second.claim), "nightly@2026-06-01T00:20:00Z");
}

TEST_F(ScheduleWatch, AnotherHostFollowsADeadOne) {
    auto dead = watch({.attempts = 2});
    auto living = watch({.attempts = 2});
    EXPECT_EQ(decide(dead).next, action::wait);
    database.now = start + 10min;
    EXPECT_EQ(decide(dead).next, action::run);
    EXPECT_EQ(decide(living).next, action::wait);
    database.now += 31s;
    const auto next = decide(living);
    EXPECT_EQ(next.claim.key, "2026-06-01T00:10:00Z") << "its claim is abandoned";
    begin(next);
    database.now += 31s;
    const auto recovery = decide(living);
    EXPECT_EQ(recovery.next, action::recover);
    EXPECT_EQ(recovery.crashed, next.claim.claim);
    EXPECT_TRUE(recovery.may_repeat);
    const auto wait = decide(living);
    EXPECT_EQ(wait.next, action::wait) << "not twice within a lease";
    EXPECT_EQ(wait.pause, 30s);
    EXPECT_TRUE(records.begin_again(recovery.claim, recovery.crashed, {}, 30s));
    database.now += 31s;
    EXPECT_FALSE(decide(living).may_repeat);
}

TEST_F(ScheduleWatch, AnAbandonedClaimThatIsTooLateIsSkipped) {
    auto dead = watch();
    auto living = watch();
    EXPECT_EQ(decide(dead).next, action::wait);
    database.now = start + 10min;
    EXPECT_EQ(decide(dead).next, action::run);
    database.now += 6min;
    EXPECT_EQ(decide(living).next, action::wait);
    EXPECT_EQ(reason_at(0), "late");
}

// A finds an abandoned claim. Its owner begins after all, and works for long. A must not take its
// place. Then A has looked, but B claims the tick, runs it and ends: A must not claim it again.
TEST_F(ScheduleWatch, AClaimNeverReplacesWorkThatHasBegun) {
    const auto claim_after = [this](const std::string& statement, auto other_host) {
        tick_claim late{
            .name = "nightly", .key = "k", .due = start, .claim = random_claim(), .host = "a"};
        database.interleave = [this, statement, other_host](const std::string& text) {
            if (text.find(statement) == std::string::npos) return;
            database.interleave = nullptr;
            other_host();
        };
        const auto answer = records.claim(late, start, 30s);
        EXPECT_FALSE(database.interleave) << statement;
        return answer;
    };
    const tick_claim first{
        .name = "nightly", .key = "k", .due = start, .claim = random_claim(), .host = "b"};
    const auto begin_late = [this, first] {
        EXPECT_TRUE(records.begin(first, {}, start + 1h, 30s));
        database.now += 31s;
    };
    const auto run_all = [this, first] {
        EXPECT_EQ(records.claim(first, start, 30s), claim_answer::claimed);
        EXPECT_TRUE(records.begin(first, {}, start + 1h, 30s));
        EXPECT_TRUE(records.finish(first, tick_state::done, 0, {}));
    };
    for (const bool has_bug : {false, true}) {
        const auto expected = has_bug ? claim_answer::claimed : claim_answer::settled;
        if (has_bug) database.injected_bug = {" AND state = 1 AND lease", " AND lease"};
        EXPECT_EQ(records.claim(first, start, 30s), claim_answer::claimed);
        database.now += 31s;
        EXPECT_EQ(claim_after("SET claim = ", begin_late), expected);
        database.execute({"DELETE FROM pawl_tick"});
        if (has_bug)
            database.injected_bug = {"DO NOTHING",
                                     "DO UPDATE SET state = 1, claim = excluded.claim"};
        EXPECT_EQ(claim_after("INSERT INTO", run_all), expected);
        database.execute({"DELETE FROM pawl_tick"});
    }
}

TEST_F(ScheduleWatch, SpreadDependsOnTheNameOnly) {
    const schedule_options options{.spread = 5min};
    schedule_watch first("a", cron_schedule::parse("@hourly"), options, "x");
    schedule_watch same("a", cron_schedule::parse("@hourly"), options, "y");
    schedule_watch other("b", cron_schedule::parse("@hourly"), options, "x");
    for (auto* each : {&first, &same, &other})
        EXPECT_EQ(decide(*each).next, action::wait);
    const auto pause_at_the_hour = [this](schedule_watch& each) {
        database.now = start + 1h - 1us;
        records.make_schema();
        return decide(each).pause;
    };
    EXPECT_EQ(pause_at_the_hour(first), pause_at_the_hour(same));
    EXPECT_EQ(decide(first).next, action::wait);
    database.now = start + 1h + 5min;
    EXPECT_EQ(decide(first).next, action::run);
    EXPECT_EQ(decide(other).next, action::run);
}

TEST_F(ScheduleWatch, RefusesOptionsOutOfRange) {
    for (const schedule_options bad :
         {schedule_options{.late = 0s}, schedule_options{.late = 800h},
          schedule_options{.spread = -1s}, schedule_options{.max = 1ms},
          schedule_options{.ttl = 10ms}, schedule_options{.attempts = 0}})
        EXPECT_THROW(static_cast<void>(watch(bad)), pawl::error);
    EXPECT_THROW(schedule_watch("", cron_schedule::parse("@daily"), {}, "a"), pawl::error);
    EXPECT_THROW(schedule_watch("a\n", cron_schedule::parse("@daily"), {}, "a"), pawl::error);
    EXPECT_THROW(schedule_watch(std::string(256, 'a'), cron_schedule::parse("@daily"), {}, "a"),
                 pawl::error);
}

// One host of the simulation, with the work that it has.
struct simulated_host {
    schedule_watch watching;
    store_time next_step{};
    bool is_paused = false;
    bool is_busy = false;  // in the middle of a step
    bool has_lock = false;
    std::optional<schedule_watch::decision> claimed{};
    std::optional<schedule_watch::decision> running{};
};

// Hosts die, restart and pause between any two steps, and take steps between any two statements of
// another one; answers are lost, and calls are repeated. What must survive:
//   A claims, and pauses. Its claim is abandoned, B claims, begins and ends. A goes on and begins.
//   A claims and dies: nobody has the tick until the lease is over, then another host has it.
//   A begins, its answer is lost, and it begins again with the same claim.
//   A looks, B claims the tick and the next one, A claims with what it has seen.
//   A finds an abandoned claim. Its owner begins after all. A takes the claim's place.
//   A claims, has the lock, and pauses. B claims, finds the lock taken, and must wait for it: when
//   A goes on, its claim is refused.
class simulation {
public:
    explicit simulation(unsigned seed, const std::pair<std::string, std::string>& bug = {},
                        bool skips_at_a_busy_lock = false)
        : random_(seed), skips_at_a_busy_lock_(skips_at_a_busy_lock) {
        records_.make_schema();
        database_.injected_bug = bug;
        for (int i = 0; i < 3; ++i)
            hosts_.push_back({new_watch()});
        database_.interleave = [this](const std::string&) {
            if (is_likely(10)) step(any_host());
        };
    }

    // Returns what is wrong; empty if each tick ran once, and in order.
    std::string run() {
        while (database_.now < calm_ + 10min) {
            step(any_host());
            database_.now += std::chrono::milliseconds(random_() % 1500);
        }
        for (auto due = start + 1min; due < calm_; due += 1min)
            judge("2026-06-01T00:" + std::to_string((due - start) / 1min + 100).substr(1) + ":00Z");
        if (!std::ranges::is_sorted(order_)) problem_ += "not in order; ";
        return problem_;
    }

private:
    static constexpr store_time calm_ = start + 20min;

    static schedule_watch new_watch() {
        return {"s",
                cron_schedule::parse("* * * * *"),
                {.overlap = overlap_policy::wait, .catch_up = catch_up_policy::all, .late = 10h},
                "h"};
    }
    bool is_likely(unsigned percent) { return random_() % 100 < percent; }
    simulated_host& any_host() { return hosts_[random_() % hosts_.size()]; }
    [[nodiscard]] bool is_calm() const { return database_.now >= calm_; }

    void step(simulated_host& host) {
        if (host.is_busy) return;
        if (!is_calm() && is_likely(2)) host.is_paused = !host.is_paused;
        if (is_calm()) host.is_paused = false;
        if (host.is_paused) return;
        host.is_busy = true;
        if (!is_calm() && is_likely(1) && !host.running) {
            if (host.has_lock) is_locked_ = false;
            host = {new_watch()};  // died and restarted
        } else if (host.running) {
            work(host);
        } else if (host.has_lock) {
            begin(host);
        } else if (host.claimed) {
            acquire(host);
        } else if (host.next_step <= database_.now) {
            look(host);
        }
        host.is_busy = false;
    }

    void look(simulated_host& host) {
        auto next = host.watching.advance(records_);
        const auto pause = std::min<pawl::duration>(next.pause, 30s);
        host.next_step = database_.now + std::chrono::floor<std::chrono::microseconds>(pause);
        if (next.next == action::run) host.claimed = std::move(next);
    }

    void acquire(simulated_host& host) {
        if (!is_locked_) {
            host.has_lock = is_locked_ = true;
        } else if (skips_at_a_busy_lock_) {
            const auto& claim = host.claimed->claim;
            static_cast<void>(records_.skip(claim, "the lock was not free", claim.due, 0));
            host.claimed.reset();
        }
    }

    void begin(simulated_host& host) {
        const auto& claimed = *host.claimed;
        if (is_likely(20))
            static_cast<void>(records_.begin(claimed.claim, {}, claimed.latest, 30s));
        if (records_.begin(claimed.claim, {}, claimed.latest, 30s)) {
            ++begun_[claimed.claim.key];
            order_.push_back(claimed.claim.key);
            host.running = host.claimed;
        } else {
            host.has_lock = is_locked_ = false;
        }
        host.claimed.reset();
    }

    void work(simulated_host& host) {
        const auto& claim = host.running->claim;
        if (is_likely(50)) return records_.renew(claim, 30s);
        if (!records_.finish(claim, tick_state::done, 0, {})) problem_ += "not finished; ";
        host.running.reset();
        host.has_lock = is_locked_ = false;
    }

    void judge(const std::string& key) {
        if (begun_[key] != 1) problem_ += key + " ran " + std::to_string(begun_[key]) + " times; ";
        for (const auto& record : records_.history("s", 100))
            if (record.key == key && (record.state != tick_state::done || record.attempts != 1))
                problem_ += key + " is " + to_string(record.state) + "; ";
    }

    std::mt19937 random_;
    timed_database database_;
    sql_tick_records records_{database_};
    std::vector<simulated_host> hosts_;
    bool is_locked_ = false;
    const bool skips_at_a_busy_lock_;
    std::map<std::string, unsigned> begun_;  // by the key
    std::vector<std::string> order_;
    std::string problem_;
};

TEST(ScheduleSimulation, EachTickRunsExactlyOnceAndInOrder) {
    for (unsigned seed = 1; seed <= 100; ++seed)
        EXPECT_EQ(simulation(seed).run(), "") << "seed " << seed;
}

// Each of these conditions is needed: without it, some seed shows a tick that runs twice or never.
TEST(ScheduleSimulation, FindsEachInjectedBug) {
    const std::vector<std::pair<std::string, std::string>> bugs{
        // begin: of any claim, or in any state
        {" AND claim = ?6 AND state = ?7 AND ", " AND ?6 IS NOT NULL AND state = ?7 AND "},
        {" AND claim = ?6 AND state = ?7 AND ", " AND claim = ?6 AND ?7 = 1 AND "},
        // abandoned claims are not seen
        {"AND state IN (1, 2) ORDER BY", "AND state IN (2) ORDER BY"},
        {"(SELECT MAX(settled) FROM", "(SELECT MAX(settled) + 60000000 FROM"},
    };
    constexpr unsigned most_seeds = 100;
    const auto is_found = [](const auto& bug, bool skips) {
        for (unsigned seed = 1; seed <= most_seeds; ++seed)
            if (!simulation(seed, bug, skips).run().empty()) return true;
        return false;
    };
    for (const auto& bug : bugs)
        EXPECT_TRUE(is_found(bug, false)) << bug.first << " -> " << bug.second;
    EXPECT_TRUE(is_found(std::pair<std::string, std::string>(), true))
        << "a busy lock must be waited for";
}

}  // namespace
