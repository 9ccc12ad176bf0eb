// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The scheduler on threads: two hosts, which share a database in memory and its clock. The test
// moves the clock; the locks are in memory.
#include "timed_database.hpp"

#include <pawl/blocking.hpp>
#include <pawl/guard/scheduler.hpp>
#include <pawl/memory.hpp>

#include <support/eventually.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <thread>

namespace {

using namespace std::chrono_literals;
using namespace pawl::guard;
using guard_tests::timed_database;

class Scheduler : public ::testing::Test {
protected:
    void SetUp() override {
        sql_tick_records(database).make_schema();
        static_cast<void>(sql_tick_records(database).look("job"));
    }
    std::vector<tick_record> records() { return sql_tick_records(database).history("job", 1000); }
    // The clock goes on only while no scheduler has something to do.
    [[nodiscard]] scheduler_options virtual_time() {
        scheduler_options options{.host = "h"};
        options.pause = [this](pawl::duration) {
            database.advance(1s);
            std::this_thread::yield();
        };
        options.log = [this](std::string_view line) {
            const std::scoped_lock guard(mutex);
            lines.append(line).append("\n");
        };
        return options;
    }
    // The clock stands.
    [[nodiscard]] scheduler_options standing_time() {
        auto options = virtual_time();
        options.pause = [](pawl::duration) { std::this_thread::yield(); };
        return options;
    }
    std::string logged() {
        const std::scoped_lock guard(mutex);
        return lines;
    }

    timed_database database;
    pawl::blocking::client locks{pawl::memory::at()};
    std::mutex mutex;
    std::string lines;
};

TEST_F(Scheduler, SeveralHostsRunEachTickOnce) {
    std::map<std::string, int> runs;
    std::atomic<int> count = 0;
    std::atomic<std::uint64_t> last_token = 0;
    const auto job = [&](const running_tick& running) {
        EXPECT_EQ(running.name, "job");
        EXPECT_GT(running.token.value(), last_token.exchange(running.token.value()));
        EXPECT_EQ(running.attempt, 1U);
        const std::scoped_lock guard(mutex);
        ++runs[running.when.key];
        ++count;
        return 0;
    };
    const schedule_options options{
        .overlap = overlap_policy::wait, .catch_up = catch_up_policy::all, .late = 24h * 30};
    std::vector<std::jthread> hosts;
    for (int i = 0; i < 3; ++i)
        hosts.emplace_back([&](const std::stop_token& stop) {
            sql_tick_records own(database);
            scheduler host(locks, own, virtual_time());
            host.add("job", cron_schedule::parse("* * * * *"), options, job);
            host.run(stop);
        });
    EXPECT_TRUE(support::eventually([&] { return count >= 40; }));
    hosts.clear();
    auto all = records();
    // A host that stops gives back the ticks that it has claimed and not begun.
    while (!all.empty() && all.front().state == tick_state::claimed)
        all.erase(all.begin());
    EXPECT_EQ(all.size(), runs.size());
    for (const auto& [key, times] : runs)
        EXPECT_EQ(times, 1) << key;
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(all[i].state, tick_state::done) << all[i].reason;
        EXPECT_EQ(all[i].due + (i * 1min), all.front().due) << "no tick is missing";
    }
}

TEST_F(Scheduler, RecordsStatusesAndExceptions) {
    sql_tick_records own(database);
    scheduler host(locks, own, virtual_time());
    std::atomic<int> count = 0;
    std::stop_source stop;
    host.add("job", cron_schedule::parse("* * * * *"),
             {.overlap = overlap_policy::wait, .catch_up = catch_up_policy::all, .late = 24h},
             [&](const running_tick&) {
                 if (++count == 2) throw std::runtime_error("no stock");
                 if (count == 3) stop.request_stop();
                 return 5;
             });
    host.run(stop.get_token());
    auto all = records();
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[2].status, 5);
    EXPECT_EQ(all[1].status, 1);
    EXPECT_EQ(all[1].reason, "no stock");
    EXPECT_EQ(all[0].state, tick_state::done) << "`run` waits for it";
}

