// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Times without a master: which requests wait, and what the messages say.
#include "sentinel_fixture.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <utility>
#include <vector>

namespace {

using namespace chaos;
using support::sentinel_group;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class SentinelOutage : public sentinel_fixture {
protected:
    // A try at a service that cannot be reached.
    [[nodiscard]] std::string sentence_at(const std::string& url) {
        client locks = client_at(url);
        try {
            (void)locks.try_acquire("it", {.ttl = 2s});
        } catch (const pawl::error& e) {
            EXPECT_EQ(e.reason(), errc::unreachable) << e.what();
            return e.what();
        }
        ADD_FAILURE() << "it was acquired, or is held";
        return {};
    }
    // Over a connection of its own: a promotion ends all connections.
    [[nodiscard]] static support::resp_value ask(const support::redis_server& server,
                                                 const support::command_words& words) {
        return server.connect()->execute(words);
    }
    [[nodiscard]] static bool is_master(const support::redis_server& server) {
        try {
            return ask(server, {"INFO", "replication"}).text.find("role:master") !=
                   std::string::npos;
        } catch (const std::runtime_error&) {
            return false;  // at its promotion
        }
    }
    [[nodiscard]] std::size_t count_in_log(const std::string& text) {
        const auto log = client_log.text();
        std::size_t count = 0;
        for (auto at = log.find(text); at != std::string::npos; at = log.find(text, at + 1))
            ++count;
        return count;
    }
};

// A failover takes some two seconds here: longer than a try has by default.
TEST_F(SentinelOutage, IsOutlastedByATryWithALongerLimit) {
    sentinel_group group({.replicas = 1});
    ASSERT_TRUE(group.is_replicated());
    group.server(0).kill9();
    pawl::client_options options;
    options.try_limit = patience;
    client locks(pawl::from_url(group.url("?connect_timeout=20000&reply_timeout=20000")), options);
    const auto lock = locks.try_acquire("it", {.ttl = 2s});
    EXPECT_TRUE(lock.owns_lock());
    EXPECT_GE(epoch_of(lock), 1U);
}

TEST_F(SentinelOutage, OfTheMasterIsNamed) {
    sentinel_group group;
    group.server(0).kill9();
    EXPECT_THAT(sentence_at(group.url("?connect_timeout=1000")),
                AllOf(HasSubstr("the master " + at(group.server(0)) + ": Connection refused; "),
                      HasSubstr("a failover may be in progress"), Not(HasSubstr("must agree"))));
}

TEST_F(SentinelOutage, OfASilentMasterIsNamed) {
    sentinel_group group;
    group.server(0).freeze();
    EXPECT_THAT(sentence_at(group.url("?connect_timeout=1000")),
                AllOf(HasSubstr("the master " + at(group.server(0)) + " has given no answer"),
                      HasSubstr("a failover may be in progress")));
}

TEST_F(SentinelOutage, OfSilentSentinelsIsNamed) {
    sentinel_group group;
    for (std::size_t i = 0; i < group.sentinel_count(); ++i)
        group.sentinel(i).freeze();
    EXPECT_THAT(sentence_at(group.url("?connect_timeout=1000")),
                AllOf(HasSubstr("no Sentinel names a master ("),
                      HasSubstr(at(group.sentinel(0)) + " gives no answer"),
                      HasSubstr("check that the Sentinels run there")));
}

// Each Sentinel is asked many times meanwhile. On a busy machine, another failure may come between,
// after which this one is news again.
TEST_F(SentinelOutage, IsLoggedOnce) {
    sentinel_group group;
    for (std::size_t i = 0; i < group.sentinel_count(); ++i)
        group.sentinel(i).kill9();
    EXPECT_TRUE(failure_at(group.url(), 5s).has_value());
    for (std::size_t i = 0; i < group.sentinel_count(); ++i)
        EXPECT_THAT(
            count_in_log("the Sentinel " + at(group.sentinel(i)) + ": Connection refused\n"),
            testing::AllOf(testing::Ge(1U), testing::Le(2U)))
            << client_log.text();
}

//   C: acquires | an operator removes the master from each Sentinel; C loses its connection and
//   acquires again | the operator adds the master again | C: has the lock
TEST_F(SentinelOutage, OfAMasterThatIsRemovedAndAddedIsWaitedFor) {
    sentinel_group group;
    client locks = client_at(group.url());
    (void)locks.acquire("it", {.ttl = 2s}).release();
    for (std::size_t i = 0; i < group.sentinel_count(); ++i)
        ASSERT_EQ(group.sentinel(i).execute({"SENTINEL", "REMOVE", "orders"}).text, "OK");
    (void)group.server(0).execute({"CLIENT", "KILL", "TYPE", "pubsub"});
    (void)group.server(0).execute({"CLIENT", "KILL", "TYPE", "normal"});
    held_lock lock;
    std::optional<failure> failed;
    background_task waiter([&] {
        try {
            lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
        } catch (const pawl::error& e) {
            failed = failure{e.reason(), e.what()};
        }
    });
    EXPECT_TRUE(eventually([&] { return count_in_log("knows no master 'orders'") > 0; }))
        << client_log.text();
    for (std::size_t i = 0; i < group.sentinel_count(); ++i)
        ASSERT_EQ(group.sentinel(i)
                      .execute({"SENTINEL", "MONITOR", "orders", "127.0.0.1",
                                std::to_string(group.server(0).port()), "2"})
                      .text,
                  "OK");
    waiter.join();
    EXPECT_FALSE(failed.has_value()) << failed;
    EXPECT_TRUE(lock.owns_lock());
}

//   C: holds 50 locks and v, which B has, too | two of three Sentinels stop, so C follows nobody |
//   the third one promotes B; A still answers | C: releases all, and A confirms it | the Sentinels
//   go on, and C follows them | B: 50 locks are free at once, long before their leases end. v has
//   the caller's value, which another hold may have by now: it is not released again
TEST_F(SentinelOutage, TakesNoReleaseBack) {
    sentinel_group group({.replicas = 1});
    client locks = client_at(group.url());
    const auto value_lock = std::make_unique<held_lock>(
        locks.acquire_as("v", "the caller's", {.ttl = long_ttl, .wait = patience}));
    std::vector<held_lock> held;
    for (int i = 0; i < 50; ++i)
        held.push_back(locks.acquire("a" + std::to_string(i), {.ttl = long_ttl, .wait = patience}));
    ASSERT_TRUE(group.is_replicated());
    group.sentinel(1).freeze();
    group.sentinel(2).freeze();
    group.begin_failover();
    auto& promoted = group.server(1);
    ASSERT_TRUE(eventually([&] { return is_master(promoted); }));
    ASSERT_EQ(value_lock->release(), release_result::released);
    for (auto& each : held)
        ASSERT_EQ(each.release(), release_result::released);
    const auto is_taken_there = [&](const std::string& name) {
        return ask(promoted, {"EXISTS", "pawl:{" + name + "}"}).number() == 1;
    };
    ASSERT_TRUE(is_taken_there("a0")) << "the release was replicated";
    group.sentinel(1).thaw();
    group.sentinel(2).thaw();
    EXPECT_TRUE(eventually([&] {
        for (int i = 0; i < 50; ++i)
            if (is_taken_there("a" + std::to_string(i))) return false;
        return true;
    })) << client_log.text();
    EXPECT_TRUE(is_taken_there("v"));
}

// The new master has confirmed the hold, so its later end is not the failover's.
TEST_F(SentinelOutage, IsNotBlamedForALaterLoss) {
    sentinel_group group({.replicas = 1});
    client locks = client_at(group.url());
    const auto lock = locks.acquire("it", {.ttl = 3s});
    ASSERT_TRUE(group.is_replicated());
    group.begin_failover();
    ASSERT_TRUE(group.eventually_moved_from(group.server(0).port()));
    const auto remaining = [&] { return ask(group.server(1), {"PTTL", "pawl:{it}"}).number(); };
    ASSERT_TRUE(
        eventually([&] { return count_in_log("connected to " + at(group.server(1))) > 0; }));
    auto last = remaining();
    const auto is_renewed = [&] {
        const auto before = std::exchange(last, remaining());
        return last > before;
    };
    ASSERT_TRUE(eventually(is_renewed));
    (void)ask(group.server(1), {"DEL", "pawl:{it}"});
    const loss_recorder loss(lock);
    EXPECT_TRUE(loss.is_told_within(10s));
    EXPECT_EQ(lock.why_lost(), pawl::loss_reason::missing);
}

}  // namespace
