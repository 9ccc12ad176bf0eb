// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// MariaDB or MySQL refuses the client: a password, a right, the schema, a limit. What lasts is an
// error at once, and its sentence says what to do; what passes is waited for.
#include "mariadb_fixture.hpp"

#include <pawl/mysql.hpp>

namespace {

using namespace chaos;

bool says(const std::optional<failure>& failed, const std::string& words) {
    return failed && failed->sentence.find(words) != std::string::npos;
}

class MySqlRefusal : public mysql_test {
protected:
    MySqlRefusal() {
        server.execute("CREATE USER plain");
        server.execute("CREATE USER guarded IDENTIFIED BY 'open sesame'");
    }
    void prepare_for(const std::string& account) const {
        support::mariadb_client(server.port()).execute_script(pawl::mysql::schema_of({}, account));
    }
    [[nodiscard]] std::string url_for(const std::string& user) const {
        return server.url("pawl", {}, user);
    }
};
INSTANTIATE_TEST_SUITE_P(On, MySqlRefusal, both_products, product_name);

TEST_P(MySqlRefusal, AWrongPasswordIsSaidAndNotShown) {
    for (const std::string user : {"guarded:a-wrong-one", "guarded"}) {
        const auto failed = failure_at(url_for(user));
        ASSERT_TRUE(failed.has_value());
        EXPECT_EQ(failed->reason, errc::refused) << failed;
        EXPECT_TRUE(says(failed, "password")) << failed;
    }
    EXPECT_EQ(client_log.text().find("a-wrong-one"), std::string::npos) << client_log.text();
    prepare_for("guarded");
    client locks = client_at(url_for("guarded:open%20sesame"));
    expect_pairs(locks, "it", 3);
}

TEST_P(MySqlRefusal, AnAccountWithoutRightsIsToldWhatToRun) {
    auto failed = failure_at(url_for("plain"));
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::refused) << failed;
    EXPECT_TRUE(says(failed, "pawl schema")) << failed;
    prepare_for("guarded");
    failed = failure_at(url_for("plain"));
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::refused) << failed;
    EXPECT_TRUE(says(failed, "pawl schema")) << failed;
}

// The least rights: waiters are woken, but no table can be read or written, and nothing can be
// made; and nobody can log in as the owner.
TEST_P(MySqlRefusal, TheLeastRightsAreEnoughAndNoMore) {
    prepare_for("plain");
    client locks = client_at(url_for("plain")), waiting = client_at(url_for("plain"));
    auto lock = locks.acquire("it", {.ttl = long_ttl});
    held_lock acquired;
    background_task waiter(
        [&] { acquired = waiting.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    lock.renew();
    EXPECT_EQ(lock.release(), release_result::released);
    waiter.join();
    EXPECT_EQ(waiting.statistics().hand_offs, 1U);
    EXPECT_EQ(acquired.release(), release_result::released);
    support::mariadb_client plain(server.port(), "plain");
    for (const char* statement :
         {"SELECT * FROM pawl.lock", "UPDATE pawl.lock SET fence = 1", "DELETE FROM pawl.holder",
          "CREATE TABLE pawl.mine (i int)", "CALL pawl.serve('pawl', 'it', NULL, '')",
          "DROP PROCEDURE pawl.hello_1", "TRUNCATE pawl.meta"}) {
        try {
            plain.execute(statement);
            ADD_FAILURE() << "allowed: " << statement;
        } catch (const support::mariadb_failure& refused) {
            EXPECT_TRUE(refused.number() == 1142 || refused.number() == 1370)
                << statement << ": " << refused.what();
        }
    }
    EXPECT_THROW(support::mariadb_client(server.port(), "pawl_owner"), support::mariadb_failure);
}

// A client's account need not exist for the whole script to stop: nothing makes it without a
// password.
TEST_P(MySqlRefusal, NoAccountIsMadeForTheApplication) {
    EXPECT_THROW(prepare_for("nobody_knows"), support::mariadb_failure);
    EXPECT_EQ(server.number("SELECT count(*) FROM mysql.user WHERE user = 'nobody_knows'"), 0);
}

TEST_P(MySqlRefusal, AMissingDatabaseIsMadeOnlyIfThatIsWanted) {
    const auto failed = failure_at(server.url("pawl", "?make_schema=no"));
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::refused) << failed;
    EXPECT_TRUE(says(failed, "pawl schema")) << failed;
    client locks = client_at(server.url("our_locks"));
    expect_pairs(locks, "it", 1);
    EXPECT_EQ(server.number("SELECT count(*) FROM our_locks.lock"), 1);
}

// An account of the usual rights may make tables, but no procedures. Nothing is half made.
TEST_P(MySqlRefusal, AnAccountWithoutTheRightForProceduresMakesNoTable) {
    server.execute("CREATE DATABASE shop");
    server.execute("GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP ON shop.* TO plain");
    const auto failed = failure_at(server.url("shop", {}, "plain"));
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::refused) << failed;
    EXPECT_TRUE(says(failed, "pawl schema --role")) << failed;
    EXPECT_EQ(server.number("SELECT count(*) FROM information_schema.tables WHERE table_schema = "
                            "'shop'"),
              0);
}

// A database of another program is not mixed with Pawl's tables.
TEST_P(MySqlRefusal, TablesOfAnotherProgramAreRefused) {
    for (const std::string table : {"lock (door int)", "meta (door int)"}) {
        server.execute("CREATE DATABASE shop");
        server.execute("CREATE TABLE shop." + table);
        const auto failed = failure_at(server.url("shop"));
        ASSERT_TRUE(failed.has_value());
        EXPECT_EQ(failed->reason, errc::refused) << failed;
        EXPECT_TRUE(says(failed, "of another program in the database shop")) << failed;
        EXPECT_EQ(server.number("SELECT (SELECT count(*) FROM information_schema.tables WHERE "
                                "table_schema = 'shop') + (SELECT count(*) FROM "
                                "information_schema.routines WHERE routine_schema = 'shop')"),
                  1);
        server.execute("DROP DATABASE shop");
    }
}

