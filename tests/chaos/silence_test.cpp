// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The server, or the network, falls silent. A holder is told in time, and no waiter waits for ever.
#include "redis_fixture.hpp"

#include <redis_scripts.hpp>

namespace {

using namespace chaos;
namespace scripts = pawl::redis::scripts;

class Silence : public testing::Test, protected redis_fixture {
protected:
    // When the last renewal until then reached the proxy.
    std::optional<pawl::time_point> last_renewal_until(pawl::time_point until) {
        std::optional<pawl::time_point> last;
        for (const auto& each : proxy.commands())
            if (each.arrived_at <= until && script(scripts::renew)(each.words))
                last = each.arrived_at;
        return last;
    }
    bool has_renewed(std::size_t times) {
        return eventually([&] { return proxy.count(script(scripts::renew)) >= times; });
    }
};

// acquire (ttl 2 s) … renew … renew … SIGSTOP of the server … no more replies. The loss must be
// reported less than 2 s after the last successful renewal was sent.
TEST_F(Silence, AFrozenServerCostsTheLockInTime) {
    client locks = proxied_client();
    auto lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
    const loss_recorder loss(lock);
    ASSERT_TRUE(has_renewed(2));
    const auto frozen_at = boot_clock::now();
    server.freeze();
    ASSERT_TRUE(loss.is_told_within(5s));
    const auto sent = last_renewal_until(frozen_at);
    ASSERT_TRUE(sent.has_value());
    EXPECT_LE(loss.told_at(), *sent + 2s);
    EXPECT_EQ(lock.state(), lock_state::lost);
    const auto old_token = lock.token();
    server.thaw();
    auto next = locks.acquire("it", {.ttl = 2s, .wait = patience});
    EXPECT_GT(next.token(), old_token);
    EXPECT_NE(lock.release(), release_result::released);
    EXPECT_EQ(next.state(), lock_state::held);
    EXPECT_EQ(next.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

// The same with a dead network: packets vanish, and no connection breaks.
TEST_F(Silence, AHalfOpenWayCostsTheLockInTime) {
    client locks = proxied_client();
    auto lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
    const loss_recorder loss(lock);
    ASSERT_TRUE(has_renewed(1));
    const auto frozen_at = boot_clock::now();
    proxy.freeze(true);
    ASSERT_TRUE(loss.is_told_within(5s));
    EXPECT_LE(loss.told_at(), last_renewal_until(frozen_at).value() + 2s);
    proxy.freeze(false);
    auto next = locks.acquire("it", {.ttl = 2s, .wait = patience});
    EXPECT_GT(next.token(), lock.token());
}

// A silence that is shorter than the lease is survived: the renewal is repeated within it.
TEST_F(Silence, AShortOneCostsNothing) {
    client locks = proxied_client("?reply_timeout=400");
    auto lock = locks.acquire("it", {.ttl = 4s, .wait = patience});
    ASSERT_TRUE(has_renewed(1));
    const auto before = lock.safe_until();
    proxy.freeze(true);
    std::this_thread::sleep_for(1500ms);  // the silence
    proxy.freeze(false);
    ASSERT_TRUE(eventually([&] { return lock.safe_until() > before + 2s; }));
    EXPECT_EQ(lock.state(), lock_state::held);
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

// The wait times out while the reply is on its way: the lock was not free in time, and the server
// is reachable.
TEST_F(Silence, AWaitThatEndsDuringAQuestionIsNoSilence) {
    client locks = proxied_client(), holder = direct_client();
    (void)locks.inspect("it");
    auto lock = holder.acquire("it", {.ttl = long_ttl});
    proxy.delay(0ms, 120ms);
    for (int i = 0; i < 5; ++i) {
        const auto why = failure_of([&] { (void)locks.acquire("it", {.ttl = 2s, .wait = 1ms}); });
        ASSERT_TRUE(why.has_value());
        EXPECT_EQ(why->reason, errc::timed_out) << why->sentence;
    }
}

// CLIENT PAUSE: the server replies late. Within the lease, nothing happens.
TEST_F(Silence, AShortClientPauseCostsNothing) {
    client locks = proxied_client();
    auto lock = locks.acquire("it", {.ttl = 3s, .wait = patience});
    ASSERT_TRUE(has_renewed(1));
    (void)server.execute({"CLIENT", "PAUSE", "1200", "ALL"});
    const auto before = lock.safe_until();
    ASSERT_TRUE(eventually([&] { return lock.safe_until() > before + 2s; }));
    EXPECT_EQ(lock.release(), release_result::released);
}

// A pause that is longer than the lease: the loss is reported in time, although the reply to a
// renewal comes in the end.
TEST_F(Silence, ALongClientPauseCostsTheLockInTime) {
    client locks = proxied_client();
    auto lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
    const loss_recorder loss(lock);
    ASSERT_TRUE(has_renewed(1));
    const auto paused_at = boot_clock::now();
    (void)server.execute({"CLIENT", "PAUSE", "3500", "ALL"});
    ASSERT_TRUE(loss.is_told_within(5s));
    EXPECT_LE(loss.told_at(), last_renewal_until(paused_at + 50ms).value() + 2s);
    EXPECT_EQ(lock.state(), lock_state::lost);
    auto next = locks.acquire("it", {.ttl = 2s, .wait = patience});
    EXPECT_GT(next.token(), lock.token());
    EXPECT_EQ(lock.state(), lock_state::lost);
}

// The reply to the only renewal in time comes after the deadline: a late success is a loss.
TEST_F(Silence, ARenewalThatIsAnsweredTooLateIsALoss) {
    client locks = proxied_client();
    auto lock = locks.acquire("it", {.ttl = 1500ms, .wait = patience});
    const loss_recorder loss(lock);
    proxy.inject({.matches = script(scripts::renew),
                  .kind = fault_kind::delay_reply,
                  .delay = 2s,
                  .times = 100});
    ASSERT_TRUE(loss.is_told_within(5s));
    EXPECT_LE(loss.told_at(), proxy.commands().front().arrived_at + 2s + 1500ms);
    ASSERT_TRUE(eventually([&] { return proxy.count(script(scripts::renew)) >= 1; }));
    proxy.heal();
    EXPECT_EQ(lock.state(), lock_state::lost);
    const auto until = lock.safe_until();
    EXPECT_LE(until, boot_clock::now());
}

TEST_F(Silence, ABoundedWaitAtAFrozenServerEnds) {
    client locks = proxied_client();
    (void)locks.try_acquire("warm", {.ttl = long_ttl});
    server.freeze();
    const auto failed =
        failure_of([&] { (void)locks.acquire("it", {.ttl = long_ttl, .wait = 1s}); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_TRUE(failed->reason == errc::timed_out || failed->reason == errc::unreachable) << failed;
    server.thaw();
    EXPECT_TRUE(becomes_clean());
}

TEST_F(Silence, ATryAtAFrozenServerEnds) {
    client locks = proxied_client("?reply_timeout=700");
    (void)locks.try_acquire("warm", {.ttl = long_ttl});
    server.freeze();
    const auto failed = failure_of([&] { (void)locks.try_acquire("it", {.ttl = long_ttl}); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::unreachable) << failed;
    server.thaw();
    EXPECT_TRUE(becomes_clean());
}

// SIGSTOP of the server, acquire is sent and given up, SIGCONT: the server executes the request
// that waited in its socket. That hold must be released, long before its ttl.
TEST_F(Silence, AZombieAcquireIsGivenBack) {
    client locks = proxied_client();
    (void)locks.try_acquire("warm", {.ttl = long_ttl});
    server.freeze();
    std::stop_source stop;
    std::optional<failure> failed;
    background_task acquiring([&] {
        failed = failure_of([&] {
            (void)locks.acquire("it", {.ttl = long_ttl, .wait = patience}, stop.get_token());
        });
    });
    ASSERT_TRUE(eventually([&] { return proxy.count(script(scripts::acquire)) >= 2; }));
    stop.request_stop();
    acquiring.join();
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::cancelled);
    server.thaw();
    EXPECT_TRUE(becomes_clean());
}

// The same, and the client is gone before the server continues: only the lease can free the lock,
// and does.
TEST_F(Silence, AZombieOfAClientThatIsGoneEndsWithItsLease) {
    {
        client locks = proxied_client("?reply_timeout=300");
        (void)locks.try_acquire("warm", {.ttl = 2s});
        server.freeze();
        (void)failure_of([&] { (void)locks.try_acquire("it", {.ttl = 2s}); });
    }
    server.thaw();
    EXPECT_TRUE(becomes_clean());
}

// A waiter's connection is half-open when the lock is released, so it cannot be notified. The
// waiter must notice, reconnect, and get the lock.
TEST_F(Silence, AWaiterOnAHalfOpenConnectionComesBack) {
    client holder = direct_client(), waiting = proxied_client("?reply_timeout=500");
    auto lock = holder.acquire("it", {.ttl = long_ttl});
    held_lock acquired;
    background_task waiter(
        [&] { acquired = waiting.acquire("it", {.ttl = 2s, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    proxy.inject({.matches = support::any_command(), .kind = fault_kind::swallow});
    ASSERT_TRUE(eventually([&] { return proxy.strike_count() == 1; }));
    EXPECT_EQ(lock.release(), release_result::released);
    waiter.join();
    EXPECT_GT(acquired.token(), lock.token());
    EXPECT_EQ(acquired.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

// While the server runs an endless script, it replies BUSY to everybody.
TEST_F(Silence, ABusyScriptIsSaidAndSurvived) {
    (void)server.execute({"CONFIG", "SET", "busy-reply-threshold", "50"});
    client locks = proxied_client();
    auto lock = locks.acquire("held", {.ttl = 2s, .wait = patience});
    const loss_recorder loss(lock);
    ASSERT_TRUE(has_renewed(1));
    const auto busy_at = boot_clock::now();
    const auto culprit = server.connect();
    culprit->send({"EVAL", "while true do end", "0"});
    ASSERT_TRUE(eventually([&] { return server.execute({"GET", "x"}).text.starts_with("BUSY"); }));
    const auto failed = failure_of([&] { (void)locks.acquire("it", {.ttl = 2s, .wait = 500ms}); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_TRUE(failed->reason == errc::unavailable || failed->reason == errc::timed_out) << failed;
    ASSERT_TRUE(loss.is_told_within(5s));
    EXPECT_LE(loss.told_at(), last_renewal_until(busy_at + 50ms).value() + 2s);
    (void)server.execute({"SCRIPT", "KILL"});
    auto next = locks.acquire("held", {.ttl = 2s, .wait = patience});
    EXPECT_GT(next.token(), lock.token());
}

}  // namespace
