// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The scheduler for coroutines: hosts that share a database in memory, whose clock the test moves,
// and locks in memory.
#include "timed_database.hpp"

#include <pawl/blocking.hpp>
#include <pawl/guard/async_scheduler.hpp>
#include <pawl/guard/scheduler.hpp>
#include <pawl/memory.hpp>

#include <support/eventually.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <thread>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using namespace pawl::guard;
using guard_tests::timed_database;

class timed_view final : public async_connection {
public:
    explicit timed_view(timed_database& database) : database_(database) {}

    using async_connection::execute;
    asio::awaitable<rows> execute(const statement& to_run) override {
        co_return database_.execute(to_run);
    }
    [[nodiscard]] pawl::guard::dialect dialect() const noexcept override {
        return database_.dialect();
    }
    [[nodiscard]] bool in_transaction() const noexcept override { return false; }

private:
    timed_database& database_;
};

// What the work of a tick does.
using plain_work = std::function<int(const running_tick&)>;

asio::awaitable<int> call(const plain_work& work, const running_tick& running) {
    co_return work(running);
}

asio::awaitable<int> wait_for_loss(const running_tick& running, std::function<void()> begun) {
    begun();
    asio::steady_timer timer(co_await asio::this_coro::executor);
    while (!running.lost.stop_requested()) {
        timer.expires_after(1ms);
        co_await timer.async_wait(asio::use_awaitable);
    }
    co_return 0;
}

// A host, with a loop and a thread of its own.
class async_host {
public:
    async_host(timed_database& database, const pawl::service& service,
               const scheduler_options& options)
        : view_(database), locks_(loop_.get_executor(), service) {
        jobs_.emplace(locks_, records_, options);
    }
    ~async_host() { stop(); }
    async_host(const async_host&) = delete;
    async_host& operator=(const async_host&) = delete;

    void add(const schedule_options& options, async_scheduler::work work) {
        jobs_->add("job", cron_schedule::parse("* * * * *"), options, std::move(work));
    }
    void start() {
        // The client would keep the loop running.
        asio::co_spawn(loop_, jobs_->run(stop_.get_token()), [this](const std::exception_ptr& e) {
            EXPECT_FALSE(e);
            has_ended_ = true;
            loop_.stop();
        });
        thread_ = std::jthread([this] { loop_.run(); });
    }
    void request_stop() { stop_.request_stop(); }
    void stop() {
        request_stop();
        if (thread_.joinable()) thread_.join();
    }
    [[nodiscard]] bool has_ended() const { return has_ended_; }

private:
    asio::io_context loop_;
    timed_view view_;
    async_sql_tick_records records_{view_};
    pawl::client locks_;
    std::optional<async_scheduler> jobs_;
    std::stop_source stop_;
    std::atomic<bool> has_ended_ = false;
    std::jthread thread_;
};

class AsyncScheduler : public ::testing::Test {
protected:
    void SetUp() override {
        sql_tick_records(database).make_schema();
        static_cast<void>(sql_tick_records(database).look("job"));
    }
    std::vector<tick_record> records() { return sql_tick_records(database).history("job", 1000); }
    [[nodiscard]] scheduler_options virtual_time(std::chrono::microseconds step = 1s) {
        scheduler_options options{.host = "h"};
        options.pause = [this, step](pawl::duration) {
            database.advance(step);
            std::this_thread::sleep_for(1ms);  // for the other hosts
        };
        options.log = [this](std::string_view line) {
            const std::scoped_lock guard(mutex);
            lines.append(line).append("\n");
        };
        return options;
    }
    std::string logged() {
        const std::scoped_lock guard(mutex);
        return lines;
    }
    [[nodiscard]] bool eventually_ended(async_host& host) {
        return support::eventually([&] { return host.has_ended(); });
    }

    timed_database database;
    const pawl::service service = pawl::memory::at();
    pawl::blocking::client locks{service};
    std::mutex mutex;
    std::string lines;
};

// Two for coroutines, and one on threads.
TEST_F(AsyncScheduler, SeveralHostsRunEachTickOnce) {
    std::map<std::string, int> runs;
    std::atomic<int> count = 0;
    const plain_work note = [&](const running_tick& running) {
        const std::scoped_lock guard(mutex);
        ++runs[running.when.key];
        return ++count > 0 ? 0 : 1;
    };
    const schedule_options options{
        .overlap = overlap_policy::wait, .catch_up = catch_up_policy::all, .late = 24h * 30};
    std::list<async_host> hosts;
    for (int i = 0; i < 2; ++i) {
        auto& host = hosts.emplace_back(database, service, virtual_time());
        host.add(options, [&note](const running_tick& running) { return call(note, running); });
        host.start();
    }
    std::jthread threads([&](const std::stop_token& stop) {
        sql_tick_records own(database);
        scheduler host(locks, own, virtual_time());
        host.add("job", cron_schedule::parse("* * * * *"), options, note);
        host.run(stop);
    });
    EXPECT_TRUE(support::eventually([&] { return count >= 30; })) << logged();
    for (auto& host : hosts)
        host.stop();
    threads.request_stop();
    threads.join();
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

TEST_F(AsyncScheduler, RecordsStatusesAndExceptions) {
    async_host host(database, service, virtual_time());
    int count = 0;
    const plain_work work = [&](const running_tick&) {
        if (++count == 2) throw std::runtime_error("no stock");
        if (count == 3) host.request_stop();
        return 5;
    };
    host.add({.overlap = overlap_policy::wait, .catch_up = catch_up_policy::all, .late = 24h},
             [&work](const running_tick& running) { return call(work, running); });
    host.start();
    EXPECT_TRUE(eventually_ended(host)) << logged();
    const auto all = records();
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[2].status, 5);
    EXPECT_EQ(all[1].status, 1);
    EXPECT_EQ(all[1].reason, "no stock");
    EXPECT_EQ(all[0].state, tick_state::done) << "`run` waits for it";
}

