// The server is killed, restarted, flushed, robbed of keys, scripts and connections.
#include "scene.hpp"

#include <redis_scripts.hpp>

namespace {

using namespace chaos;
namespace scripts = pawl::redis::scripts;

class Amnesia : public testing::Test, protected scene {
protected:
    pawl::fencing_token token_once(client& locks) {
        auto lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
        const auto token = lock.token();
        (void)lock.release();
        return token;
    }
};

// kill -9, restarted empty: the holder's lock is gone, and its next renewal must not make it again.
TEST_F(Amnesia, ARestartedEmptyServerCostsTheLock) {
    client locks = proxied();
    auto lock = locks.acquire("it", {.ttl = 3s, .wait = patience});
    const bell loss(lock);
    server.kill9();
    server.start(false);
    ASSERT_TRUE(loss.rang_within(5s));
    EXPECT_FALSE(held("it"));
    EXPECT_NE(lock.release(), release_result::released);
    auto next = locks.acquire("it", {.ttl = 3s, .wait = patience});
    EXPECT_GT(next.token(), lock.token());
}

// Many restarts of a server that keeps nothing, seen by a client that stays and by clients that are
// new.
TEST_F(Amnesia, TokensGrowOverManyRestarts) {
    client staying = proxied();
    pawl::fencing_token newest;
    for (int i = 0; i < 6; ++i) {
        const auto stayed = token_once(staying);
        EXPECT_GT(stayed, newest);
        client fresh = direct();
        const auto came = token_once(fresh);
        EXPECT_GT(came, stayed);
        newest = came;
        server.kill9();
        server.start(false);
    }
}

// Who waits while the server dies and comes back empty stands in line again, and is served.
TEST_F(Amnesia, WaitersSurviveARestart) {
    client holder = direct(), one = proxied(), two = direct();
    auto lock = holder.acquire("it", {.ttl = 2s});
    std::atomic<int> served = 0;
    const auto wait_in = [&](client& locks) {
        auto mine = locks.acquire("it", {.ttl = 2s, .wait = patience});
        EXPECT_GT(mine.token(), lock.token());
        ++served;
    };
    beside first([&] { wait_in(one); });
    beside second([&] { wait_in(two); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 2; }));
    server.kill9();
    server.start(false);
    first.join();
    second.join();
    EXPECT_EQ(served, 2);
    EXPECT_TRUE(clean());
}

// With an append-only file that is always written, a restart is no loss: the renewal finds the
// lock.
TEST(AmnesiaWithMemory, ADurableServerKeepsTheLockOverARestart) {
    scene with({.config = {"appendonly yes", "appendfsync always"}});
    client locks = with.proxied();
    auto lock = locks.acquire("it", {.ttl = 5s, .wait = patience});
    const auto before = lock.safe_until();
    with.server.kill9();
    with.server.start();
    ASSERT_TRUE(eventually([&] { return lock.safe_until() > before; }));
    EXPECT_EQ(lock.state(), lock_state::held);
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_TRUE(with.clean());
}

TEST_F(Amnesia, AFlushCostsTheLockAndNoTokenGoesBack) {
    client locks = proxied(), other = direct();
    auto lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
    const bell loss(lock);
    (void)server.ask({"FLUSHALL"});
    auto next = other.acquire("it", {.ttl = 2s, .wait = patience});
    EXPECT_GT(next.token(), lock.token());
    ASSERT_TRUE(loss.rang_within(5s));
    EXPECT_EQ(next.state(), lock_state::held);
    EXPECT_NE(lock.release(), release_result::released);
    EXPECT_EQ(next.release(), release_result::released);
}

