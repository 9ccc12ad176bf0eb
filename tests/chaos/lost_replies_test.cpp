// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A request or its reply is lost with the connection: the client cannot know the result, and must
// not guess.
#include "redis_fixture.hpp"

#include <redis_scripts.hpp>

namespace {

using namespace chaos;
namespace scripts = pawl::redis::scripts;

class LostReplies : public testing::Test, protected redis_fixture {
protected:
    // With a loaded script and an open connection.
    void warm(client& locks) {
        for (int i = 0; i < 2; ++i)
            (void)locks.acquire("warm", {.ttl = long_ttl, .wait = patience}).release();
    }
};

// acquire -> executed -> reply lost. A waiting acquire repeats the request with a new owner, and
// must not queue behind its own orphaned hold until the ttl of a minute is over.
TEST_F(LostReplies, OfAnAcquireThatWaitsIsNoSelfDeadlock) {
    for (const fault_kind kind :
         {fault_kind::lose_reply, fault_kind::cut_reply, fault_kind::lose_request}) {
        client locks = proxied_client();
        warm(locks);
        const auto before = proxy.strike_count();
        proxy.inject({.matches = script(scripts::acquire), .kind = kind});
        auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
        EXPECT_EQ(proxy.strike_count(), before + 1);
        EXPECT_EQ(lock.state(), lock_state::held);
        EXPECT_FALSE(direct_client().try_acquire("it", {.ttl = long_ttl}).owns_lock());
        EXPECT_EQ(lock.release(), release_result::released);
        EXPECT_TRUE(becomes_clean());
    }
}

// The same for a try: the result is unknown, and a possible hold is released.
TEST_F(LostReplies, OfATryAreReportedAndUndone) {
    for (const fault_kind kind :
         {fault_kind::lose_reply, fault_kind::cut_reply, fault_kind::lose_request}) {
        client locks = proxied_client();
        warm(locks);
        proxy.inject({.matches = script(scripts::acquire), .kind = kind});
        const auto failed = failure_of([&] { (void)locks.try_acquire("it", {.ttl = long_ttl}); });
        ASSERT_TRUE(failed.has_value());
        EXPECT_EQ(failed->reason, errc::unreachable) << failed;
        EXPECT_TRUE(becomes_clean());
    }
}

//   A tries, and the server is stopped before it reads the request | A gives up; the server stays
//   stopped for longer than the lease | the server continues: it executes A's request, for a whole
//   lease, and the hold has no owner: A must still undo it
TEST_F(LostReplies, OfAServerThatWasStoppedForLongerThanTheLeaseAreUndone) {
    client locks = proxied_client("?reply_timeout=300");
    warm(locks);
    const auto undone = proxy.count(redis_fixture::script(scripts::leave));
    server.freeze();
    const auto failed = failure_of([&] { (void)locks.try_acquire("it", {.ttl = 500ms}); });
    const auto end = boot_clock::now() + 2s;
    (void)eventually([&] { return boot_clock::now() >= end; });
    server.thaw();
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::unreachable) << failed;
    EXPECT_TRUE(
        eventually([&] { return proxy.count(redis_fixture::script(scripts::leave)) > undone; }));
    EXPECT_TRUE(becomes_clean());
}

// Several locks are requested in one request, it is executed, and its reply is lost. A waiting
// acquire repeats the request for each; a try reports that the result is unknown. Neither leaves a
// hold behind.
TEST_F(LostReplies, OfSeveralLocksLeaveNone) {
    for (const fault_kind kind :
         {fault_kind::lose_reply, fault_kind::cut_reply, fault_kind::lose_request}) {
        client locks = proxied_client();
        (void)locks.acquire_all({"a", "b", "c"}, {.ttl = long_ttl, .wait = patience}).release();
        ASSERT_TRUE(becomes_clean());
        proxy.inject({.matches = script(scripts::acquire_batch), .kind = kind});
        auto all = locks.acquire_all({"a", "b", "c"}, {.ttl = long_ttl, .wait = patience});
        EXPECT_EQ(all.state(), lock_state::held);
        EXPECT_EQ(all.release(), release_result::released);
        EXPECT_TRUE(becomes_clean());
        proxy.inject({.matches = script(scripts::acquire_batch), .kind = kind});
        const auto failed = failure_of([&] {
            (void)locks.try_acquire_all({"a", "b", "c"}, {.ttl = long_ttl});
        });
        ASSERT_TRUE(failed.has_value());
        EXPECT_EQ(failed->reason, errc::unreachable) << failed;
        EXPECT_TRUE(becomes_clean());
    }
}

