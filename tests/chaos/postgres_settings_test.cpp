// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Settings and other users of a PostgreSQL database that get in the way of locks.
#include "postgres_fixture.hpp"

namespace {

using namespace chaos;

class PostgresSettings : public testing::Test, protected postgres_fixture {
protected:
    void set_for_database(const std::string& setting) {
        execute("ALTER DATABASE " + database + " SET " + setting);
    }
    // `count` clients acquire the lock in turn, `rounds` times each.
    void contend(int count, int rounds) {
        std::atomic<int> holders = 0, overlaps = 0, holds = 0;
        std::vector<std::jthread> threads;
        for (int i = 0; i < count; ++i)
            threads.emplace_back([&] {
                client locks = client_with();
                const auto failed = failure_of([&] {
                    for (int round = 0; round < rounds; ++round) {
                        auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
                        if (++holders > 1) ++overlaps;
                        --holders;
                        ++holds;
                        EXPECT_EQ(lock.release(), release_result::released);
                    }
                });
                EXPECT_FALSE(failed.has_value()) << failed;
            });
        threads.clear();
        EXPECT_EQ(overlaps, 0);
        EXPECT_EQ(holds, count * rounds);
        EXPECT_TRUE(becomes_clean());
    }
};

// Each would fail operations of Pawl if it did not set its own values.
TEST_F(PostgresSettings, DefaultsOfTheDatabaseDoNotMatter) {
    set_for_database("default_transaction_isolation = 'serializable'");
    set_for_database("statement_timeout = 500");
    set_for_database("lock_timeout = 1");
    set_for_database("idle_session_timeout = 300");
    set_for_database("idle_in_transaction_session_timeout = 300");
    set_for_database("search_path = 'nowhere'");
    set_for_database("datestyle = 'German'");
    set_for_database("bytea_output = 'escape'");
    set_for_database("standard_conforming_strings = off");
    contend(6, 30);
}

TEST_F(PostgresSettings, RepeatableReadIsNoDefaultOfPawl) {
    set_for_database("default_transaction_isolation = 'repeatable read'");
    contend(6, 30);
}

//   a holder is idle for longer than the database lets sessions be | its session is still there
TEST_F(PostgresSettings, AnIdleSessionStays) {
    set_for_database("idle_session_timeout = 300");
    client locks = client_with();
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    const auto connections = locks.statistics().connections;
    std::this_thread::sleep_for(1s);  // longer than the limit of idle sessions
    lock.renew();
    EXPECT_EQ(locks.statistics().connections, connections);
    EXPECT_EQ(lock.release(), release_result::released);
}

//   another transaction has locked the row of the name: a try fails, and ends | it commits | the
//   lock is free, also of what the try had sent
TEST_F(PostgresSettings, ARowThatOthersLockIsWaitedFor) {
    client locks = client_with();
    expect_pairs(locks, "it", 1);
    sql_client stranger(server.url(database));
    stranger.execute("BEGIN");
    stranger.execute("SELECT * FROM pawl.lock WHERE name = 'it' FOR UPDATE");
    const auto failed = failure_of([&] { (void)locks.try_acquire("it", {.ttl = long_ttl}); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_TRUE(failed->reason == errc::unavailable || failed->reason == errc::unreachable)
        << failed;
    expect_pairs(locks, "another", 3);
    stranger.execute("COMMIT");
    EXPECT_TRUE(becomes_clean());
    expect_pairs(locks, "it", 1);
}

//   A's try is carried out, but its commit fails, as somebody's constraint demands: A learns that
//   it has no lock | without the constraint, A gets it
TEST_F(PostgresSettings, ACommitThatFailsGivesNoLock) {
    client locks = client_with();
    warm(locks);
    execute(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION "
        "'no commit' USING errcode = 'serialization_failure'; END $$");
    execute(
        "CREATE CONSTRAINT TRIGGER refusal AFTER INSERT OR UPDATE ON pawl.lock DEFERRABLE "
        "INITIALLY "
        "DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()");
    for (int i = 0; i < 2; ++i) {
        const auto failed = failure_of([&] { (void)locks.try_acquire("it", {.ttl = long_ttl}); });
        ASSERT_TRUE(failed.has_value());
        EXPECT_EQ(failed->reason, errc::unavailable) << failed;
    }
    EXPECT_FALSE(is_held("it"));
    execute("DROP TRIGGER refusal ON pawl.lock");
    expect_pairs(locks, "it", 3);
    EXPECT_EQ(locks.statistics().connections, 1);
}

//   A holds (2 s) | somebody locks the whole table for longer | A is told in time | it ends | B
//   gets a larger token
TEST_F(PostgresSettings, ALockedTableCostsTheLockInTime) {
    client locks = client_with();
    auto lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
    const loss_recorder loss(lock);
    sql_client stranger(server.url(database));
    stranger.execute("BEGIN");
    stranger.execute("LOCK TABLE pawl.lock IN ACCESS EXCLUSIVE MODE");
    ASSERT_TRUE(loss.is_told_within(10s));
    EXPECT_LE(loss.told_at(), lock.safe_until() + 50ms);  // for the callback itself
    stranger.execute("ROLLBACK");
    auto next = locks.acquire("it", {.ttl = 2s, .wait = patience});
    EXPECT_GT(next.token(), lock.token());
    EXPECT_EQ(next.release(), release_result::released);
}

//   a report reads for long, so that no dead row can be removed | holds go on, and the report sees
//   what it saw before
TEST_F(PostgresSettings, ALongSnapshotStopsNobody) {
    client locks = client_with();
    expect_pairs(locks, "it", 1);
    sql_client report(server.url(database));
    report.execute("BEGIN ISOLATION LEVEL REPEATABLE READ");
    const auto fence = report.number("SELECT fence FROM pawl.lock WHERE name = 'it'");
    expect_pairs(locks, "it", 1000);
    EXPECT_EQ(report.number("SELECT fence FROM pawl.lock WHERE name = 'it'"), fence);
    EXPECT_GT(number("SELECT fence FROM pawl.lock WHERE name = 'it'"), fence);
    report.execute("COMMIT");
    expect_pairs(locks, "it", 3);
}

//   two clients renew 40 locks between them, the first time after 6 s | a stranger locks the rows
//   in the opposite order, again and again | deadlocks are the server's to end, and cost no hold:
//   the stranger stops long before the leases end
TEST_F(PostgresSettings, DeadlocksCostNoHold) {
    client first = client_with(), second = client_with();
    std::vector<held_lock> locks;
    for (int i = 0; i < 40; ++i)
        locks.push_back((i % 2 == 0 ? first : second)
                            .acquire("lock" + std::to_string(i), {.ttl = 20s, .wait = patience}));
    server.set("deadlock_timeout", "20ms");
    sql_client stranger(server.url(database));
    const auto until = boot_clock::now() + 9s;
    while (boot_clock::now() < until) {
        stranger.execute("BEGIN");
        try {
            for (int i = 39; i >= 0; --i)
                stranger.execute("SELECT 1 FROM pawl.lock WHERE name = 'lock" + std::to_string(i) +
                                 "' FOR UPDATE");
        } catch (const support::sql_failure& failed) {
            EXPECT_EQ(failed.code(), "40P01") << failed.what();
        }
        stranger.execute("ROLLBACK");
    }
    for (held_lock& each : locks) {
        EXPECT_TRUE(eventually([&] { return each.state() != lock_state::at_risk; }));
        EXPECT_EQ(each.state(), lock_state::held);
        EXPECT_EQ(each.release(), release_result::released);
    }
}

}  // namespace
