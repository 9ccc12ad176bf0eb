// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// PgBouncer before the server. Pawl's waiters poll there, as no push and no presence passes, but
// take part in the same queue.
#include "postgres_fixture.hpp"

#include <support/pgbouncer.hpp>

namespace {

using namespace chaos;

class PostgresPooler : public testing::TestWithParam<std::string>, protected postgres_fixture {
protected:
    [[nodiscard]] client pooled_client() { return client_at(pooler.url(database)); }

    support::pgbouncer pooler{server, GetParam()};
};

TEST_P(PostgresPooler, LocksWork) {
    client locks = pooled_client(), other = pooled_client();
    expect_pairs(locks, "it", 20);
    auto lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
    EXPECT_EQ(result_of_try(other, "it"), try_result::busy);
    const auto before = lock.safe_until();
    ASSERT_TRUE(eventually([&] { return lock.safe_until() > before; }));
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

//   A holds and B waits, one through PgBouncer, the other one not | A releases: B has the lock,
//   long before A's lease ends; and the other way round
TEST_P(PostgresPooler, TheQueueIsOneWithDirectClients) {
    client direct = client_with(), pooled = pooled_client();
    const auto hand_over = [&](client& from, client& to) {
        auto lock = from.acquire("it", {.ttl = long_ttl, .wait = patience});
        held_lock acquired;
        background_task waiting(
            [&] { acquired = to.acquire("it", {.ttl = long_ttl, .wait = patience}); });
        EXPECT_TRUE(eventually([&] { return waiters("it") == 1; }));
        EXPECT_EQ(lock.release(), release_result::released);
        waiting.join();
        EXPECT_GT(acquired.token(), lock.token());
        EXPECT_EQ(acquired.release(), release_result::released);
    };
    hand_over(direct, pooled);
    hand_over(pooled, direct);
    hand_over(pooled, pooled);
    EXPECT_TRUE(becomes_clean());
}

//   A holds | first a pooled client waits, then a direct one | A releases: the pooled one is first
TEST_P(PostgresPooler, PollingKeepsThePlaceInTheQueue) {
    client holder = client_with(), pooled = pooled_client(), direct = client_with();
    auto lock = holder.acquire("it", {.ttl = long_ttl, .wait = patience});
    held_lock first, second;
    background_task early(
        [&] { first = pooled.acquire("it", {.ttl = long_ttl, .wait = 60s, .fair = true}); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    background_task late(
        [&] { second = direct.acquire("it", {.ttl = long_ttl, .wait = 60s, .fair = true}); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 2; }));
    std::this_thread::sleep_for(6s);  // a place that is not kept ends after 4 s
    EXPECT_EQ(lock.release(), release_result::released);
    early.join();
    EXPECT_EQ(first.release(), release_result::released);
    late.join();
    EXPECT_GT(second.token(), first.token());
    EXPECT_EQ(second.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

//   A holds | a pooled waiter vanishes without a word | the direct waiter behind it is served
TEST_P(PostgresPooler, AVanishedWaiterStopsNobodyForLong) {
    client holder = client_with(), direct = client_with();
    auto lock = holder.acquire("it", {.ttl = long_ttl, .wait = patience});
    execute(
        "SELECT pawl.acquire_1('pawl', 'it', 'gone', '0123456789abcdef', '', NULL, 60000, 0, 1, "
        "0, 2)");
    ASSERT_EQ(waiters("it"), 1);
    held_lock acquired;
    background_task waiting(
        [&] { acquired = direct.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 2; }));
    std::this_thread::sleep_for(4s);  // the place of the vanished waiter ends
    EXPECT_EQ(lock.release(), release_result::released);
    waiting.join();
    EXPECT_EQ(acquired.release(), release_result::released);
}

// Behind a pooler, an advisory lock stays with the server's session after its client has gone.
TEST_P(PostgresPooler, NoAdvisoryLockStaysBehind) {
    {
        client locks = pooled_client(), waiting = pooled_client();
        auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
        EXPECT_FALSE(waiting.try_acquire_for("it", 500ms, {.ttl = 2s}).owns_lock());
        EXPECT_EQ(lock.release(), release_result::released);
    }
    EXPECT_TRUE(eventually(
        [&] { return number("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == 0; }));
}

//   a pooled session meets defaults that a direct session changes for itself | pairs succeed
TEST_P(PostgresPooler, SerializableIsSurvived) {
    execute("ALTER DATABASE " + database + " SET default_transaction_isolation = 'serializable'");
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&] {
            client locks = pooled_client();
            const auto failed = failure_of([&] { expect_pairs(locks, "it", 10); });
            EXPECT_FALSE(failed.has_value()) << failed;
        });
    threads.clear();
    EXPECT_TRUE(becomes_clean());
}

INSTANTIATE_TEST_SUITE_P(With, PostgresPooler, testing::Values("session", "transaction"),
                         [](const auto& mode) { return mode.param; });

}  // namespace