// The lock was held by another: the place in the queue that the lost reply was about must not stay
// behind either.
TEST_F(LostReplies, OfAnAcquireOfAHeldLockLeaveNoPlaceInLine) {
    client holder = direct_client(), locks = proxied_client();
    warm(locks);
    auto lock = holder.acquire("it", {.ttl = long_ttl});
    proxy.inject({.matches = script(scripts::acquire), .kind = fault_kind::lose_reply});
    const auto failed = failure_of([&] { (void)locks.acquire("it", {.ttl = 2s, .wait = 2s}); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::timed_out) << failed;
    EXPECT_TRUE(eventually([&] { return waiters("it") == 0; }));
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

//   A requests a downgrade; it is executed, and the reply is lost | A releases the lock, as the
//   exclusive hold that it knows: nothing is freed | the downgrade is repeated, answered and
//   undone: no reader stays until the ttl of a minute is over
TEST_F(LostReplies, OfADowngradeThatIsReleasedMeanwhileLeaveNoReader) {
    client locks = proxied_client();
    warm(locks);
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    const auto before = proxy.strike_count();
    proxy.inject({.matches = script(scripts::downgrade), .kind = fault_kind::lose_reply});
    std::optional<pawl::errc> failed;
    std::jthread acquiring([&] {
        const auto thrown = failure_of([&] { lock.downgrade(); });
        if (thrown) failed = thrown->reason;
    });
    EXPECT_TRUE(eventually([&] { return proxy.strike_count() == before + 1; }));
    (void)lock.release();
    acquiring.join();
    EXPECT_EQ(failed, errc::lost);
    EXPECT_TRUE(becomes_clean());
}

// A lock that was handed over belongs to the next holder for a short window, until a renewal
// confirms it. With the ttl of a minute, that window is shorter than the interval of the renewals.
TEST_F(LostReplies, OfTheRenewalThatConfirmsAHandOffCostNothing) {
    for (const fault_kind kind : {fault_kind::lose_request, fault_kind::lose_reply,
                                  fault_kind::cut_reply, fault_kind::reply}) {
        client first = direct_client(), locks = proxied_client();
        warm(locks);
        auto lock = first.acquire("it", {.ttl = long_ttl, .wait = patience});
        const auto before = proxy.strike_count();
        proxy.inject(
            {.matches = script(scripts::renew), .kind = kind, .reply = "-BUSY in a script\r\n"});
        std::jthread release([&] {
            (void)eventually([&] { return waiters("it") == 1; });
            (void)lock.release();
        });
        auto passed = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
        ASSERT_TRUE(eventually([&] { return proxy.strike_count() == before + 1; }));
        EXPECT_TRUE(eventually([&] { return passed.safe_until() > boot_clock::now() + 20s; }));
        EXPECT_EQ(passed.state(), lock_state::held);
        EXPECT_EQ(passed.release(), release_result::released);
        EXPECT_TRUE(becomes_clean());
    }
}

// renew -> executed -> reply lost. There is time for another renewal: nothing is lost.
TEST_F(LostReplies, OfARenewalCostNothing) {
    client locks = proxied_client();
    auto lock = locks.acquire("it", {.ttl = 3s, .wait = patience});
    for (const fault_kind kind :
         {fault_kind::lose_reply, fault_kind::cut_reply, fault_kind::lose_request}) {
        const auto before = proxy.strike_count();
        proxy.inject({.matches = script(scripts::renew), .kind = kind});
        ASSERT_TRUE(eventually([&] { return proxy.strike_count() == before + 1; }));
        const auto previous_deadline = lock.safe_until();
        ASSERT_TRUE(eventually([&] { return lock.safe_until() > previous_deadline; }));
        EXPECT_EQ(lock.state(), lock_state::held);
    }
    EXPECT_EQ(lock.release(), release_result::released);
}

// Every renewal's reply is lost until the lease is over: the loss is reported in time.
TEST_F(LostReplies, OfAllRenewalsCostTheLockInTime) {
    client locks = proxied_client();
    const auto began = boot_clock::now();
    auto lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
    const auto answered = boot_clock::now();
    const loss_recorder loss(lock);
    proxy.inject(
        {.matches = script(scripts::renew), .kind = fault_kind::lose_reply, .times = 1000});
    ASSERT_TRUE(loss.is_told_within(5s));
    EXPECT_LE(loss.told_at(), answered + 2s);
    EXPECT_GE(loss.told_at(), began + 1s);
}

// release -> executed -> reply lost -> another client acquires the lock -> release is repeated. It
// must not take the lock from its new owner.
TEST_F(LostReplies, OfAReleaseDoNotHurtTheNextHolder) {
    client other = direct_client();
    for (const fault_kind kind : {fault_kind::lose_reply, fault_kind::cut_reply}) {
        client locks = proxied_client();
        warm(locks);
        auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
        proxy.inject({.matches = script(scripts::release), .kind = kind});
        const release_result release_outcome = lock.release();
        EXPECT_TRUE(release_outcome == release_result::unknown ||
                    release_outcome == release_result::released);
        auto next = other.acquire("it", {.ttl = long_ttl, .wait = patience});
        ASSERT_TRUE(eventually([&] { return proxy.count(script(scripts::release)) >= 2; }));
        EXPECT_GT(next.token(), lock.token());
        EXPECT_TRUE(is_held("it"));
        EXPECT_EQ(next.release(), release_result::released);
        EXPECT_TRUE(becomes_clean());
        proxy.forget_commands();
    }
}

// A release is lost on the way: it is repeated in the background, long before the ttl of a minute
// is over.
TEST_F(LostReplies, OfAReleaseThatNeverArrivedFreeItSoon) {
    client locks = proxied_client();
    warm(locks);
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    proxy.inject({.matches = script(scripts::release), .kind = fault_kind::lose_request});
    (void)lock.release();
    EXPECT_TRUE(becomes_clean());
    EXPECT_EQ(lock.state(), lock_state::released);
}

// The same with a dropped handle, and with a client that ends at once: its destructor waits for the
// release.
TEST_F(LostReplies, OfAReleaseInADestructorFreeItSoon) {
    {
        client locks = proxied_client();
        warm(locks);
        proxy.inject({.matches = script(scripts::release), .kind = fault_kind::lose_request});
        const auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    }
    EXPECT_TRUE(becomes_clean());
}

// A release hands the lock over to a waiter; the reply is lost. The waiter has the lock, once.
TEST_F(LostReplies, OfAHandOffDoNotStopTheWaiter) {
    client locks = proxied_client(), other = direct_client();
    warm(locks);
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    held_lock acquired;
    background_task waiting(
        [&] { acquired = other.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    proxy.inject({.matches = script(scripts::release), .kind = fault_kind::lose_reply});
    (void)lock.release();
    waiting.join();
    EXPECT_GT(acquired.token(), lock.token());
    EXPECT_EQ(acquired.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

// The reply to an acquire is late, and the caller has given up: the granted hold is released.
TEST_F(LostReplies, AGrantThatComesAfterTheCancelIsGivenBack) {
    client locks = proxied_client();
    warm(locks);
    proxy.inject(
        {.matches = script(scripts::acquire), .kind = fault_kind::delay_reply, .delay = 500ms});
    std::stop_source stop;
    std::optional<failure> failed;
    background_task acquiring([&] {
        failed = failure_of([&] {
            (void)locks.acquire("it", {.ttl = long_ttl, .wait = patience}, stop.get_token());
        });
    });
    ASSERT_TRUE(eventually([&] { return is_held("it"); }));
    stop.request_stop();
    acquiring.join();
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::cancelled);
    EXPECT_TRUE(becomes_clean());
}

// A waiter is granted the lock; the message is on its way when the waiter gives up. Another waiter
// is queued behind it.
TEST_F(LostReplies, AHandOffThatMeetsACancelIsPassedOn) {
    client holder = direct_client(), first = proxied_client(), second = direct_client();
    auto lock = holder.acquire("it", {.ttl = long_ttl});
    std::stop_source stop;
    std::optional<failure> failed;
    background_task leaving([&] {
        failed = failure_of([&] {
            (void)first.acquire("it", {.ttl = long_ttl, .wait = patience}, stop.get_token());
        });
    });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    held_lock acquired;
    background_task waiting(
        [&] { acquired = second.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 2; }));
    proxy.delay(0ms, 300ms);
    EXPECT_EQ(lock.release(), release_result::released);
    stop.request_stop();
    leaving.join();
    EXPECT_EQ(failed->reason, errc::cancelled);
    waiting.join();
    EXPECT_EQ(acquired.release(), release_result::released);
    proxy.delay(0ms, 0ms);
    EXPECT_TRUE(becomes_clean());
}

// The message that grants the lock is lost. The waiter refreshes and finds its own grant.
TEST_F(LostReplies, AGrantWhoseMessageIsLostIsFound) {
    client holder = direct_client(), waiting = proxied_client();
    auto lock = holder.acquire("it", {.ttl = long_ttl});
    held_lock acquired;
    background_task waiter(
        [&] { acquired = waiting.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    proxy.drop_pushes(true);
    EXPECT_EQ(lock.release(), release_result::released);
    waiter.join();
    EXPECT_GT(acquired.token(), lock.token());
    EXPECT_EQ(acquired.state(), lock_state::held);
    EXPECT_EQ(acquired.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

// Renewals and releases that arrive twice have the same effect as once.
TEST_F(LostReplies, RequestsThatArriveTwiceAreHarmless) {
    client locks = proxied_client(), other = direct_client();
    auto lock = locks.acquire("it", {.ttl = 1500ms, .wait = patience});
    proxy.inject(
        {.matches = script(scripts::renew), .kind = fault_kind::repeat_request, .times = 3});
    ASSERT_TRUE(eventually([&] { return proxy.strike_count() == 3; }));
    EXPECT_EQ(lock.state(), lock_state::held);
    held_lock acquired;
    background_task waiting(
        [&] { acquired = other.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    proxy.inject({.matches = script(scripts::release), .kind = fault_kind::repeat_request});
    EXPECT_EQ(lock.release(), release_result::released);
    waiting.join();
    EXPECT_EQ(acquired.state(), lock_state::held);
    EXPECT_TRUE(is_held("it"));
}

}  // namespace
