// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Shared holds and permits when replies are lost, connections are cut, and the server loses its
// data.
#include "redis_fixture.hpp"

#include <pawl/blocking/mutex.hpp>

#include <redis_scripts.hpp>

namespace {

using namespace chaos;
using pawl::lock_mode;
using pawl::lock_options;
namespace scripts = pawl::redis::scripts;

class Modes : public testing::Test, protected redis_fixture {
protected:
    // With loaded scripts and an open connection.
    void warm(client& locks) {
        for (const auto& options : {shared, two_of_three, fair})
            (void)locks.acquire("warm", options).release();
        server.execute({"DEL", "pawl:{warm}:d"});
    }
    // No holder and no waiter: only the number of permits stays.
    bool nobody_left() {
        return eventually([this] {
            const auto remaining = leftovers();
            return remaining.empty() ||
                   (remaining.size() == 1 && remaining[0] == "pawl:{it}:d" &&
                    server.execute({"HKEYS", "pawl:{it}:d"}).items.size() == 1);
        });
    }
    void expect_no_effect_on(client& others, const lock_options& options) {
        auto exclusive = others.acquire("it", {.ttl = long_ttl, .wait = patience});
        EXPECT_EQ(exclusive.release(), release_result::released);
        auto reacquired = others.acquire("it", options);
        EXPECT_EQ(reacquired.release(), release_result::released);
    }
};

// acquire -> executed -> reply lost -> repeated with a new owner. The orphaned place must neither
// keep the permits or the phase of readers, nor block others.
TEST_F(Modes, ALostAnswerToAClaimLeavesNoGhost) {
    for (const auto& options : {shared, two_of_three, fair}) {
        for (const fault_kind kind :
             {fault_kind::lose_reply, fault_kind::cut_reply, fault_kind::lose_request}) {
            client locks = proxied_client(), other = direct_client();
            warm(locks);
            const auto before = proxy.strike_count();
            proxy.inject({.matches = script(scripts::acquire_any_mode), .kind = kind});
            auto lock = locks.acquire("it", options);
            EXPECT_EQ(proxy.strike_count(), before + 1);
            EXPECT_EQ(lock.state(), lock_state::held);
            EXPECT_EQ(lock.release(), release_result::released);
            EXPECT_TRUE(nobody_left());
            expect_no_effect_on(other, options);
        }
    }
}

// A renewal's reply is lost: there is time for another renewal.
TEST_F(Modes, ALostAnswerToARenewalCostsNothing) {
    client locks = proxied_client();
    auto brief = shared;
    brief.ttl = 3s;
    auto lock = locks.acquire("it", brief);
    for (const fault_kind kind :
         {fault_kind::lose_reply, fault_kind::cut_reply, fault_kind::lose_request}) {
        const auto before = proxy.strike_count();
        proxy.inject({.matches = script(scripts::renew_non_exclusive), .kind = kind});
        ASSERT_TRUE(eventually([&] { return proxy.strike_count() == before + 1; }));
        const auto previous_deadline = lock.safe_until();
        ASSERT_TRUE(eventually([&] { return lock.safe_until() > previous_deadline; }));
        EXPECT_EQ(lock.state(), lock_state::held);
    }
    EXPECT_EQ(lock.release(), release_result::released);
}

// All of them are lost: the reader is told before its lease ends, and the others keep reading.
TEST_F(Modes, LostAnswersToAllRenewalsCostTheHoldInTime) {
    client locks = proxied_client(), other = direct_client();
    auto brief = shared;
    brief.ttl = 2s;
    auto lock = locks.acquire("it", brief);
    const auto answered = boot_clock::now();
    auto second = other.acquire("it", shared);
    const loss_recorder loss(lock);
    proxy.inject({.matches = script(scripts::renew_non_exclusive),
                  .kind = fault_kind::lose_request,
                  .times = 1000});
    ASSERT_TRUE(loss.is_told_within(5s));
    EXPECT_LE(loss.told_at(), answered + 2s);
    EXPECT_EQ(second.state(), lock_state::held);
    EXPECT_EQ(second.release(), release_result::released);
}

// release -> executed -> reply lost -> the permits are another's -> release is repeated. It must
// not release the other's permits.
TEST_F(Modes, AReleaseThatIsSaidAgainTakesNothingFromOthers) {
    client other = direct_client();
    for (const fault_kind kind : {fault_kind::lose_reply, fault_kind::cut_reply}) {
        client locks = proxied_client();
        warm(locks);
        auto lock = locks.acquire("it", two_of_three);
        proxy.inject({.matches = script(scripts::release_non_exclusive), .kind = kind});
        (void)lock.release();
        auto next = other.acquire("it", two_of_three);
        ASSERT_TRUE(
            eventually([&] { return proxy.count(script(scripts::release_non_exclusive)) >= 2; }));
        EXPECT_GT(next.token(), lock.token());
        EXPECT_EQ(other.inspect("it").others.size(), 0U);
        EXPECT_FALSE(
            other
                .try_acquire(
                    "it",
                    {.ttl = long_ttl, .mode = lock_mode::permits, .permits = 2, .total_permits = 3})
                .owns_lock());
        EXPECT_EQ(next.release(), release_result::released);
        EXPECT_TRUE(nobody_left());
        proxy.forget_commands();
    }
}

// The message that admits a reader is lost: the reader refreshes and finds its own grant.
TEST_F(Modes, AReaderWhoseMessageIsLostFindsItsHold) {
    client holder = direct_client(), waiting = proxied_client();
    auto lock = holder.acquire("it", {.ttl = long_ttl});
    held_lock acquired;
    background_task waiter([&] { acquired = waiting.acquire("it", shared); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    proxy.drop_pushes(true);
    EXPECT_EQ(lock.release(), release_result::released);
    waiter.join();
    EXPECT_GT(acquired.token(), lock.token());
    EXPECT_EQ(acquired.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

// downgrade -> executed -> reply lost -> repeated: the lock is shared, once, with the same token.
TEST_F(Modes, ADowngradeWhoseAnswerIsLostIsSaidAgain) {
    for (const fault_kind kind :
         {fault_kind::lose_reply, fault_kind::cut_reply, fault_kind::lose_request}) {
        client locks = proxied_client(), other = direct_client();
        warm(locks);
        auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
        const auto token = lock.token();
        proxy.inject({.matches = script(scripts::downgrade), .kind = kind});
        lock.downgrade();
        auto second_reader = other.acquire("it", shared);
        EXPECT_EQ(lock.token(), token);
        EXPECT_EQ(second_reader.token(), token);
        EXPECT_FALSE(other.try_acquire("it", {.ttl = long_ttl}).owns_lock());
        EXPECT_EQ(lock.release(), release_result::released);
        EXPECT_EQ(second_reader.release(), release_result::released);
        EXPECT_TRUE(becomes_clean());
    }
}

// downgrade -> no answer until the lease ends: the error says that the lock is lost, and why.
TEST_F(Modes, ADowngradeThatFailsSaysTheReason) {
    client locks = proxied_client();
    warm(locks);
    auto lock = locks.acquire("it", {.ttl = 1s, .wait = patience});
    proxy.inject({.matches = script(scripts::downgrade), .kind = fault_kind::swallow});
    const auto failed = failure_of([&] { lock.downgrade(); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::lost) << failed;
    EXPECT_NE(failed->sentence.find("The last request to downgrade it failed: "), std::string::npos)
        << failed;
}

// FLUSHALL: holders of permits are told, and waiters state the total again.
TEST_F(Modes, WaitersForPermitsSurviveAFlush) {
    client holder = direct_client(), waiting = direct_client();
    auto brief = two_of_three;
    brief.ttl = 2s;
    auto lock = holder.acquire("it", brief);
    const loss_recorder loss(lock);
    held_lock acquired;
    background_task waiter([&] { acquired = waiting.acquire("it", two_of_three); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    server.execute({"FLUSHALL"});
    EXPECT_TRUE(loss.is_told_within(5s));
    waiter.join();
    EXPECT_GT(acquired.token(), lock.token());
    EXPECT_EQ(waiting.inspect("it").permits, 3U);
}

// The server dies and comes back empty: readers are told, and later readers have a higher token.
TEST_F(Modes, ARestartedEmptyServerCostsEveryReader) {
    client first_client = direct_client(), second_client = proxied_client();
    auto brief = shared;
    brief.ttl = 2s;
    auto first = first_client.acquire("it", brief);
    auto second = second_client.acquire("it", brief);
    const loss_recorder loss(first), other_loss(second);
    server.kill9();
    server.start(false);
    EXPECT_TRUE(loss.is_told_within(5s));
    EXPECT_TRUE(other_loss.is_told_within(5s));
    auto next = first_client.acquire("it", shared);
    EXPECT_GT(next.token(), second.token());
}

// A holder has died, its lease has ended, and no request has come since: the lock is free, and a
// waiter exists that the next request will grant it to. A plain try may take the lock, a fair try
// must not.
TEST_F(Modes, AFairTryGoesPastNobodyWhoWaits) {
    client locks = direct_client();
    warm(locks);
    const std::string waiter = "stranger:00ff";
    const auto subscriber = server.connect();
    (void)subscriber->execute({"SUBSCRIBE", "pawl:c:0:stranger"});
    const auto enqueue_waiter = [&] {
        server.execute({"DEL", "pawl:{it}", "pawl:{it}:q", "pawl:{it}:w"});
        server.execute({"ZADD", "pawl:{it}:q", "1", waiter});
        server.execute(
            {"HSET", "pawl:{it}:w", waiter, "9999999999999 60000 x 00ff:host:1:command"});
    };
    pawl::blocking::mutex fair_mutex(locks, "it", {.ttl = long_ttl, .fair = true});
    enqueue_waiter();
    EXPECT_FALSE(fair_mutex.try_lock());
    EXPECT_EQ(server.execute({"GET", "pawl:{it}"}).text.substr(0, 4), "00ff");
    enqueue_waiter();
    EXPECT_FALSE(locks.try_acquire("it", {.ttl = long_ttl, .fair = true}).owns_lock());
    enqueue_waiter();
    EXPECT_TRUE(locks.try_acquire("it", {.ttl = long_ttl}).owns_lock());
    server.execute({"DEL", "pawl:{it}:q", "pawl:{it}:w"});
}

//   A: holds | W's connection is gone, its place in the queue is not | M: PSUBSCRIBE * | A:
//   releases | M hears of W's grant, and W does not: W is passed over
TEST_F(Modes, AMonitorOfAllChannelsIsNoWaiter) {
    const auto monitor = server.connect();
    (void)monitor->execute({"PSUBSCRIBE", "*"});
    client locks = direct_client();
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    server.execute({"ZADD", "pawl:{it}:q", "1", "gone:00ff"});
    server.execute(
        {"HSET", "pawl:{it}:w", "gone:00ff", "9999999999999 60000 x 00ff;gone;1;host;command"});
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_EQ(server.execute({"EXISTS", "pawl:{it}"}).number(), 0);
    EXPECT_TRUE(nobody_left());
}

// Otherwise the hold would be shared at the server while its client renews an exclusive one.
TEST_F(Modes, ADowngradeBesideAQueueOfAnotherTypeChangesNothing) {
    client locks = direct_client();
    for (const std::string key : {"pawl:{it}:q", "pawl:{it}:w"}) {
        auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
        server.execute({"RPUSH", key, "somebody's"});
        const auto failed = failure_of([&] { lock.downgrade(); });
        ASSERT_TRUE(failed.has_value()) << key;
        EXPECT_EQ(failed->reason, errc::wrong_type) << key << failed;
        lock.renew();
        server.execute({"DEL", key});
        EXPECT_EQ(lock.release(), release_result::released) << key;
    }
}

// Keys of another type give one clear error, and stay unchanged.
TEST_F(Modes, KeysOfAnotherTypeAreRefused) {
    client locks = direct_client();
    for (const std::string key : {"pawl:{it}", "pawl:{it}:d"}) {
        server.execute({"RPUSH", key, "somebody's"});
        for (const auto& options : {shared, two_of_three}) {
            const auto failed = failure_of([&] { (void)locks.acquire("it", options); });
            ASSERT_TRUE(failed.has_value()) << key;
            EXPECT_EQ(failed->reason, errc::wrong_type) << key << failed;
        }
        EXPECT_EQ(server.execute({"LLEN", key}).number(), 1) << key;
        server.execute({"DEL", key});
    }
}

}  // namespace
