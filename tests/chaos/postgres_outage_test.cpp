// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A PostgreSQL server crashes, falls silent, or ends sessions. Holds live on as long as their
// leases, waiters are served, and no holder learns of a loss too late.
#include "database_cases.hpp"
#include "postgres_fixture.hpp"

namespace {

using namespace chaos;

class PostgresOutage : public testing::Test, protected postgres_fixture {};

class PostgresOutageCases : public testing::TestWithParam<database_case<>>,
                            protected postgres_fixture {};
TEST_P(PostgresOutageCases, Case) { GetParam().run(*this); }
INSTANTIATE_TEST_SUITE_P(On, PostgresOutageCases, testing::ValuesIn(outage_cases), case_name<>);

//   A acquires while the server is down | the server starts: A gets the lock
TEST_F(PostgresOutage, AnAcquireWaitsForTheServer) {
    client locks = client_with();
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
    client locks = client_with();
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
    client locks = client_with();
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
    client locks = client_with(), other = client_with();
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

}  // namespace