TEST_F(AsyncScheduler, TellsTheWorkOfALoss) {
    async_host host(database, service, virtual_time(0us));
    std::atomic<bool> has_begun = false;
    host.add({.late = 24h}, [&](const running_tick& running) {
        return wait_for_loss(running, [&] {
            has_begun = true;
            host.request_stop();
        });
    });
    database.advance(1min);
    host.start();
    ASSERT_TRUE(support::eventually([&] { return has_begun.load(); })) << logged();
    EXPECT_TRUE(locks.force_release("job"));
    EXPECT_TRUE(eventually_ended(host)) << logged();
    EXPECT_EQ(records().front().reason, "the lock was lost");
}

// As Scheduler's test of this name.
TEST_F(AsyncScheduler, ATickOutlivesAHostThatStallsBeforeItsBeginning) {
    sql_tick_records stalled(database);
    const auto due = timed_database::start + 1min;
    const auto wanted = cron_schedule::parse("* * * * *").next(due - 1s).value();
    const tick_claim claim{
        .name = "job", .key = wanted.key, .due = due, .claim = random_claim(), .host = "a"};
    database.advance(1min);
    ASSERT_EQ(stalled.claim(claim, due, 1us), claim_answer::claimed);
    auto held = locks.acquire("job");
    database.advance(1us);

    async_host host(database, service, virtual_time(0us));
    std::atomic<int> runs = 0;
    const plain_work work = [&](const running_tick&) { return runs++; };
    host.add({}, [&work](const running_tick& running) { return call(work, running); });
    host.start();
    ASSERT_TRUE(support::eventually([&] { return locks.inspect("job").waiters == 1; })) << logged();
    EXPECT_FALSE(stalled.begin(claim, held.token(), due + 1h, 30s));
    static_cast<void>(held.release());
    EXPECT_TRUE(support::eventually([&] { return records().front().state == tick_state::done; }));
    EXPECT_EQ(records().front().attempts, 1U);
    EXPECT_EQ(runs, 1);
}

TEST_F(AsyncScheduler, SkipsATickWhoseLockIsKept) {
    const auto held = locks.acquire("job");
    database.advance(1min);
    async_host host(database, service, virtual_time(0us));
    host.add({.late = 1s},
             [](const running_tick&) -> asio::awaitable<int> { throw std::logic_error("it ran"); });
    host.start();
    EXPECT_TRUE(support::eventually([&] {
        const auto all = records();
        return !all.empty() && all.back().reason == "the lock was not free";
    })) << logged();
}

// The claim is given back, and another host may have it at once.
TEST_F(AsyncScheduler, AStopEndsTheWaitForALock) {
    const auto held = locks.acquire("job");
    async_host host(database, service, virtual_time(0us));
    host.add({.late = 24h},
             [](const running_tick&) -> asio::awaitable<int> { throw std::logic_error("it ran"); });
    database.advance(1min);
    host.start();
    ASSERT_TRUE(support::eventually([&] { return locks.inspect("job").waiters == 1; })) << logged();
    host.request_stop();
    EXPECT_TRUE(eventually_ended(host)) << logged();
    const auto record = records().front();
    EXPECT_EQ(record.state, tick_state::claimed);
    EXPECT_LE(record.lease_until, database.now);
}

TEST_F(AsyncScheduler, OutlivesAnOutageOfTheRecords) {
    async_host host(database, service, virtual_time());
    const plain_work work = [&](const running_tick&) {
        host.request_stop();
        return 0;
    };
    host.add({.late = 24h}, [&work](const running_tick& running) { return call(work, running); });
    database.is_broken = true;
    host.start();
    EXPECT_TRUE(support::eventually(
        [&] { return logged().find("The records cannot be used") != std::string::npos; }));
    database.is_broken = false;
    EXPECT_TRUE(eventually_ended(host)) << logged();
    EXPECT_EQ(records().front().state, tick_state::done);
}

// A program may end its event loop at any time.
TEST_F(AsyncScheduler, TheLoopMayBeDestroyedWhileWorkRuns) {
    timed_view view(database);
    async_sql_tick_records own(view);
    database.advance(1min);
    bool has_begun = false;
    {
        asio::io_context loop;
        pawl::client async_locks(loop.get_executor(), service);
        async_scheduler jobs(async_locks, own, virtual_time(0us));
        jobs.add("job", cron_schedule::parse("* * * * *"), {.late = 24h},
                 [&](const running_tick& running) {
                     return wait_for_loss(running, [&] {
                         has_begun = true;
                         loop.stop();
                     });
                 });
        asio::co_spawn(loop, jobs.run({}), [](const std::exception_ptr&) {});
        loop.run();
    }
    EXPECT_TRUE(has_begun);
    EXPECT_EQ(records().front().state, tick_state::running);
}

TEST_F(AsyncScheduler, RefusesASecondScheduleWithTheName) {
    async_host host(database, service, virtual_time());
    const plain_work nothing = [](const running_tick&) { return 0; };
    const auto work = [&nothing](const running_tick& running) { return call(nothing, running); };
    host.add({}, work);
    EXPECT_THROW(host.add({}, work), pawl::error);
}

}  // namespace
