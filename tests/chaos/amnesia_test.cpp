// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The server is killed, restarted or flushed, and loses keys, scripts and connections.
#include "redis_fixture.hpp"

#include <redis_scripts.hpp>

namespace {

using namespace chaos;
namespace scripts = pawl::redis::scripts;

class Amnesia : public testing::Test, protected redis_fixture {
protected:
    pawl::fencing_token acquire_token(client& locks) {
        auto lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
        const auto token = lock.token();
        (void)lock.release();
        return token;
    }
};

// kill -9, restarted empty: the holder's lock is gone, and its next renewal must not create it
// again.
TEST_F(Amnesia, ARestartedEmptyServerCostsTheLock) {
    client locks = proxied_client();
    auto lock = locks.acquire("it", {.ttl = 3s, .wait = patience});
    const loss_recorder loss(lock);
    server.kill9();
    server.start(false);
    ASSERT_TRUE(loss.is_told_within(5s));
    EXPECT_FALSE(is_held("it"));
    EXPECT_NE(lock.release(), release_result::released);
    auto next = locks.acquire("it", {.ttl = 3s, .wait = patience});
    EXPECT_GT(next.token(), lock.token());
}

// The connection to another server process is reason enough to renew every lock, although the next
// renewals are due in 20 s only. Both layouts notice it.
TEST_F(Amnesia, ARestartedEmptyServerIsNoticedBeforeTheNextRenewal) {
    client locks = direct_client(), java = direct_client("?layout=redisson");
    std::vector<held_lock> held;
    for (int i = 0; i < 300; ++i)
        held.push_back(locks.acquire("it/" + std::to_string(i), {.ttl = long_ttl}));
    held.push_back(locks.acquire("reader", {.ttl = long_ttl, .mode = pawl::lock_mode::shared}));
    held.push_back(java.acquire("java", {.ttl = long_ttl}));
    server.kill9();
    server.start(false);
    for (const auto& lock : held) {
        ASSERT_TRUE(loss_recorder(lock).is_told_within(10s)) << lock.name();
        EXPECT_EQ(lock.why_lost(), lock.name() == "java" ? pawl::loss_reason::taken_over
                                                         : pawl::loss_reason::missing);
    }
}

// Many restarts of a server without persistence, seen by a client that stays and by new clients.
TEST_F(Amnesia, TokensGrowOverManyRestarts) {
    client staying = proxied_client();
    pawl::fencing_token newest;
    for (int i = 0; i < 6; ++i) {
        const auto stayed = acquire_token(staying);
        EXPECT_GT(stayed, newest);
        client fresh = direct_client();
        const auto came = acquire_token(fresh);
        EXPECT_GT(came, stayed);
        newest = came;
        server.kill9();
        server.start(false);
    }
}

// A waiter whose server dies and comes back empty enters the queue again and is served.
TEST_F(Amnesia, WaitersSurviveARestart) {
    client holder = direct_client(), first_locks = proxied_client(), second_locks = direct_client();
    auto lock = holder.acquire("it", {.ttl = 2s});
    std::atomic<int> served = 0;
    const auto wait_in = [&](client& locks) {
        auto own_lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
        EXPECT_GT(own_lock.token(), lock.token());
        ++served;
    };
    background_task first([&] { wait_in(first_locks); });
    background_task second([&] { wait_in(second_locks); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 2; }));
    server.kill9();
    server.start(false);
    first.join();
    second.join();
    EXPECT_EQ(served, 2);
    EXPECT_TRUE(becomes_clean());
}

// With an append-only file that is synced on every write, a restart is no loss: the renewal finds
// the lock.
TEST(AmnesiaWithMemory, ADurableServerKeepsTheLockOverARestart) {
    redis_fixture with({.config = {"appendonly yes", "appendfsync always"}});
    client locks = with.proxied_client();
    auto lock = locks.acquire("it", {.ttl = 5s, .wait = patience});
    const auto before = lock.safe_until();
    with.server.kill9();
    with.server.start();
    ASSERT_TRUE(eventually([&] { return lock.safe_until() > before; }));
    EXPECT_EQ(lock.state(), lock_state::held);
    EXPECT_GT(locks.statistics().connections, 1U);
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_TRUE(with.becomes_clean());
}

TEST_F(Amnesia, AFlushCostsTheLockAndNoTokenGoesBack) {
    client locks = proxied_client(), other = direct_client();
    auto lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
    const loss_recorder loss(lock);
    (void)server.execute({"FLUSHALL"});
    auto next = other.acquire("it", {.ttl = 2s, .wait = patience});
    EXPECT_GT(next.token(), lock.token());
    ASSERT_TRUE(loss.is_told_within(5s));
    EXPECT_EQ(next.state(), lock_state::held);
    EXPECT_NE(lock.release(), release_result::released);
    EXPECT_EQ(next.release(), release_result::released);
}

