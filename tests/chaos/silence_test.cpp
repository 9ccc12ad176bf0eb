// The server, or the way to it, falls silent. Whoever holds a lock is told in time; nobody waits
// for ever.
#include "scene.hpp"

#include <redis_scripts.hpp>

namespace {

using namespace chaos;
namespace scripts = pawl::redis::scripts;

class Silence : public testing::Test, protected scene {
protected:
    // Renewals that had reached the server's door by then.
    std::optional<pawl::time_point> last_renewal_before(pawl::time_point then) {
        std::optional<pawl::time_point> last;
        for (const auto& each : proxy.seen())
            if (each.when <= then && script(scripts::renew)(each.words)) last = each.when;
        return last;
    }
    bool renewed(std::size_t times) {
        return eventually([&] { return proxy.count(script(scripts::renew)) >= times; });
    }
};

// acquire (ttl 2 s) … renew … renew … SIGSTOP of the server … nothing is answered any more
// The loss must be told less than 2 s after the last good renewal was sent.
TEST_F(Silence, AFrozenServerCostsTheLockInTime) {
    client locks = proxied();
    auto lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
    const bell loss(lock);
    ASSERT_TRUE(renewed(2));
    const auto frozen_at = boot_clock::now();
    server.freeze();
    ASSERT_TRUE(loss.rang_within(5s));
    const auto sent = last_renewal_before(frozen_at);
    ASSERT_TRUE(sent.has_value());
    EXPECT_LE(loss.when(), *sent + 2s);
    EXPECT_EQ(lock.state(), lock_state::lost);
    const auto old_token = lock.token();
    server.thaw();
    auto next = locks.acquire("it", {.ttl = 2s, .wait = patience});
    EXPECT_GT(next.token(), old_token);
    EXPECT_NE(lock.release(), release_result::released);
    EXPECT_EQ(next.state(), lock_state::held);
    EXPECT_EQ(next.release(), release_result::released);
    EXPECT_TRUE(clean());
}

// The same when not the server but the way is dead: packets vanish, and no connection breaks.
TEST_F(Silence, AHalfOpenWayCostsTheLockInTime) {
    client locks = proxied();
    auto lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
    const bell loss(lock);
    ASSERT_TRUE(renewed(1));
    const auto frozen_at = boot_clock::now();
    proxy.freeze(true);
    ASSERT_TRUE(loss.rang_within(5s));
    EXPECT_LE(loss.when(), last_renewal_before(frozen_at).value() + 2s);
    proxy.freeze(false);
    auto next = locks.acquire("it", {.ttl = 2s, .wait = patience});
    EXPECT_GT(next.token(), lock.token());
}

// A silence that is shorter than the lease is survived: the renewal is tried again inside it.
TEST_F(Silence, AShortOneCostsNothing) {
    client locks = proxied("?reply_timeout_ms=400");
    auto lock = locks.acquire("it", {.ttl = 4s, .wait = patience});
    ASSERT_TRUE(renewed(1));
    const auto before = lock.safe_until();
    proxy.freeze(true);
    std::this_thread::sleep_for(1500ms);  // the silence
    proxy.freeze(false);
    ASSERT_TRUE(eventually([&] { return lock.safe_until() > before + 2s; }));
    EXPECT_EQ(lock.state(), lock_state::held);
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_TRUE(clean());
}

// Time out, and the answer is on its way: the lock was not free in time, and the server is there.
TEST_F(Silence, AWaitThatEndsDuringAQuestionIsNoSilence) {
    client locks = proxied(), holder = direct();
    (void)locks.inspect("it");
    auto lock = holder.acquire("it", {.ttl = long_ttl});
    proxy.delay(0ms, 120ms);
    for (int i = 0; i < 5; ++i) {
        const auto why = failure_of([&] { (void)locks.acquire("it", {.ttl = 2s, .wait = 1ms}); });
        ASSERT_TRUE(why.has_value());
        EXPECT_EQ(why->reason, errc::timed_out) << why->sentence;
    }
}

// CLIENT PAUSE: the server takes requests and answers them late. Within the lease: nothing happens.
TEST_F(Silence, AShortClientPauseCostsNothing) {
    client locks = proxied();
    auto lock = locks.acquire("it", {.ttl = 3s, .wait = patience});
    ASSERT_TRUE(renewed(1));
    (void)server.ask({"CLIENT", "PAUSE", "1200", "ALL"});
    const auto before = lock.safe_until();
    ASSERT_TRUE(eventually([&] { return lock.safe_until() > before + 2s; }));
    EXPECT_EQ(lock.release(), release_result::released);
}

// A pause that is longer than the lease: lost in time, although the answer to a renewal comes in
// the end.
TEST_F(Silence, ALongClientPauseCostsTheLockInTime) {
    client locks = proxied();
    auto lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
    const bell loss(lock);
    ASSERT_TRUE(renewed(1));
    const auto paused_at = boot_clock::now();
    (void)server.ask({"CLIENT", "PAUSE", "3500", "ALL"});
    ASSERT_TRUE(loss.rang_within(5s));
    EXPECT_LE(loss.when(), last_renewal_before(paused_at + 50ms).value() + 2s);
    EXPECT_EQ(lock.state(), lock_state::lost);
    auto next = locks.acquire("it", {.ttl = 2s, .wait = patience});
    EXPECT_GT(next.token(), lock.token());
    EXPECT_EQ(lock.state(), lock_state::lost);
}

// The answer to the only renewal in time comes after the deadline: a late success is a loss.
TEST_F(Silence, ARenewalThatIsAnsweredTooLateIsALoss) {
    client locks = proxied();
    auto lock = locks.acquire("it", {.ttl = 1500ms, .wait = patience});
    const bell loss(lock);
    proxy.inject(
        {.which = script(scripts::renew), .what = fate::delay_reply, .by = 2s, .times = 100});
    ASSERT_TRUE(loss.rang_within(5s));
    EXPECT_LE(loss.when(), proxy.seen().front().when + 2s + 1500ms);
    ASSERT_TRUE(eventually([&] { return proxy.count(script(scripts::renew)) >= 1; }));
    proxy.heal();
    EXPECT_EQ(lock.state(), lock_state::lost);
    const auto until = lock.safe_until();
    EXPECT_LE(until, boot_clock::now());
}

TEST_F(Silence, ABoundedWaitAtAFrozenServerEnds) {
    client locks = proxied();
    (void)locks.try_acquire("warm", {.ttl = long_ttl});
    server.freeze();
    const auto what = failure_of([&] { (void)locks.acquire("it", {.ttl = long_ttl, .wait = 1s}); });
    ASSERT_TRUE(what.has_value());
    EXPECT_TRUE(what->reason == errc::timed_out || what->reason == errc::unreachable) << what;
    server.thaw();
    EXPECT_TRUE(clean());
}

TEST_F(Silence, ATryAtAFrozenServerEnds) {
    client locks = proxied("?reply_timeout_ms=700");
    (void)locks.try_acquire("warm", {.ttl = long_ttl});
    server.freeze();
    const auto what = failure_of([&] { (void)locks.try_acquire("it", {.ttl = long_ttl}); });
    ASSERT_TRUE(what.has_value());
    EXPECT_EQ(what->reason, errc::unreachable) << what;
    server.thaw();
    EXPECT_TRUE(clean());
}

// SIGSTOP of the server, acquire is sent, given up, SIGCONT: the server carries out what waited in
// its socket. The lock that nobody wants any more must be given back, long before its ttl.
TEST_F(Silence, AZombieAcquireIsGivenBack) {
    client locks = proxied();
    (void)locks.try_acquire("warm", {.ttl = long_ttl});
    server.freeze();
    std::stop_source stop;
    std::optional<failure> what;
    beside asking([&] {
        what = failure_of([&] {
            (void)locks.acquire("it", {.ttl = long_ttl, .wait = patience}, stop.get_token());
        });
    });
    ASSERT_TRUE(eventually([&] { return proxy.count(script(scripts::acquire)) >= 2; }));
    stop.request_stop();
    asking.join();
    ASSERT_TRUE(what.has_value());
    EXPECT_EQ(what->reason, errc::cancelled);
    server.thaw();
    EXPECT_TRUE(clean());
}

// The same, and the client is gone before the server wakes up: only the lease can free the lock,
// and does.
TEST_F(Silence, AZombieOfAClientThatIsGoneEndsWithItsLease) {
    {
        client locks = proxied("?reply_timeout_ms=300");
        (void)locks.try_acquire("warm", {.ttl = 2s});
        server.freeze();
        (void)failure_of([&] { (void)locks.try_acquire("it", {.ttl = 2s}); });
    }
    server.thaw();
    EXPECT_TRUE(clean());
}

// A waiter's connection is half-open when the lock is released: nobody can wake it. It must notice,
// come back, and get the lock.
TEST_F(Silence, AWaiterOnAHalfOpenConnectionComesBack) {
    client holder = direct(), waiting = proxied("?reply_timeout_ms=500");
    auto lock = holder.acquire("it", {.ttl = long_ttl});
    held_lock got;
    beside waiter([&] { got = waiting.acquire("it", {.ttl = 2s, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    proxy.inject({.which = support::any_command(), .what = fate::swallow});
    ASSERT_TRUE(eventually([&] { return proxy.struck() == 1; }));
    EXPECT_EQ(lock.release(), release_result::released);
    waiter.join();
    EXPECT_GT(got.token(), lock.token());
    EXPECT_EQ(got.release(), release_result::released);
    EXPECT_TRUE(clean());
}

// While the server runs a script that does not end it answers BUSY to everybody.
TEST_F(Silence, ABusyScriptIsSaidAndSurvived) {
    (void)server.ask({"CONFIG", "SET", "busy-reply-threshold", "50"});
    client locks = proxied();
    auto lock = locks.acquire("held", {.ttl = 2s, .wait = patience});
    const bell loss(lock);
    ASSERT_TRUE(renewed(1));
    const auto busy_at = boot_clock::now();
    const auto culprit = server.connect();
    culprit->send({"EVAL", "while true do end", "0"});
    ASSERT_TRUE(eventually([&] { return server.ask({"GET", "x"}).text.starts_with("BUSY"); }));
    const auto what = failure_of([&] { (void)locks.acquire("it", {.ttl = 2s, .wait = 500ms}); });
    ASSERT_TRUE(what.has_value());
    EXPECT_TRUE(what->reason == errc::unavailable || what->reason == errc::timed_out) << what;
    ASSERT_TRUE(loss.rang_within(5s));
    EXPECT_LE(loss.when(), last_renewal_before(busy_at + 50ms).value() + 2s);
    (void)server.ask({"SCRIPT", "KILL"});
    auto next = locks.acquire("held", {.ttl = 2s, .wait = patience});
    EXPECT_GT(next.token(), lock.token());
}

}  // namespace
