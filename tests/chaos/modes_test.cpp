// What is held beside others, when answers are lost, connections cut, and the server's data gone.
#include "scene.hpp"

#include <pawl/mutex.hpp>

#include <redis_scripts.hpp>

namespace {

using namespace chaos;
using pawl::lock_mode;
using pawl::lock_options;
namespace scripts = pawl::redis::scripts;

constexpr lock_options shared{.ttl = long_ttl, .wait = patience, .mode = lock_mode::shared};
constexpr lock_options two_of_three{
    .ttl = long_ttl, .wait = patience, .mode = lock_mode::permits, .permits = 2, .of = 3};
constexpr lock_options fair{.ttl = long_ttl, .wait = patience, .fair = true};

class Modes : public testing::Test, protected scene {
protected:
    // With scripts that the server knows and a connection that is up.
    void warm(client& locks) {
        for (const auto& options : {shared, two_of_three, fair})
            (void)locks.acquire("warm", options).release();
        server.ask({"DEL", "pawl:{warm}:d"});
    }
    // No holder, nobody in line: only the number of permits stays.
    bool nobody_left() {
        return eventually([this] {
            const auto left = leftovers();
            return left.empty() || (left.size() == 1 && left[0] == "pawl:{it}:d" &&
                                    server.ask({"HKEYS", "pawl:{it}:d"}).items.size() == 1);
        });
    }
    void takes_nothing_from(client& others, const lock_options& options) {
        auto alone = others.acquire("it", {.ttl = long_ttl, .wait = patience});
        EXPECT_EQ(alone.release(), release_result::released);
        auto again = others.acquire("it", options);
        EXPECT_EQ(again.release(), release_result::released);
    }
};

// join -> carried out -> reply lost -> asked again as somebody else. The ghost must neither keep
// the permits or the phase of readers, nor be in the way.
TEST_F(Modes, ALostAnswerToAClaimLeavesNoGhost) {
    for (const auto& options : {shared, two_of_three, fair}) {
        for (const fate how : {fate::lose_reply, fate::cut_reply, fate::lose_request}) {
            client locks = proxied(), other = direct();
            warm(locks);
            const auto before = proxy.struck();
            proxy.inject({.which = script(scripts::join), .what = how});
            auto lock = locks.acquire("it", options);
            EXPECT_EQ(proxy.struck(), before + 1);
            EXPECT_EQ(lock.state(), lock_state::held);
            EXPECT_EQ(lock.release(), release_result::released);
            EXPECT_TRUE(nobody_left());
            takes_nothing_from(other, options);
        }
    }
}

// A renewal's answer is lost: there is time for another one.
TEST_F(Modes, ALostAnswerToARenewalCostsNothing) {
    client locks = proxied();
    auto brief = shared;
    brief.ttl = 3s;
    auto lock = locks.acquire("it", brief);
    for (const fate how : {fate::lose_reply, fate::cut_reply, fate::lose_request}) {
        const auto before = proxy.struck();
        proxy.inject({.which = script(scripts::renew_beside), .what = how});
        ASSERT_TRUE(eventually([&] { return proxy.struck() == before + 1; }));
        const auto then = lock.safe_until();
        ASSERT_TRUE(eventually([&] { return lock.safe_until() > then; }));
        EXPECT_EQ(lock.state(), lock_state::held);
    }
    EXPECT_EQ(lock.release(), release_result::released);
}

// All of them are lost: the reader is told before its lease ends, and the others read on.
TEST_F(Modes, LostAnswersToAllRenewalsCostTheHoldInTime) {
    client locks = proxied(), other = direct();
    auto brief = shared;
    brief.ttl = 2s;
    auto lock = locks.acquire("it", brief);
    const auto answered = boot_clock::now();
    auto second = other.acquire("it", shared);
    const bell loss(lock);
    proxy.inject(
        {.which = script(scripts::renew_beside), .what = fate::lose_request, .times = 1000});
    ASSERT_TRUE(loss.rang_within(5s));
    EXPECT_LE(loss.when(), answered + 2s);
    EXPECT_EQ(second.state(), lock_state::held);
    EXPECT_EQ(second.release(), release_result::released);
}

// part -> carried out -> reply lost -> the permits are another's -> part is said again. It must not
// give back what is the other's.
TEST_F(Modes, AReleaseThatIsSaidAgainTakesNothingFromOthers) {
    client other = direct();
    for (const fate how : {fate::lose_reply, fate::cut_reply}) {
        client locks = proxied();
        warm(locks);
        auto lock = locks.acquire("it", two_of_three);
        proxy.inject({.which = script(scripts::part), .what = how});
        (void)lock.release();
        auto next = other.acquire("it", two_of_three);
        ASSERT_TRUE(eventually([&] { return proxy.count(script(scripts::part)) >= 2; }));
        EXPECT_GT(next.token(), lock.token());
        EXPECT_EQ(other.inspect("it").others.size(), 0U);
        EXPECT_FALSE(
            other
                .try_acquire("it",
                             {.ttl = long_ttl, .mode = lock_mode::permits, .permits = 2, .of = 3})
                .owns_lock());
        EXPECT_EQ(next.release(), release_result::released);
        EXPECT_TRUE(nobody_left());
        proxy.forget();
    }
}

// The message that lets a reader in is lost: it looks for itself, and takes what is its own.
TEST_F(Modes, AReaderWhoseMessageIsLostFindsItsHold) {
    client holder = direct(), waiting = proxied();
    auto lock = holder.acquire("it", {.ttl = long_ttl});
    held_lock got;
    beside waiter([&] { got = waiting.acquire("it", shared); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    proxy.drop_pushes(true);
    EXPECT_EQ(lock.release(), release_result::released);
    waiter.join();
    EXPECT_GT(got.token(), lock.token());
    EXPECT_EQ(got.release(), release_result::released);
    EXPECT_TRUE(clean());
}

// downgrade -> carried out -> reply lost -> said again: it is shared, once, with the same token.
TEST_F(Modes, ADowngradeWhoseAnswerIsLostIsSaidAgain) {
    for (const fate how : {fate::lose_reply, fate::cut_reply, fate::lose_request}) {
        client locks = proxied(), other = direct();
        warm(locks);
        auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
        const auto token = lock.token();
        proxy.inject({.which = script(scripts::downgrade), .what = how});
        lock.downgrade();
        auto beside_it = other.acquire("it", shared);
        EXPECT_EQ(lock.token(), token);
        EXPECT_EQ(beside_it.token(), token);
        EXPECT_FALSE(other.try_acquire("it", {.ttl = long_ttl}).owns_lock());
        EXPECT_EQ(lock.release(), release_result::released);
        EXPECT_EQ(beside_it.release(), release_result::released);
        EXPECT_TRUE(clean());
    }
}

// FLUSHALL: those who hold permits are told, and who waits says anew how many there are.
TEST_F(Modes, WaitersForPermitsSurviveAFlush) {
    client holder = direct(), waiting = direct();
    auto brief = two_of_three;
    brief.ttl = 2s;
    auto lock = holder.acquire("it", brief);
    const bell loss(lock);
    held_lock got;
    beside waiter([&] { got = waiting.acquire("it", two_of_three); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    server.ask({"FLUSHALL"});
    EXPECT_TRUE(loss.rang_within(5s));
    waiter.join();
    EXPECT_GT(got.token(), lock.token());
    EXPECT_EQ(waiting.inspect("it").permits, 3U);
}

// The server dies and comes back empty: readers are told, and those who read after it have a higher
// token.
TEST_F(Modes, ARestartedEmptyServerCostsEveryReader) {
    client one = direct(), two = proxied();
    auto brief = shared;
    brief.ttl = 2s;
    auto first = one.acquire("it", brief);
    auto second = two.acquire("it", brief);
    const bell loss(first), other_loss(second);
    server.kill9();
    server.start(false);
    EXPECT_TRUE(loss.rang_within(5s));
    EXPECT_TRUE(other_loss.rang_within(5s));
    auto next = one.acquire("it", shared);
    EXPECT_GT(next.token(), second.token());
}

// Keys of another type are one clear error, and stay as they are.
// A holder died, its lease has ended, and nobody has looked yet: the lock is free, and somebody
// waits, who is given it by whoever asks. A plain try may take it, a fair one must not.
TEST_F(Modes, AFairTryGoesPastNobodyWhoWaits) {
    client locks = direct();
    warm(locks);
    const std::string waiter = "stranger:00ff";
    const auto ear = server.connect();
    (void)ear->ask({"SUBSCRIBE", "pawl:c:0:stranger"});
    const auto stand = [&] {
        server.ask({"DEL", "pawl:{it}", "pawl:{it}:q", "pawl:{it}:w"});
        server.ask({"ZADD", "pawl:{it}:q", "1", waiter});
        server.ask({"HSET", "pawl:{it}:w", waiter, "9999999999999 60000 x 00ff:host:1:command"});
    };
    pawl::blocking::mutex fair_one(locks, "it", {.ttl = long_ttl, .fair = true});
    stand();
    EXPECT_FALSE(fair_one.try_lock());
    EXPECT_EQ(server.ask({"GET", "pawl:{it}"}).text.substr(0, 4), "00ff");
    stand();
    EXPECT_FALSE(locks.try_acquire("it", {.ttl = long_ttl, .fair = true}).owns_lock());
    stand();
    EXPECT_TRUE(locks.try_acquire("it", {.ttl = long_ttl}).owns_lock());
    server.ask({"DEL", "pawl:{it}:q", "pawl:{it}:w"});
}

//   A: holds | W's connection is gone, its place in line is not | M: PSUBSCRIBE * | A: releases
//   | M hears of W's grant, and W does not: it is passed over
TEST_F(Modes, AMonitorOfAllChannelsIsNoWaiter) {
    const auto monitor = server.connect();
    (void)monitor->ask({"PSUBSCRIBE", "*"});
    client locks = direct();
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    server.ask({"ZADD", "pawl:{it}:q", "1", "gone:00ff"});
    server.ask(
        {"HSET", "pawl:{it}:w", "gone:00ff", "9999999999999 60000 x 00ff;gone;1;host;command"});
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_EQ(server.ask({"EXISTS", "pawl:{it}"}).number(), 0);
    EXPECT_TRUE(nobody_left());
}

TEST_F(Modes, KeysOfAnotherTypeAreRefused) {
    client locks = direct();
    for (const std::string key : {"pawl:{it}", "pawl:{it}:d"}) {
        server.ask({"RPUSH", key, "somebody's"});
        for (const auto& options : {shared, two_of_three}) {
            const auto what = failure_of([&] { (void)locks.acquire("it", options); });
            ASSERT_TRUE(what.has_value()) << key;
            EXPECT_EQ(what->reason, errc::wrong_type) << key << what;
        }
        EXPECT_EQ(server.ask({"LLEN", key}).number(), 1) << key;
        server.ask({"DEL", key});
    }
}

}  // namespace
