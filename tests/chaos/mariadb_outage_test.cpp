// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A MariaDB or MySQL server crashes, falls silent, ends connections or has others in the way. Holds
// live on as long as their leases, waiters are served, and no holder learns of a loss too late.
#include "database_cases.hpp"
#include "mariadb_fixture.hpp"

namespace {

using namespace chaos;

class MySqlOutage : public mysql_test {};
INSTANTIATE_TEST_SUITE_P(On, MySqlOutage, both_products, product_name);

class MySqlOutageCases
    : public testing::TestWithParam<std::tuple<support::database_product, database_case<>>>,
      protected mariadb_fixture {
protected:
    MySqlOutageCases() : mariadb_fixture({.product = std::get<0>(GetParam())}) {}
};
TEST_P(MySqlOutageCases, Case) { std::get<1>(GetParam()).run(*this); }
INSTANTIATE_TEST_SUITE_P(On, MySqlOutageCases,
                         testing::Combine(both_products, testing::ValuesIn(outage_cases)),
                         [](const auto& tested) {
                             return name_of(std::get<0>(tested.param)) + "_" +
                                    std::get<1>(tested.param).name;
                         });

//   W waits, and the old primary grants it the lock for 1.8 s. W does not learn of it in time, so
//   the next waiter has the lock | a replica is promoted that knows only the first grant, and
//   whose clock is behind | W asks there, during the pause: it does not have the lock
TEST_P(MySqlOutage, AWaiterIsNotToldOfAnEarlierGrant) {
    client locks = client_with();
    expect_pairs(locks, "warm", 1);
    support::mariadb_client session(server.port());
    const auto status_of = [&](const std::string& call) {
        return session.value("CALL pawl." + call);
    };
    const std::string claim = "('pawl', 'it', 'w', '00000000000000aa', 'vm 1 W', NULL, 60000, ";
    const std::string leave = "leave_1('pawl', 'it', 'w', '00000000000000aa', '', 0, true)";
    (void)session.execute("CALL pawl.hello_1(true, (SELECT server FROM pawl.meta))");
    for (const std::string mode : {"0, 0, 0, 2)", "1, 0, 0, 2)", "2, 1, 3, 2)"}) {
        ASSERT_EQ(status_of("acquire_1" + claim + mode), "g") << mode;
        (void)session.execute("CALL pawl.hello_1(false, 'replica " + mode + "')");
        EXPECT_EQ(status_of("refresh_1" + claim + mode), "q") << mode;
        EXPECT_NE(status_of(leave), "g") << mode;
        (void)session.execute("UPDATE pawl.meta SET hold_off = NULL");
        EXPECT_EQ(status_of("acquire_1" + claim + mode), "g") << mode;
        (void)session.execute("CALL pawl.hello_1(true, 'primary " + mode + "')");
        EXPECT_NE(status_of(leave), "g") << mode;
    }
}

//   A holds (2 s) | the server is frozen: A learns of the loss before its lease ends | it goes on
TEST_P(MySqlOutage, AFrozenServerCostsTheLockInTime) {
    client locks = client_with();
    auto lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
    const loss_recorder loss(lock);
    server.freeze();
    ASSERT_TRUE(loss.is_told_within(patience));
    EXPECT_EQ(lock.state(), lock_state::lost);
    const auto old_token = lock.token();
    server.thaw();
    auto next = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    EXPECT_GT(next.token(), old_token);
    EXPECT_NE(lock.release(), release_result::released);
    EXPECT_EQ(next.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

//   the server is frozen | A tries: unreachable | it goes on, and carries the request out: the hold
//   is released, long before its lease ends
TEST_P(MySqlOutage, ALateGrantIsGivenBack) {
    client locks = client_at(server.url(), 1s);
    expect_pairs(locks, "it", 1);
    server.freeze();
    const auto failed = failure_of([&] { (void)locks.try_acquire("it", {.ttl = long_ttl}); });
    server.thaw();
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::unreachable) << failed;
    EXPECT_TRUE(becomes_clean());
}

//   B waits for A | the calls of B's listener end at once, without a message, as on a server that
//   does not know B: B calls seldom, and gets the lock when it looks
TEST_P(MySqlOutage, AListenerWithoutASessionIsSeldomAsked) {
    client holder = client_with(), waiting = client_with();
    auto lock = holder.acquire("it", {.ttl = long_ttl});
    server.execute("DROP PROCEDURE pawl.listen_1");
    server.execute(
        "CREATE PROCEDURE pawl.listen_1(c varbinary(16), r longtext, w int) SELECT 1, 'w' LIMIT 0");
    held_lock acquired;
    background_task waiter(
        [&] { acquired = waiting.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    const auto calls = [this] {
        return std::stoll(
            *server.execute("SHOW GLOBAL STATUS LIKE 'Com_call_procedure'").front().at(1));
    };
    const auto before = calls();
    std::this_thread::sleep_for(2s);  // the time in which the calls are counted
    EXPECT_LT(calls() - before, 100);
    EXPECT_EQ(lock.release(), release_result::released);
    waiter.join();
    EXPECT_EQ(acquired.release(), release_result::released);
}

//   B waits for A | B's listener is ended | A releases: B gets the lock
TEST_P(MySqlOutage, AWaiterOutlivesItsListener) {
    client holder = client_with(), waiting = client_with();
    auto lock = holder.acquire("it", {.ttl = long_ttl});
    held_lock acquired;
    background_task waiter(
        [&] { acquired = waiting.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return end_listeners() > 0; }));
    EXPECT_EQ(lock.release(), release_result::released);
    waiter.join();
    EXPECT_GT(acquired.token(), lock.token());
    EXPECT_EQ(acquired.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

//   an account may have one connection, so a waiter's listener cannot connect | the waiter looks
//   every 5 to 8 s, long before A's lease ends
TEST_P(MySqlOutage, AWaiterWithoutListenerLooks) {
    client holder = client_with();
    auto lock = holder.acquire("it", {.ttl = 24h});
    (void)server.execute("CREATE USER one WITH MAX_USER_CONNECTIONS 1");
    (void)server.execute("GRANT ALL ON pawl.* TO one");
    client waiting = client_at(server.url("pawl", {}, "one"));
    held_lock acquired;
    background_task waiter(
        [&] { acquired = waiting.acquire("it", {.ttl = long_ttl, .wait = 60s}); });
    // The claim, a look when the listener has failed, and the next one.
    EXPECT_TRUE(eventually([&] { return waiting.statistics().requests >= 3; }));
    EXPECT_EQ(lock.release(), release_result::released);
    waiter.join();
    EXPECT_GT(acquired.token(), lock.token());
    EXPECT_EQ(acquired.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

//   another transaction has locked the row of the name: a try fails, and ends | it commits | the
//   lock is free, also of what the try had sent
TEST_P(MySqlOutage, ARowThatOthersLockIsWaitedFor) {
    client locks = client_with();
    expect_pairs(locks, "it", 1);
    support::mariadb_client stranger(server.port());
    stranger.execute("BEGIN");
    stranger.execute("SELECT * FROM pawl.lock WHERE name = 'it' FOR UPDATE");
    const auto failed = failure_of([&] { (void)locks.try_acquire("it", {.ttl = long_ttl}); });
    stranger.execute("COMMIT");
    ASSERT_TRUE(failed.has_value());
    EXPECT_TRUE(failed->reason == errc::unavailable || failed->reason == errc::unreachable)
        << failed;
    EXPECT_TRUE(becomes_clean());
    expect_pairs(locks, "it", 1);
}

//   a stranger's transactions lock the two rows of a set in the other order | each set is acquired,
//   and both of its locks are free again
TEST_P(MySqlOutage, ADeadlockIsNoLoss) {
    client locks = client_with();
    expect_pairs(locks, "a", 1);
    expect_pairs(locks, "b", 1);
    std::atomic<bool> is_over = false;
    background_task stranger([&] {
        support::mariadb_client other(server.port());
        const auto lock_row = [&](const char* name) {
            other.execute(std::string("UPDATE pawl.lock SET total = total WHERE name = '") + name +
                          "'");
        };
        while (!is_over) {
            try {
                other.execute("BEGIN");
                lock_row("b");
                lock_row("a");
                other.execute("COMMIT");
            } catch (const support::mariadb_failure& deadlock) {
                EXPECT_TRUE(deadlock.number() == 1213 || deadlock.number() == 1205)
                    << deadlock.what();
                other.execute("ROLLBACK");
            }
        }
    });
    for (int i = 0; i < 30; ++i) {
        auto both = locks.acquire_all({"a", "b"}, {.ttl = long_ttl, .wait = patience});
        EXPECT_EQ(both.release(), release_result::released);
    }
    is_over = true;
    stranger.join();
    EXPECT_TRUE(becomes_clean());
}

}  // namespace
