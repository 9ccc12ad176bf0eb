// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// An unreachable server: the wait of an acquire covers the server's absence too, a try does not
// wait.
#include "redis_fixture.hpp"

#include <pawl/blocking/election.hpp>
#include <pawl/blocking/latch.hpp>
#include <pawl/client.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <filesystem>

namespace {

using namespace chaos;

const std::string waiting = "Waiting for the service: ";

class UnreachableServer : public testing::Test, protected redis_fixture {
protected:
    bool has_waiting_log() {
        return eventually([this] { return client_log.text().find(waiting) != std::string::npos; });
    }
    // The wait starts while the server is down; the server comes back, and the wait succeeds.
    void expect_to_outlast(const std::string& suffix, const std::function<void(client&)>& wait) {
        const auto before = client_log.text().size();
        client locks = direct_client(suffix);
        server.kill9();
        background_task waiting_task([&] { wait(locks); });
        EXPECT_TRUE(eventually(
            [&] { return client_log.text().find(waiting, before) != std::string::npos; }));
        server.start();
        waiting_task.join();
    }
    void expect_unreachable(const std::optional<failure>& failed) {
        ASSERT_TRUE(failed.has_value());
        EXPECT_EQ(failed->reason, errc::unreachable) << failed;
        EXPECT_NE(failed->sentence.find(std::to_string(server.port())), std::string::npos)
            << failed;
        EXPECT_NE(failed->sentence.find("refused"), std::string::npos) << failed;
    }
};

TEST_F(UnreachableServer, AWaitCoversIt) {
    for (const std::string& layout : {std::string(), std::string("?layout=redisson")}) {
        for (const auto wait : {pawl::duration(patience), pawl::forever}) {
            expect_to_outlast(layout, [&](client& locks) {
                auto lock = locks.acquire("it", {.ttl = 2s, .wait = wait});
                EXPECT_EQ(lock.release(), release_result::released);
            });
        }
    }
}

TEST_F(UnreachableServer, AWaitForSeveralCoversIt) {
    expect_to_outlast("", [](client& locks) {
        const auto all = locks.acquire_all({"a", "b"}, {.ttl = 2s, .wait = patience});
        EXPECT_TRUE(all);
    });
}

TEST_F(UnreachableServer, ACampaignCoversIt) {
    expect_to_outlast("", [](client& locks) {
        pawl::blocking::election term(locks, "it", {.ttl = 2s});
        EXPECT_TRUE(term.campaign(patience).owns_lock());
    });
}

//   C waits for the latch | the server dies, and comes back without its data | another client sets
//   the latch and counts it down | C continues, or is told that the latch was forgotten: C does not
//   hang
TEST_F(UnreachableServer, AWaitForALatchGoesOnWhenTheServerIsBack) {
    client waits = direct_client(), counts = direct_client();
    pawl::blocking::latch own_latch(waits, "it"), other(counts, "it");
    ASSERT_TRUE(other.try_set(1));
    std::optional<failure> failed;
    background_task waiting_task([&] { failed = failure_of([&] { own_latch.wait(); }); });
    ASSERT_TRUE(eventually([&] { return other.inspect().waiters == 1; }));
    server.kill9();
    const auto away = failure_of([&] { (void)other.inspect(); });
    EXPECT_EQ(away->reason, errc::unreachable) << away;
    server.start();
    waiting_task.join();
    ASSERT_TRUE(failed.has_value()) << "the latch was not counted down";
    EXPECT_EQ(failed->reason, errc::lost) << failed;
}

TEST_F(UnreachableServer, ATryFailsAtOnce) {
    client locks = direct_client();
    server.kill9();
    expect_unreachable(failure_of([&] { (void)locks.try_acquire("it", {.ttl = 2s}); }));
    expect_unreachable(failure_of([&] { (void)locks.acquire("it", {.ttl = 2s, .wait = 0s}); }));
    expect_unreachable(failure_of([&] { (void)locks.try_acquire_all({"a", "b"}, {.ttl = 2s}); }));
    EXPECT_EQ(client_log.text().find(waiting), std::string::npos) << client_log.text();
}

// The wait ends first. The reason is the server's absence, also for a caller queued behind another
// caller of the client.
TEST_F(UnreachableServer, AWaitThatEndsMeanwhileSaysWhy) {
    client locks = direct_client();
    server.kill9();
    std::optional<failure> first, second, beside_others;
    {
        const background_task first_waiter([&] {
            first = failure_of([&] { (void)locks.acquire("it", {.ttl = 2s, .wait = 3s}); });
        });
        const background_task second_waiter([&] {
            second = failure_of([&] { (void)locks.acquire("it", {.ttl = 2s, .wait = 2s}); });
        });
        const background_task third([&] {
            beside_others = failure_of([&] {
                (void)locks.acquire("it", {.ttl = 2s, .wait = 2s, .mode = pawl::lock_mode::shared});
            });
        });
    }
    expect_unreachable(first);
    expect_unreachable(second);
    expect_unreachable(beside_others);
}

TEST_F(UnreachableServer, AWaitInLineThatEndsMeanwhileSaysWhy) {
    client holder = direct_client(), locks = direct_client();
    auto lock = holder.acquire("it", {.ttl = long_ttl});
    std::optional<failure> failed;
    background_task waiter(
        [&] { failed = failure_of([&] { (void)locks.acquire("it", {.ttl = 2s, .wait = 4s}); }); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    server.kill9();
    waiter.join();
    expect_unreachable(failed);
}

// While a waiter is queued, the server goes away and comes back: the wait continues.
TEST_F(UnreachableServer, AWaitInLineGoesOn) {
    client holder = direct_client(), locks = direct_client();
    auto lock = holder.acquire("it", {.ttl = long_ttl});
    held_lock acquired;
    background_task waiter([&] { acquired = locks.acquire("it", {.ttl = 2s, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    server.kill9();
    ASSERT_TRUE(has_waiting_log());
    server.start();
    waiter.join();
    EXPECT_TRUE(acquired.owns_lock());
}

TEST_F(UnreachableServer, AnAsynchronousWaitCoversIt) {
    boost::asio::io_context loop;
    auto guard = boost::asio::make_work_guard(loop);
    std::jthread running([&] { loop.run(); });
    {
        pawl::client_options options;
        options.log = [this](std::string_view line) { client_log.write(line); };
        pawl::client locks(loop.get_executor(), pawl::redis::at(server.url()), options);
        server.kill9();
        auto given =
            locks.async_acquire("it", {.ttl = 2s, .wait = patience}, boost::asio::use_future);
        EXPECT_TRUE(has_waiting_log());
        server.start();
        EXPECT_TRUE(given.get().owns_lock());
    }
    guard.reset();
}

// An error that waiting cannot mend ends even the longest wait.
TEST_F(UnreachableServer, FatalAnswersEndAWait) {
    const auto fails = [&](const std::string& url, errc reason, const std::string& part) {
        client locks = client_at(url);
        const auto failed =
            failure_of([&] { (void)locks.acquire("it", {.ttl = 2s, .wait = pawl::forever}); });
        ASSERT_TRUE(failed.has_value());
        EXPECT_EQ(failed->reason, reason) << failed;
        EXPECT_NE(failed->sentence.find(part), std::string::npos) << failed;
    };
    support::redis_server closed({.config = {"requirepass secret"}, .password = "secret"});
    fails(closed.url(), errc::refused, "\"NOAUTH Authentication required.\"; give");
    const auto other = closed.folder().file("redis.conf");
    std::filesystem::permissions(other, std::filesystem::perms(0600));
    fails(closed.url("/99?password_file=" + other), errc::refused, "WRONGPASS");
    fails(server.url("/99"), errc::bad_option, "DB index");
}

}  // namespace
