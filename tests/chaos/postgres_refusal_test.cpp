// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// PostgreSQL refuses the client: a password, a right, the schema, a limit. What lasts is an error
// at once, and its sentence says what to do; what passes is waited for.
#include "postgres_fixture.hpp"

#include <pawl/postgres.hpp>

namespace {

using namespace chaos;

bool says(const std::optional<failure>& failed, const std::string& words) {
    return failed && failed->sentence.find(words) != std::string::npos;
}

class PostgresRefusal : public testing::Test, protected postgres_fixture {
protected:
    PostgresRefusal()
        : postgres_fixture(
              {.config = {"max_connections = 12", "superuser_reserved_connections = 3"},
               .access = {"host all guarded 127.0.0.1/32 scram-sha-256"}}) {
        execute("CREATE ROLE plain LOGIN");
        execute("CREATE ROLE guarded LOGIN PASSWORD 'open sesame'");
    }
    [[nodiscard]] std::optional<failure> failure_at(const std::string& url) {
        const auto began = boot_clock::now();
        auto failed = postgres_fixture::failure_at(url);
        EXPECT_LT(boot_clock::now() - began, 20s) << "waiting does not help: " << failed;
        return failed;
    }
    void make_schema() {
        client locks = client_with();
        expect_pairs(locks, "it", 1);
    }
    [[nodiscard]] std::string with_password(const std::string& password) const {
        return url_for("guarded:" + password);
    }
};

TEST_F(PostgresRefusal, AWrongPasswordIsSaidAndNotShown) {
    const auto failed = failure_at(with_password("a-wrong-one"));
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::refused) << failed;
    EXPECT_TRUE(says(failed, "password")) << failed;
    EXPECT_EQ(client_log.text().find("a-wrong-one"), std::string::npos) << client_log.text();
    const auto missing = failure_at(url_for("guarded"));
    ASSERT_TRUE(missing.has_value());
    EXPECT_EQ(missing->reason, errc::refused) << missing;
}

TEST_F(PostgresRefusal, TheRightPasswordIsEnough) {
    execute(pawl::postgres::schema_of({}, "guarded"));
    client locks = client_at(with_password("open%20sesame"));
    expect_pairs(locks, "it", 3);
}

TEST_F(PostgresRefusal, AnUnknownDatabaseIsSaid) {
    const auto failed = failure_at(server.url("nowhere"));
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::bad_option) << failed;
    EXPECT_TRUE(says(failed, "nowhere")) << failed;
}

TEST_F(PostgresRefusal, ARoleThatMayNotMakeTheSchemaIsToldWhatToRun) {
    const auto failed = failure_at(url_for("plain"));
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::refused) << failed;
    EXPECT_TRUE(says(failed, "pawl schema")) << failed;
}

TEST_F(PostgresRefusal, ARoleWithoutRightsInTheSchemaIsToldWhatToRun) {
    execute(pawl::postgres::schema_of({}, "guarded"));
    const auto failed = failure_at(url_for("plain"));
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::refused) << failed;
    EXPECT_TRUE(says(failed, "pawl schema")) << failed;
}