// A flush while others wait takes the queue too: they come back by themselves.
TEST_F(Amnesia, WaitersSurviveAFlush) {
    client holder = direct(), waiting = proxied();
    auto lock = holder.acquire("it", {.ttl = 2s});
    held_lock got;
    beside waiter([&] { got = waiting.acquire("it", {.ttl = 2s, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    (void)server.ask({"FLUSHALL"});
    waiter.join();
    EXPECT_GT(got.token(), lock.token());
}

// The fence counter expires, is deleted, or is set back by somebody; clients are old and new.
TEST_F(Amnesia, TokensGrowWithoutTheirCounter) {
    client staying = direct();
    pawl::fencing_token newest;
    const auto next = [&](const std::string& after) {
        const auto stayed = token_once(staying);
        EXPECT_GT(stayed, newest) << after;
        client fresh = direct();
        newest = token_once(fresh);
        EXPECT_GT(newest, stayed) << after << ", for a fresh client";
    };
    next("nothing");
    (void)server.ask({"DEL", "pawl:{it}:f"});
    next("a deleted counter");
    (void)server.ask({"PEXPIRE", "pawl:{it}:f", "1"});
    ASSERT_TRUE(eventually([&] { return server.ask({"EXISTS", "pawl:{it}:f"}).number() == 0; }));
    next("an expired counter");
    (void)server.ask({"SET", "pawl:{it}:f", "17"});
    next("a counter that was set back");
    (void)server.ask({"SCRIPT", "FLUSH"});
    (void)server.ask({"FLUSHALL"});
    next("FLUSHALL");
}

TEST_F(Amnesia, ADeletedLockIsALossAtTheNextRenewal) {
    client locks = direct();
    auto lock = locks.acquire("it", {.ttl = 3s, .wait = patience});
    const bell loss(lock);
    (void)server.ask({"DEL", "pawl:{it}"});
    ASSERT_TRUE(loss.rang_within(3s));
    EXPECT_FALSE(held("it"));
    EXPECT_NE(lock.release(), release_result::released);
}

// Scripts vanish between any two commands.
TEST_F(Amnesia, ScriptFlushGoesUnnoticed) {
    client locks = proxied(), other = direct();
    for (int i = 0; i < 5; ++i) {
        (void)server.ask({"SCRIPT", "FLUSH"});
        auto lock = locks.acquire("it", {.ttl = 1500ms, .wait = patience});
        (void)server.ask({"SCRIPT", "FLUSH"});
        const auto before = lock.safe_until();
        ASSERT_TRUE(eventually([&] { return lock.safe_until() > before; }));
        held_lock got;
        beside waiting([&] { got = other.acquire("it", {.ttl = 1500ms, .wait = patience}); });
        ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
        (void)server.ask({"SCRIPT", "FLUSH"});
        EXPECT_EQ(lock.release(), release_result::released);
        waiting.join();
        EXPECT_GT(got.token(), lock.token());
    }
    EXPECT_TRUE(clean());
}

// Every connection is killed while one holds and one waits; both come back, and the release reaches
// the waiter.
TEST_F(Amnesia, KilledConnectionsComeBack) {
    client holder = proxied(), waiting = direct();
    for (int round = 0; round < 3; ++round) {
        auto lock = holder.acquire("it", {.ttl = 3s, .wait = patience});
        held_lock got;
        beside waiter([&] { got = waiting.acquire("it", {.ttl = 3s, .wait = patience}); });
        ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
        (void)server.ask({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
        (void)server.ask({"CLIENT", "KILL", "TYPE", "pubsub", "SKIPME", "yes"});
        const auto before = lock.safe_until();
        ASSERT_TRUE(eventually([&] { return lock.safe_until() > before; }));
        EXPECT_EQ(lock.release(), release_result::released);
        waiter.join();
        EXPECT_GT(got.token(), lock.token());
        EXPECT_EQ(got.release(), release_result::released);
    }
    EXPECT_TRUE(clean());
}

// Connections die again and again while a crowd works. Nothing is held twice, nothing stays behind.
TEST_F(Amnesia, ACrowdWorksOnWhileConnectionsDie) {
    std::atomic<int> inside = 0;
    std::atomic<bool> shared = false;
    std::atomic<bool> over = false;
    std::atomic<int> served = 0;
    std::vector<std::unique_ptr<beside>> crowd;
    for (int i = 0; i < 6; ++i)
        crowd.push_back(std::make_unique<beside>([&] {
            client locks = proxied();
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
        const int then = served;
        ASSERT_TRUE(eventually([&] { return served > then; }, 20s));
        proxy.kill_connections();
    }
    over = true;
    crowd.clear();
    EXPECT_FALSE(shared);
    EXPECT_TRUE(clean());
}

// Nobody listens any more; the holder's connection breaks. The loss comes in time, and when the
// server is back, so is the client.
TEST_F(Amnesia, ARefusedReconnectCostsTheLockInTime) {
    client locks = proxied();
    auto lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
    const bell loss(lock);
    const auto cut_at = boot_clock::now();
    proxy.refuse(true);
    proxy.kill_connections();
    ASSERT_TRUE(loss.rang_within(5s));
    EXPECT_LE(loss.when(), cut_at + 2s);
    const auto what = failure_of([&] { (void)locks.acquire("it", {.ttl = 2s, .wait = 500ms}); });
    ASSERT_TRUE(what.has_value());
    EXPECT_TRUE(what->reason == errc::unreachable || what->reason == errc::timed_out) << what;
    proxy.refuse(false);
    auto next = locks.acquire("it", {.ttl = 2s, .wait = patience});
    EXPECT_GT(next.token(), lock.token());
}

// A broken connection that heals within the lease costs nothing.
TEST_F(Amnesia, AReconnectInTimeCostsNothing) {
    client locks = proxied();
    auto lock = locks.acquire("it", {.ttl = 5s, .wait = patience});
    for (int i = 0; i < 3; ++i) {
        const auto before = lock.safe_until();
        proxy.kill_connections();
        ASSERT_TRUE(eventually([&] { return lock.safe_until() > before; }));
    }
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_TRUE(clean());
}

}  // namespace
