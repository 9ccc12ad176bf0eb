// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A PostgreSQL server crashes, falls silent, or ends sessions. Holds live on as long as their
// leases, waiters are served, and no holder learns of a loss too late.
#include "postgres_fixture.hpp"

#include <algorithm>

namespace {

using namespace chaos;

class PostgresOutage : public testing::Test, protected postgres_fixture {};

//   A holds (60 s) | all processes of the server get SIGKILL | the server starts again: A still has
//   the lock, and can renew and release it; the next token is larger
TEST_F(PostgresOutage, ACrashCostsNoLock) {
    client locks = direct_client(), other = direct_client();
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    server.kill9();
    server.start();
    ASSERT_TRUE(eventually([&] { return result_of_try(other, "it") == try_result::busy; }));
    lock.renew();
    EXPECT_EQ(lock.state(), lock_state::held);
    EXPECT_EQ(lock.release(), release_result::released);
    auto next = other.acquire("it", {.ttl = long_ttl, .wait = patience});
    EXPECT_GT(next.token(), lock.token());
    EXPECT_EQ(next.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

//   A holds, B waits | SIGKILL, start | A releases: B has the lock, long before A's lease ends
TEST_F(PostgresOutage, AWaiterOutlivesACrash) {
    client holder = direct_client(), waiting = direct_client();
    auto lock = holder.acquire("it", {.ttl = long_ttl});
    held_lock acquired;
    background_task waiter(
        [&] { acquired = waiting.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    server.kill9();
    server.start();
    EXPECT_EQ(lock.release(), release_result::released);
    waiter.join();
    EXPECT_GT(acquired.token(), lock.token());
    EXPECT_EQ(acquired.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

//   A holds (60 s) | SIGKILL, start | B tries another lock: granted at once. A crash is no
//   failover, after which nothing would be granted for 60 s
TEST_F(PostgresOutage, ACrashPausesNoGrants) {
    client locks = direct_client(), other = direct_client();
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    server.kill9();
    server.start();
    auto granted = other.acquire("another", {.ttl = 2s, .wait = 20s});
    EXPECT_EQ(granted.release(), release_result::released);
    EXPECT_EQ(lock.release(), release_result::released);
}

//   A acquires while the server is down | the server starts: A gets the lock
TEST_F(PostgresOutage, AnAcquireWaitsForTheServer) {
    client locks = direct_client();
    warm(locks);
    server.kill9();
    held_lock acquired;
    background_task acquiring(
        [&] { acquired = locks.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    EXPECT_EQ(result_of_try(locks, "another"), try_result::failed);
    server.start();
    acquiring.join();
    EXPECT_EQ(acquired.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

//   A holds (2 s) and has renewed | SIGSTOP of all processes | A is told before its deadline |
//   SIGCONT | B gets a larger token, and A's release does not end B's hold
TEST_F(PostgresOutage, AFrozenServerCostsTheLockInTime) {
    client locks = direct_client();
    auto lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
    const loss_recorder loss(lock);
    const auto first_deadline = lock.safe_until();
    ASSERT_TRUE(eventually([&] { return lock.safe_until() > first_deadline; }));
    server.freeze();
    ASSERT_TRUE(loss.is_told_within(5s));
    EXPECT_LE(loss.told_at(), lock.safe_until() + 50ms);  // for the callback itself
    EXPECT_EQ(lock.state(), lock_state::lost);
    const auto old_token = lock.token();
    server.thaw();
    auto next = locks.acquire("it", {.ttl = 2s, .wait = patience});
    EXPECT_GT(next.token(), old_token);
    EXPECT_NE(lock.release(), release_result::released);
    EXPECT_EQ(next.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

//   A holds (6 s) | the server is frozen for 1 s | A's next renewals succeed
TEST_F(PostgresOutage, AShortSilenceCostsNothing) {
    client locks = direct_client();
    auto lock = locks.acquire("it", {.ttl = 6s, .wait = patience});
    const auto before = lock.safe_until();
    server.freeze();
    std::this_thread::sleep_for(1s);  // the silence
    server.thaw();
    ASSERT_TRUE(eventually([&] { return lock.safe_until() > before + 3s; }));
    EXPECT_EQ(lock.state(), lock_state::held);
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

TEST_F(PostgresOutage, RequestsAtAFrozenServerEnd) {
    client locks = client_at(server.url(database), 1s);
    warm(locks);
    server.freeze();
    const auto began = boot_clock::now();
    const auto tried = failure_of([&] { (void)locks.try_acquire("it", {.ttl = long_ttl}); });
    const auto waited =
        failure_of([&] { (void)locks.acquire("it", {.ttl = long_ttl, .wait = 1s}); });
    EXPECT_LT(boot_clock::now() - began, 15s);
    server.thaw();
    ASSERT_TRUE(tried && waited);
    EXPECT_EQ(tried->reason, errc::unreachable) << tried;
    EXPECT_TRUE(waited->reason == errc::timed_out || waited->reason == errc::unreachable) << waited;
    EXPECT_TRUE(becomes_clean());
}

//   the server is frozen | A's acquire is sent and cancelled | SIGCONT: the server carries the
//   request out. The hold must be released, long before its lease ends
TEST_F(PostgresOutage, AZombieAcquireIsGivenBack) {
    client locks = proxied_client();
    warm(locks);
    server.freeze();
    std::stop_source stop;
    std::optional<failure> failed;
    background_task acquiring([&] {
        failed = failure_of([&] {
            (void)locks.acquire("it", {.ttl = long_ttl, .wait = patience}, stop.get_token());
        });
    });
    ASSERT_TRUE(eventually([&] { return proxy.count("acquire_1") >= 2; }));
    stop.request_stop();
    acquiring.join();
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::cancelled);
    server.thaw();
    EXPECT_TRUE(becomes_clean());
    expect_pairs(locks, "it", 1);
}

//   A holds | an administrator ends its session | the hold continues in another session
TEST_F(PostgresOutage, AnEndedSessionCostsNoLock) {
    client locks = direct_client(), other = direct_client();
    auto lock = locks.acquire("it", {.ttl = 3s, .wait = patience});
    for (int i = 0; i < 5; ++i) {
        const auto before = lock.safe_until();
        ASSERT_TRUE(eventually([&] { return end_sessions() > 0; }));
        EXPECT_EQ(lock.state(), lock_state::held);
        ASSERT_TRUE(eventually([&] { return lock.safe_until() > before; }));
    }
    EXPECT_TRUE(eventually([&] { return result_of_try(other, "it") == try_result::busy; }));
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

//   A holds, B waits | both sessions are ended, so B's place is dead | A releases: B, which has
//   come back, gets the lock long before A's lease ends
TEST_F(PostgresOutage, AWaiterWhoseSessionEndsComesBack) {
    client holder = direct_client(), waiting = direct_client();
    auto lock = holder.acquire("it", {.ttl = long_ttl});
    held_lock acquired;
    background_task waiter(
        [&] { acquired = waiting.acquire("it", {.ttl = 2s, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    EXPECT_GE(end_sessions(), 2);
    EXPECT_EQ(lock.release(), release_result::released);
    waiter.join();
    EXPECT_GT(acquired.token(), lock.token());
    EXPECT_EQ(acquired.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

//   four clients acquire and release in turn | their sessions are ended again and again | at no
//   time do two have the lock, tokens rise in the order of the holds, and all reach their count
TEST_F(PostgresOutage, EndedSessionsLetNoTwoIn) {
    std::mutex log_mutex;
    std::vector<std::uint64_t> tokens;
    std::atomic<int> holders = 0, overlaps = 0, done = 0;
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            client locks = direct_client();
            for (int round = 0; round < 20; ++round) {
                auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
                if (++holders > 1) ++overlaps;
                {
                    const std::scoped_lock guard(log_mutex);
                    tokens.push_back(lock.token().value());
                }
                std::this_thread::sleep_for(5ms);  // the work under the lock
                --holders;
                EXPECT_NE(lock.release(), release_result::expired);
            }
            ++done;
        });
    while (done < 4) {
        (void)end_sessions();
        std::this_thread::sleep_for(150ms);  // the rate of the fault
    }
    threads.clear();
    EXPECT_EQ(overlaps, 0);
    EXPECT_EQ(tokens.size(), 80U);
    EXPECT_EQ(std::adjacent_find(tokens.begin(), tokens.end(), std::greater_equal<>()),
              tokens.end());
    EXPECT_TRUE(becomes_clean());
}

//   A holds by a value; B is connected | behind a proxy, a crash leaves B's connection and empties
//   the table `boot`: here a statement does | B's adopt must say hello first: it fails, ends the
//   session, and takes nothing | the next adopt succeeds, in a new session
TEST_F(PostgresOutage, AnAdoptThatMustSayHelloEndsTheSession) {
    client holder = direct_client(), other = direct_client();
    auto lock = holder.acquire_as("it", "ticket", {.ttl = long_ttl, .wait = patience});
    warm(other);
    const auto connections = other.statistics().connections;
    execute("DELETE FROM pawl.boot");
    const auto failed = failure_of([&] { (void)other.adopt("it", "ticket", {.ttl = long_ttl}); });
    ASSERT_TRUE(failed);
    EXPECT_EQ(failed->reason, errc::unavailable) << failed;
    held_lock adopted;
    ASSERT_TRUE(eventually([&] {
        return !failure_of([&] { adopted = other.adopt("it", "ticket", {.ttl = long_ttl}); });
    }));
    EXPECT_GT(other.statistics().connections, connections);
    EXPECT_GT(adopted.token(), lock.token());
    EXPECT_EQ(adopted.release(), release_result::released);
    EXPECT_NE(lock.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

}  // namespace