// The least rights: no table can be read or written, and nothing can be made.
TEST_F(PostgresRefusal, TheLeastRightsAreEnoughAndNoMore) {
    execute(pawl::postgres::schema_of({}, "plain"));
    client locks = client_at(url_for("plain")), waiting = client_at(url_for("plain"));
    auto lock = locks.acquire("it", {.ttl = long_ttl});
    held_lock acquired;
    background_task waiter(
        [&] { acquired = waiting.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    lock.renew();
    EXPECT_EQ(lock.release(), release_result::released);
    waiter.join();
    EXPECT_EQ(acquired.release(), release_result::released);
    sql_client plain(url_for("plain"));
    for (const char* statement :
         {"SELECT * FROM pawl.lock", "UPDATE pawl.lock SET fence = 1", "DELETE FROM pawl.holder",
          "CREATE TABLE pawl.mine (i int)", "SELECT pawl.serve(NULL, NULL, '', true)",
          "TRUNCATE pawl.boot", "SELECT nextval('pawl.place')"}) {
        try {
            plain.execute(statement);
            ADD_FAILURE() << "allowed: " << statement;
        } catch (const support::sql_failure& refused) {
            EXPECT_EQ(refused.code(), "42501") << statement << ": " << refused.what();
        }
    }
}

TEST_F(PostgresRefusal, AMissingSchemaIsMadeOnlyIfThatIsWanted) {
    const auto failed = failure_at(server.url(database, "?make_schema=no"));
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::refused) << failed;
    EXPECT_TRUE(says(failed, "pawl schema")) << failed;
    EXPECT_EQ(number("SELECT count(*) FROM pg_namespace WHERE nspname = 'pawl'"), 0);
    client locks = client_with("?schema=our_locks");
    expect_pairs(locks, "it", 1);
    EXPECT_EQ(number("SELECT count(*) FROM our_locks.lock"), 1);
}

//   six clients make the schema at the same time | each of them gets its lock
TEST_F(PostgresRefusal, OneSchemaIsMadeByManyClientsAtOnce) {
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

// Somebody made a schema with this name, or a part of Pawl's.
TEST_F(PostgresRefusal, AHalfMadeSchemaIsNotUsed) {
    execute("CREATE SCHEMA pawl");
    auto failed = failure_at(server.url(database));
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::refused) << failed;
    EXPECT_TRUE(says(failed, "pawl schema")) << failed;
    execute("DROP SCHEMA pawl");
    make_schema();
    execute(
        "DO $$ DECLARE f regprocedure; BEGIN SELECT oid::regprocedure INTO f FROM pg_proc WHERE "
        "pronamespace = 'pawl'::regnamespace AND proname = 'acquire_1'; EXECUTE 'DROP FUNCTION "
        "' || f; END $$");
    failed = failure_at(server.url(database));
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::refused) << failed;
}

TEST_F(PostgresRefusal, OtherColumnsAreSaid) {
    make_schema();
    execute("ALTER TABLE pawl.lock RENAME fence TO gate");
    const auto failed = failure_at(server.url(database));
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::refused) << failed;
    EXPECT_TRUE(says(failed, "is not as Pawl makes it")) << failed;
}

TEST_F(PostgresRefusal, ANewerFormatIsSaidWithItsNumber) {
    make_schema();
    execute("UPDATE pawl.meta SET format = 7");
    const auto failed = failure_at(server.url(database));
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::refused) << failed;
    EXPECT_TRUE(says(failed, "7")) << failed;
}

//   no connection is left for this role: a try fails, an acquire waits | others disconnect: granted
TEST_F(PostgresRefusal, TooManyConnectionsAreWaitedFor) {
    execute(pawl::postgres::schema_of({}, "plain"));
    std::vector<std::unique_ptr<sql_client>> others;
    try {
        for (;;)
            others.push_back(std::make_unique<sql_client>(url_for("plain")));
    } catch (const support::sql_failure&) {
        ASSERT_FALSE(others.empty());
    }
    client locks = client_at(url_for("plain"));
    const auto failed = failure_of([&] { (void)locks.try_acquire("it", {.ttl = 2s}); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::unavailable) << failed;
    held_lock acquired;
    background_task waiting([&] { acquired = locks.acquire("it", {.ttl = 2s, .wait = patience}); });
    others.clear();
    waiting.join();
    EXPECT_EQ(acquired.release(), release_result::released);
}

//   new sessions may only read: a try fails, an acquire waits | they may write again: granted
TEST_F(PostgresRefusal, AReadOnlyDatabaseIsWaitedFor) {
    make_schema();
    execute("ALTER DATABASE " + database + " SET default_transaction_read_only = on");
    client locks = client_with();
    const auto failed = failure_of([&] { (void)locks.try_acquire("it", {.ttl = 2s}); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::unavailable) << failed;
    held_lock acquired;
    background_task waiting([&] { acquired = locks.acquire("it", {.ttl = 2s, .wait = patience}); });
    sql_client(server.url())
        .execute("ALTER DATABASE " + database + " RESET default_transaction_read_only");
    waiting.join();
    EXPECT_EQ(acquired.release(), release_result::released);
}

// The names are texts of the database's encoding.
TEST_F(PostgresRefusal, ANameThatTheEncodingLacksIsSaid) {
    server.execute("CREATE DATABASE latin ENCODING LATIN1 LOCALE 'C' TEMPLATE template0");
    client locks = client_at(server.url("latin"));
    expect_pairs(locks, "caf\u00e9", 1);
    const auto failed =
        failure_of([&] { (void)locks.acquire("\u65e5\u672c", {.ttl = 2s, .wait = patience}); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::bad_option) << failed;
    expect_pairs(locks, "caf\u00e9", 1);
}

}  // namespace