// A flush removes the queue too; the waiters enter it again by themselves.
TEST_F(Amnesia, WaitersSurviveAFlush) {
    client holder = direct_client(), waiting = proxied_client();
    auto lock = holder.acquire("it", {.ttl = 2s});
    held_lock acquired;
    background_task waiter(
        [&] { acquired = waiting.acquire("it", {.ttl = 2s, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    (void)server.execute({"FLUSHALL"});
    waiter.join();
    EXPECT_GT(acquired.token(), lock.token());
}

// The fence counter expires, is deleted, or is set back; both old and new clients see it.
TEST_F(Amnesia, TokensGrowWithoutTheirCounter) {
    client staying = direct_client();
    pawl::fencing_token newest;
    const auto next = [&](const std::string& after) {
        const auto stayed = acquire_token(staying);
        EXPECT_GT(stayed, newest) << after;
        client fresh = direct_client();
        newest = acquire_token(fresh);
        EXPECT_GT(newest, stayed) << after << ", for a fresh client";
    };
    next("nothing");
    (void)server.execute({"DEL", "pawl:{it}:f"});
    next("a deleted counter");
    (void)server.execute({"PEXPIRE", "pawl:{it}:f", "1"});
    ASSERT_TRUE(eventually([&] {
        return server.execute({"EXISTS", "pawl:{it}:f"}).number() == 0;
    }));
    next("an expired counter");
    (void)server.execute({"SET", "pawl:{it}:f", "17"});
    next("a counter that was set back");
    (void)server.execute({"SCRIPT", "FLUSH"});
    (void)server.execute({"FLUSHALL"});
    next("FLUSHALL");
}

TEST_F(Amnesia, ADeletedLockIsALossAtTheNextRenewal) {
    client locks = direct_client();
    auto lock = locks.acquire("it", {.ttl = 3s, .wait = patience});
    const loss_recorder loss(lock);
    (void)server.execute({"DEL", "pawl:{it}"});
    ASSERT_TRUE(loss.is_told_within(3s));
    EXPECT_FALSE(is_held("it"));
    EXPECT_NE(lock.release(), release_result::released);
}

// Scripts vanish between any two commands.
TEST_F(Amnesia, ScriptFlushGoesUnnoticed) {
    client locks = proxied_client(), other = direct_client();
    for (int i = 0; i < 5; ++i) {
        (void)server.execute({"SCRIPT", "FLUSH"});
        auto lock = locks.acquire("it", {.ttl = 1500ms, .wait = patience});
        (void)server.execute({"SCRIPT", "FLUSH"});
        const auto before = lock.safe_until();
        ASSERT_TRUE(eventually([&] { return lock.safe_until() > before; }));
        held_lock acquired;
        background_task waiting(
            [&] { acquired = other.acquire("it", {.ttl = 1500ms, .wait = patience}); });
        ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
        (void)server.execute({"SCRIPT", "FLUSH"});
        EXPECT_EQ(lock.release(), release_result::released);
        waiting.join();
        EXPECT_GT(acquired.token(), lock.token());
    }
    EXPECT_TRUE(becomes_clean());
}

// Every connection is killed while one client holds and one waits. Both reconnect, and the release
// reaches the waiter.
TEST_F(Amnesia, KilledConnectionsComeBack) {
    client holder = proxied_client(), waiting = direct_client();
    for (int round = 0; round < 3; ++round) {
        auto lock = holder.acquire("it", {.ttl = 3s, .wait = patience});
        held_lock acquired;
        background_task waiter(
            [&] { acquired = waiting.acquire("it", {.ttl = 3s, .wait = patience}); });
        ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
        (void)server.execute({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
        (void)server.execute({"CLIENT", "KILL", "TYPE", "pubsub", "SKIPME", "yes"});
        const auto before = lock.safe_until();
        ASSERT_TRUE(eventually([&] { return lock.safe_until() > before; }));
        EXPECT_EQ(lock.release(), release_result::released);
        waiter.join();
        EXPECT_GT(acquired.token(), lock.token());
        EXPECT_EQ(acquired.release(), release_result::released);
    }
    EXPECT_TRUE(becomes_clean());
}

// Connections die again and again while many clients work. No lock is held twice, and nothing is
// left behind.
TEST_F(Amnesia, ACrowdWorksOnWhileConnectionsDie) {
    std::atomic<int> inside = 0;
    std::atomic<bool> shared = false;
    std::atomic<bool> over = false;
    std::atomic<int> served = 0;
    std::vector<std::unique_ptr<background_task>> tasks;
    for (int i = 0; i < 6; ++i)
        tasks.push_back(std::make_unique<background_task>([&] {
            client locks = proxied_client();
            while (!over) {
                (void)failure_of([&] {
                    auto lock = locks.acquire("it", {.ttl = 5s, .wait = patience});
                    if (++inside > 1) shared = true;
                    std::this_thread::yield();
                    --inside;
                    ++served;
                });
            }
        }));
    for (int i = 0; i < 30; ++i) {
        const int served_before = served;
        ASSERT_TRUE(eventually([&] { return served > served_before; }, 20s));
        proxy.kill_connections();
    }
    over = true;
    tasks.clear();
    EXPECT_FALSE(shared);
    EXPECT_TRUE(becomes_clean());
}

// The server stops listening and the holder's connection breaks. The loss is reported in time, and
// the client recovers when the server is back.
TEST_F(Amnesia, ARefusedReconnectCostsTheLockInTime) {
    client locks = proxied_client();
    auto lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
    const loss_recorder loss(lock);
    const auto cut_at = boot_clock::now();
    proxy.refuse(true);
    proxy.kill_connections();
    ASSERT_TRUE(loss.is_told_within(5s));
    EXPECT_LE(loss.told_at(), cut_at + 2s);
    const auto failed = failure_of([&] { (void)locks.acquire("it", {.ttl = 2s, .wait = 500ms}); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_TRUE(failed->reason == errc::unreachable || failed->reason == errc::timed_out) << failed;
    proxy.refuse(false);
    auto next = locks.acquire("it", {.ttl = 2s, .wait = patience});
    EXPECT_GT(next.token(), lock.token());
}

// A connection that breaks and recovers within the lease costs nothing.
TEST_F(Amnesia, AReconnectInTimeCostsNothing) {
    client locks = proxied_client();
    auto lock = locks.acquire("it", {.ttl = 5s, .wait = patience});
    for (int i = 0; i < 3; ++i) {
        const auto before = lock.safe_until();
        proxy.kill_connections();
        ASSERT_TRUE(eventually([&] { return lock.safe_until() > before; }));
    }
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

}  // namespace