//   an attempt that made a part of the database was cut short | the next one makes the rest
TEST_P(MySqlRefusal, AnAttemptGoesOnWhereTheLastOneStopped) {
    client first = client_with();
    expect_pairs(first, "it", 1);
    server.execute("DELETE FROM pawl.meta");
    server.execute("DROP PROCEDURE pawl.hello_1");
    server.execute("DROP TABLE pawl.latch");
    server.execute("ALTER PROCEDURE pawl.serve COMMENT 'made before'");
    client next = client_with();
    expect_pairs(next, "it", 1);
    EXPECT_EQ(server.value("SELECT routine_comment FROM information_schema.routines WHERE "
                           "routine_schema = 'pawl' AND routine_name = 'serve'"),
              "made before");
    EXPECT_EQ(server.number("SELECT count(*) FROM pawl.latch"), 0);
}

//   six clients make the database at the same time | each of them gets its lock
TEST_P(MySqlRefusal, OneDatabaseIsMadeByManyClientsAtOnce) {
    std::atomic<int> granted = 0;
    std::vector<std::jthread> threads;
    for (int i = 0; i < 6; ++i)
        threads.emplace_back([&, i] {
            client locks = client_with();
            auto lock = locks.acquire("lock" + std::to_string(i), {.ttl = 2s, .wait = patience});
            if (lock.release() == release_result::released) ++granted;
        });
    threads.clear();
    EXPECT_EQ(granted, 6);
}

TEST_P(MySqlRefusal, ANewerFormatIsSaidWithItsNumber) {
    client locks = client_with();
    expect_pairs(locks, "it", 1);
    server.execute("UPDATE pawl.meta SET format = 7");
    const auto failed = failure_at(server.url());
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::refused) << failed;
    EXPECT_TRUE(says(failed, "7")) << failed;
}

//   the server only reads: a try fails, an acquire waits | it accepts writes again: granted
TEST_P(MySqlRefusal, AReadOnlyServerIsWaitedFor) {
    prepare_for("plain");
    client locks = client_at(url_for("plain"));
    expect_pairs(locks, "it", 1);
    server.execute("SET GLOBAL read_only = 1");
    const auto failed = failure_of([&] { (void)locks.try_acquire("it", {.ttl = 2s}); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::unavailable) << failed;
    held_lock acquired;
    background_task waiting([&] { acquired = locks.acquire("it", {.ttl = 2s, .wait = patience}); });
    server.execute("SET GLOBAL read_only = 0");
    waiting.join();
    EXPECT_EQ(acquired.release(), release_result::released);
}

//   A, an administrator, holds (2 s) | the server only reads, as before another one takes over: A
//   cannot renew there, though it has the right to write, and is told of the loss in time
TEST_P(MySqlRefusal, AReadOnlyServerRenewsForNobody) {
    client locks = client_with();
    auto lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
    const loss_recorder loss(lock);
    server.execute("SET GLOBAL read_only = 1");
    EXPECT_TRUE(loss.is_told_within(20s));
    server.execute("SET GLOBAL read_only = 0");
}

//   A has a lock by a name of its own | another server has taken over, where A's hold may be an old
//   one: B cannot adopt it during the pause, and A renews it | after the pause, B adopts it
TEST_P(MySqlRefusal, NothingIsAdoptedInThePause) {
    client locks = client_with();
    auto lock = locks.acquire_as("it", "ticket", {.ttl = long_ttl, .wait = patience});
    server.execute("UPDATE pawl.meta SET server = 'another one'");
    client other = client_with();
    const auto adopt = [&] { return other.adopt("it", "ticket", {.ttl = long_ttl}); };
    const auto failed = failure_of([&] { (void)adopt(); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::unavailable) << failed;
    lock.renew();
    EXPECT_EQ(lock.state(), lock_state::held);
    server.execute("UPDATE pawl.meta SET hold_off = null");
    EXPECT_GT(adopt().token(), lock.token());
}

// A replica may take over before it has the first grants and their ttl.
TEST_P(MySqlRefusal, APauseHasALeastLength) {
    client locks = client_with();
    (void)locks.acquire("it", {.ttl = 2s, .wait = patience}).release();
    EXPECT_EQ(server.number("SELECT most_ttl FROM pawl.meta"), 30000);
}

//   another server has taken over (its identity is another one): nothing is granted for the longest
//   ttl | with after_failover=go, at once
TEST_P(MySqlRefusal, AnotherServerPausesGrants) {
    client locks = client_with();
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    const auto old_token = lock.token();
    EXPECT_EQ(lock.release(), release_result::released);
    server.execute("UPDATE pawl.meta SET server = 'another one'");
    client going = client_with("?after_failover=go");
    auto granted = going.acquire("it", {.ttl = long_ttl, .wait = patience});
    EXPECT_GT(granted.token(), old_token);
    EXPECT_EQ(granted.release(), release_result::released);
    server.execute("UPDATE pawl.meta SET server = 'another one'");
    client careful = client_with();
    EXPECT_FALSE(careful.try_acquire("it", {.ttl = 2s}).owns_lock());
    EXPECT_EQ(server.number("SELECT hold_off > utc_timestamp(6) FROM pawl.meta"), 1);
}

}  // namespace