// A waiter gets the lock: otherwise the scheduler may get it, and records the tick as crashed.
TEST_F(Scheduler, TellsTheWorkOfALoss) {
    sql_tick_records own(database);
    scheduler host(locks, own, virtual_time());
    std::stop_source stop;
    pawl::blocking::held_lock next_hold;
    std::jthread waiting;
    host.add(
        "job", cron_schedule::parse("* * * * *"), {.late = 24h}, [&](const running_tick& running) {
            waiting =
                std::jthread([&] { next_hold = locks.acquire("job", {.ttl = 60s, .wait = 30s}); });
            EXPECT_TRUE(support::eventually([&] { return locks.inspect("job").waiters == 1; }));
            static_cast<void>(locks.force_release("job"));
            EXPECT_TRUE(support::eventually([&] { return running.lost.stop_requested(); }));
            stop.request_stop();
            return 0;
        });
    host.run(stop.get_token());
    waiting.join();
    const auto is_told = [](const tick_record& each) { return each.reason == "the lock was lost"; };
    EXPECT_TRUE(std::ranges::any_of(records(), is_told));
}

TEST_F(Scheduler, LeavesALockOfAnotherOwnerAlone) {
    const auto held = locks.acquire("job");
    sql_tick_records own(database);
    database.advance(1min);
    scheduler host(locks, own, standing_time());
    host.add("job", cron_schedule::parse("* * * * *"), {.late = 1s},
             [](const running_tick&) -> int { throw std::logic_error("it ran"); });
    std::jthread runner([&host](const std::stop_token& stop) { host.run(stop); });
    EXPECT_TRUE(support::eventually([&] {
        const auto all = records();
        return !all.empty() && all.back().reason == "the lock was not free";
    }));
    EXPECT_NE(logged().find("is skipped, because another owner kept the lock"), std::string::npos);
}

// A claims a tick, acquires its lock and stalls. Its claim is abandoned: B claims the tick, and
// finds the lock taken. A goes on, is refused, and releases the lock. B must run the tick: nobody
// did.
TEST_F(Scheduler, ATickOutlivesAHostThatStallsBeforeItsBeginning) {
    sql_tick_records stalled(database), own(database);
    const auto due = std::chrono::floor<std::chrono::seconds>(stalled.look("job").now) + 1min;
    const auto wanted = cron_schedule::parse("* * * * *").next(due - 1s).value();
    const tick_claim claim{
        .name = "job", .key = wanted.key, .due = due, .claim = random_claim(), .host = "a"};
    database.advance(1min);
    ASSERT_EQ(stalled.claim(claim, due, 1us), claim_answer::claimed);
    auto held = locks.acquire("job");
    database.advance(1us);

    scheduler host(locks, own, standing_time());
    std::atomic<int> runs = 0;
    host.add("job", cron_schedule::parse("* * * * *"), {}, [&](const running_tick& running) {
        EXPECT_EQ(running.when.key, wanted.key);
        return runs++;
    });
    std::jthread runner([&host](const std::stop_token& stop) { host.run(stop); });
    ASSERT_TRUE(support::eventually([&] { return locks.inspect("job").waiters == 1; })) << logged();
    EXPECT_FALSE(stalled.begin(claim, held.token(), due + 1h, 30s));
    static_cast<void>(held.release());
    EXPECT_TRUE(support::eventually([&] { return records().front().state == tick_state::done; }));
    EXPECT_EQ(records().front().attempts, 1U);
    EXPECT_EQ(runs, 1);
}

TEST_F(Scheduler, OutlivesAnOutageOfTheRecords) {
    sql_tick_records own(database);
    scheduler host(locks, own, virtual_time());
    std::stop_source stop;
    host.add("job", cron_schedule::parse("* * * * *"),
             {.catch_up = catch_up_policy::latest, .late = 24h}, [&](const running_tick&) {
                 stop.request_stop();
                 return 0;
             });
    database.is_broken = true;
    std::jthread runner([&] { host.run(stop.get_token()); });
    EXPECT_TRUE(support::eventually(
        [&] { return logged().find("The records cannot be used") != std::string::npos; }));
    database.is_broken = false;
    runner.join();
    EXPECT_EQ(records().front().state, tick_state::done);
}

TEST_F(Scheduler, RefusesASecondScheduleWithTheName) {
    sql_tick_records own(database);
    scheduler host(locks, own);
    const auto nothing = [](const running_tick&) { return 0; };
    host.add("job", cron_schedule::parse("@daily"), {}, nothing);
    EXPECT_THROW(host.add("job", cron_schedule::parse("@daily"), {}, nothing), pawl::error);
    EXPECT_THROW(host.add("", cron_schedule::parse("@daily"), {}, nothing), pawl::error);
}

}  // namespace
