// A request or its answer is lost with the connection: the client cannot know what was done, and
// must not guess.
#include "scene.hpp"

#include <redis_scripts.hpp>

namespace {

using namespace chaos;
namespace scripts = pawl::redis::scripts;

class LostReplies : public testing::Test, protected scene {
protected:
    // With a script that the server knows and a connection that is up.
    void warm(client& locks) {
        for (int i = 0; i < 2; ++i)
            (void)locks.acquire("warm", {.ttl = long_ttl, .wait = patience}).release();
    }
};

// acquire -> carried out -> reply lost. Waiting: it asks again, as somebody else, and must not
// stand behind its own ghost until the ttl of a minute is over.
TEST_F(LostReplies, OfAnAcquireThatWaitsIsNoSelfDeadlock) {
    for (const fate how : {fate::lose_reply, fate::cut_reply, fate::lose_request}) {
        client locks = proxied();
        warm(locks);
        const auto before = proxy.struck();
        proxy.inject({.which = script(scripts::acquire), .what = how});
        auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
        EXPECT_EQ(proxy.struck(), before + 1);
        EXPECT_EQ(lock.state(), lock_state::held);
        EXPECT_FALSE(direct().try_acquire("it", {.ttl = long_ttl}).owns_lock());
        EXPECT_EQ(lock.release(), release_result::released);
        EXPECT_TRUE(clean());
    }
}

// The same for one that asks once: it says that it does not know, and what may have been given is
// given back.
TEST_F(LostReplies, OfATryAreReportedAndUndone) {
    for (const fate how : {fate::lose_reply, fate::cut_reply, fate::lose_request}) {
        client locks = proxied();
        warm(locks);
        proxy.inject({.which = script(scripts::acquire), .what = how});
        const auto what = failure_of([&] { (void)locks.try_acquire("it", {.ttl = long_ttl}); });
        ASSERT_TRUE(what.has_value());
        EXPECT_EQ(what->reason, errc::unreachable) << what;
        EXPECT_TRUE(clean());
    }
}

//   A tries, and the server is stopped before it reads that | A gives up; the server stays away for
//   longer than the lease would have lasted | the server goes on: it carries out what A sent, for a
//   whole lease, and nobody is there: A must still undo it
TEST_F(LostReplies, OfAServerThatWasStoppedForLongerThanTheLeaseAreUndone) {
    client locks = proxied("?reply_timeout_ms=300");
    warm(locks);
    const auto undone = proxy.count(scene::script(scripts::leave));
    server.freeze();
    const auto what = failure_of([&] { (void)locks.try_acquire("it", {.ttl = 500ms}); });
    const auto end = boot_clock::now() + 2s;
    (void)eventually([&] { return boot_clock::now() >= end; });
    server.thaw();
    ASSERT_TRUE(what.has_value());
    EXPECT_EQ(what->reason, errc::unreachable) << what;
    EXPECT_TRUE(eventually([&] { return proxy.count(scene::script(scripts::leave)) > undone; }));
    EXPECT_TRUE(clean());
}

// Several are asked for in one request, it is carried out, and its answer is lost. One that waits
// asks again for each; one that does not says that it does not know. Neither leaves any behind.
TEST_F(LostReplies, OfSeveralLocksLeaveNone) {
    for (const fate how : {fate::lose_reply, fate::cut_reply, fate::lose_request}) {
        client locks = proxied();
        (void)locks.acquire_all({"a", "b", "c"}, {.ttl = long_ttl, .wait = patience}).release();
        ASSERT_TRUE(clean());
        proxy.inject({.which = script(scripts::several), .what = how});
        auto all = locks.acquire_all({"a", "b", "c"}, {.ttl = long_ttl, .wait = patience});
        EXPECT_EQ(all.state(), lock_state::held);
        EXPECT_EQ(all.release(), release_result::released);
        EXPECT_TRUE(clean());
        proxy.inject({.which = script(scripts::several), .what = how});
        const auto what = failure_of([&] {
            (void)locks.try_acquire_all({"a", "b", "c"}, {.ttl = long_ttl});
        });
        ASSERT_TRUE(what.has_value());
        EXPECT_EQ(what->reason, errc::unreachable) << what;
        EXPECT_TRUE(clean());
    }
}

// It was somebody else's: the place in line that the lost answer was about must not stay behind
// either.
TEST_F(LostReplies, OfAnAcquireOfAHeldLockLeaveNoPlaceInLine) {
    client holder = direct(), locks = proxied();
    warm(locks);
    auto lock = holder.acquire("it", {.ttl = long_ttl});
    proxy.inject({.which = script(scripts::acquire), .what = fate::lose_reply});
    const auto what = failure_of([&] { (void)locks.acquire("it", {.ttl = 2s, .wait = 2s}); });
    ASSERT_TRUE(what.has_value());
    EXPECT_EQ(what->reason, errc::timed_out) << what;
    EXPECT_TRUE(eventually([&] { return waiters("it") == 0; }));
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_TRUE(clean());
}

//   A asks for a downgrade; it is carried out, and the answer is lost | A gives the lock back, as
//   the exclusive hold that it knows: nothing is freed | the downgrade is asked again, answered,
//   and undone: no reader stays until the ttl of a minute is over
TEST_F(LostReplies, OfADowngradeThatIsReleasedMeanwhileLeaveNoReader) {
    client locks = proxied();
    warm(locks);
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    const auto before = proxy.struck();
    proxy.inject({.which = script(scripts::downgrade), .what = fate::lose_reply});
    std::optional<pawl::errc> failed;
    std::jthread asking([&] {
        const auto what = failure_of([&] { lock.downgrade(); });
        if (what) failed = what->reason;
    });
    EXPECT_TRUE(eventually([&] { return proxy.struck() == before + 1; }));
    (void)lock.release();
    asking.join();
    EXPECT_EQ(failed, errc::lost);
    EXPECT_TRUE(clean());
}

// A lock that was passed on is the next holder's for a moment, until a renewal confirms it. With
// the ttl of a minute that is shorter than the pauses of its rhythm.
TEST_F(LostReplies, OfTheRenewalThatConfirmsAHandOffCostNothing) {
    for (const fate how : {fate::lose_request, fate::lose_reply, fate::cut_reply, fate::answer}) {
        client first = direct(), locks = proxied();
        warm(locks);
        auto lock = first.acquire("it", {.ttl = long_ttl, .wait = patience});
        const auto before = proxy.struck();
        proxy.inject(
            {.which = script(scripts::renew), .what = how, .text = "-BUSY in a script\r\n"});
        std::jthread release([&] {
            (void)eventually([&] { return waiters("it") == 1; });
            (void)lock.release();
        });
        auto passed = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
        ASSERT_TRUE(eventually([&] { return proxy.struck() == before + 1; }));
        EXPECT_TRUE(eventually([&] { return passed.safe_until() > boot_clock::now() + 20s; }));
        EXPECT_EQ(passed.state(), lock_state::held);
        EXPECT_EQ(passed.release(), release_result::released);
        EXPECT_TRUE(clean());
    }
}

// renew -> carried out -> reply lost. There is time for another one: nothing is lost.
TEST_F(LostReplies, OfARenewalCostNothing) {
    client locks = proxied();
    auto lock = locks.acquire("it", {.ttl = 3s, .wait = patience});
    for (const fate how : {fate::lose_reply, fate::cut_reply, fate::lose_request}) {
        const auto before = proxy.struck();
        proxy.inject({.which = script(scripts::renew), .what = how});
        ASSERT_TRUE(eventually([&] { return proxy.struck() == before + 1; }));
        const auto then = lock.safe_until();
        ASSERT_TRUE(eventually([&] { return lock.safe_until() > then; }));
        EXPECT_EQ(lock.state(), lock_state::held);
    }
    EXPECT_EQ(lock.release(), release_result::released);
}

// Every renewal's reply is lost until the lease is over: lost in time.
TEST_F(LostReplies, OfAllRenewalsCostTheLockInTime) {
    client locks = proxied();
    const auto asked = boot_clock::now();
    auto lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
    const auto answered = boot_clock::now();
    const bell loss(lock);
    proxy.inject({.which = script(scripts::renew), .what = fate::lose_reply, .times = 1000});
    ASSERT_TRUE(loss.rang_within(5s));
    EXPECT_LE(loss.when(), answered + 2s);
    EXPECT_GE(loss.when(), asked + 1s);
}

// release -> carried out -> reply lost -> somebody else takes the lock -> release is said again.
// It must not take the lock from its new owner.
TEST_F(LostReplies, OfAReleaseDoNotHurtTheNextHolder) {
    client other = direct();
    for (const fate how : {fate::lose_reply, fate::cut_reply}) {
        client locks = proxied();
        warm(locks);
        auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
        proxy.inject({.which = script(scripts::release), .what = how});
        const release_result found = lock.release();
        EXPECT_TRUE(found == release_result::unknown || found == release_result::released);
        auto next = other.acquire("it", {.ttl = long_ttl, .wait = patience});
        ASSERT_TRUE(eventually([&] { return proxy.count(script(scripts::release)) >= 2; }));
        EXPECT_GT(next.token(), lock.token());
        EXPECT_TRUE(held("it"));
        EXPECT_EQ(next.release(), release_result::released);
        EXPECT_TRUE(clean());
        proxy.forget();
    }
}

// release is lost on the way: it is said again in the background, long before the ttl of a minute
// is over.
TEST_F(LostReplies, OfAReleaseThatNeverArrivedFreeItSoon) {
    client locks = proxied();
    warm(locks);
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    proxy.inject({.which = script(scripts::release), .what = fate::lose_request});
    (void)lock.release();
    EXPECT_TRUE(clean());
    EXPECT_EQ(lock.state(), lock_state::released);
}

// The same with a dropped handle, and with a client that ends at once: its destructor lets it
// finish.
TEST_F(LostReplies, OfAReleaseInADestructorFreeItSoon) {
    {
        client locks = proxied();
        warm(locks);
        proxy.inject({.which = script(scripts::release), .what = fate::lose_request});
        const auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    }
    EXPECT_TRUE(clean());
}

// Release hands the lock over to a waiter; the releaser's answer is lost. The waiter has it, once.
TEST_F(LostReplies, OfAHandOffDoNotStopTheWaiter) {
    client locks = proxied(), other = direct();
    warm(locks);
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    held_lock got;
    beside waiting([&] { got = other.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    proxy.inject({.which = script(scripts::release), .what = fate::lose_reply});
    (void)lock.release();
    waiting.join();
    EXPECT_GT(got.token(), lock.token());
    EXPECT_EQ(got.release(), release_result::released);
    EXPECT_TRUE(clean());
}

// The answer to an acquire is late, and the caller has given up: what it gives is given back.
TEST_F(LostReplies, AGrantThatComesAfterTheCancelIsGivenBack) {
    client locks = proxied();
    warm(locks);
    proxy.inject({.which = script(scripts::acquire), .what = fate::delay_reply, .by = 500ms});
    std::stop_source stop;
    std::optional<failure> what;
    beside asking([&] {
        what = failure_of([&] {
            (void)locks.acquire("it", {.ttl = long_ttl, .wait = patience}, stop.get_token());
        });
    });
    ASSERT_TRUE(eventually([&] { return held("it"); }));
    stop.request_stop();
    asking.join();
    ASSERT_TRUE(what.has_value());
    EXPECT_EQ(what->reason, errc::cancelled);
    EXPECT_TRUE(clean());
}

// A waiter is given the lock; the message is on its way when the waiter gives up. Somebody else
// waits behind it.
TEST_F(LostReplies, AHandOffThatMeetsACancelIsPassedOn) {
    client holder = direct(), first = proxied(), second = direct();
    auto lock = holder.acquire("it", {.ttl = long_ttl});
    std::stop_source stop;
    std::optional<failure> what;
    beside leaving([&] {
        what = failure_of([&] {
            (void)first.acquire("it", {.ttl = long_ttl, .wait = patience}, stop.get_token());
        });
    });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    held_lock got;
    beside waiting([&] { got = second.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 2; }));
    proxy.delay(0ms, 300ms);
    EXPECT_EQ(lock.release(), release_result::released);
    stop.request_stop();
    leaving.join();
    EXPECT_EQ(what->reason, errc::cancelled);
    waiting.join();
    EXPECT_EQ(got.release(), release_result::released);
    proxy.delay(0ms, 0ms);
    EXPECT_TRUE(clean());
}

// The message that gives the lock is lost. The waiter looks for itself, and takes what is its own.
TEST_F(LostReplies, AGrantWhoseMessageIsLostIsFound) {
    client holder = direct(), waiting = proxied();
    auto lock = holder.acquire("it", {.ttl = long_ttl});
    held_lock got;
    beside waiter([&] { got = waiting.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    proxy.drop_pushes(true);
    EXPECT_EQ(lock.release(), release_result::released);
    waiter.join();
    EXPECT_GT(got.token(), lock.token());
    EXPECT_EQ(got.state(), lock_state::held);
    EXPECT_EQ(got.release(), release_result::released);
    EXPECT_TRUE(clean());
}

// Renewals and releases that arrive twice do what they would have done once.
TEST_F(LostReplies, RequestsThatArriveTwiceAreHarmless) {
    client locks = proxied(), other = direct();
    auto lock = locks.acquire("it", {.ttl = 1500ms, .wait = patience});
    proxy.inject({.which = script(scripts::renew), .what = fate::repeat_request, .times = 3});
    ASSERT_TRUE(eventually([&] { return proxy.struck() == 3; }));
    EXPECT_EQ(lock.state(), lock_state::held);
    held_lock got;
    beside waiting([&] { got = other.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    proxy.inject({.which = script(scripts::release), .what = fate::repeat_request});
    EXPECT_EQ(lock.release(), release_result::released);
    waiting.join();
    EXPECT_EQ(got.state(), lock_state::held);
    EXPECT_TRUE(held("it"));
}

}  // namespace
