// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// ShedLock's table in MariaDB: a server that crashes or falls silent, tables that Pawl must refuse,
// and names that the table takes for one.
#include "database_cases.hpp"
#include "mariadb_fixture.hpp"

#include <pawl/mysql.hpp>

#include <gmock/gmock.h>

namespace {

using namespace chaos;

class mariadb_shedlock : public mariadb_fixture {
protected:
    mariadb_shedlock() {
        server.execute("CREATE DATABASE java");
        pawl::mysql::options settings;
        settings.schema = "java";
        settings.shedlock = {.others_use_database_time = true};
        // A second time, as after an update.
        for (int i = 0; i < 2; ++i)
            support::mariadb_client(server.port()).execute_script(pawl::mysql::schema_of(settings));
    }
    [[nodiscard]] client new_client() override { return client_at(url()); }
    [[nodiscard]] std::string url() const {
        return server.url("java", "?layout=shedlock&others=database_time");
    }
    [[nodiscard]] std::string refusal() {
        const auto failed = failure_at(url());
        if (!failed) return "granted";
        EXPECT_EQ(failed->reason, errc::refused) << failed;
        return failed->sentence;
    }
    [[nodiscard]] bool is_free() const {
        return server.number(
                   "SELECT count(*) FROM java.shedlock WHERE lock_until > "
                   "UTC_TIMESTAMP(3)") == 0;
    }
};

class MariaDbShedLockCases : public testing::TestWithParam<database_case<>>,
                             protected mariadb_shedlock {};
TEST_P(MariaDbShedLockCases, Case) { GetParam().run(*this); }
INSTANTIATE_TEST_SUITE_P(On, MariaDbShedLockCases, testing::ValuesIn(shedlock_cases), case_name<>);

class MariaDbShedLock : public testing::Test, protected mariadb_shedlock {};

//   the server is frozen | A tries: unreachable | it goes on, and carries the request out: the hold
//   is released, long before its lease ends
TEST_F(MariaDbShedLock, ALateGrantIsGivenBack) {
    client locks = client_at(url(), 1s);
    (void)locks.acquire("it", {.wait = patience}).release();
    server.freeze();
    const auto failed = failure_of([&] { (void)locks.try_acquire("it", {.ttl = long_ttl}); });
    server.thaw();
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::unreachable) << failed;
    auto next = client_at(url()).acquire("it", {.ttl = long_ttl, .wait = patience});
    EXPECT_EQ(next.release(), release_result::released);
    EXPECT_TRUE(eventually([&] { return is_free(); }));
}

// Renewals within one millisecond change nothing in the row, and are still renewals.
TEST_F(MariaDbShedLock, ManyRenewalsAtOnceAreNoLoss) {
    client locks = client_at(url());
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    for (int i = 0; i < 200; ++i)
        lock.renew();
    EXPECT_EQ(lock.state(), lock_state::held);
    EXPECT_EQ(lock.release(), release_result::released);
}

TEST_F(MariaDbShedLock, ATableThatDoesNotFitIsRefused) {
    const auto place = " of MariaDB at 127.0.0.1:" + std::to_string(server.port());
    server.execute("ALTER TABLE java.shedlock DROP fence");
    EXPECT_EQ(refusal(), "The table shedlock" + place +
                             " has no column fence, which Pawl needs for its tokens; let an "
                             "administrator run: ALTER TABLE shedlock ADD fence BIGINT.");
    server.execute("ALTER TABLE java.shedlock ADD fence BIGINT, MODIFY lock_until TIMESTAMP");
    EXPECT_THAT(refusal(), testing::HasSubstr("(0 digits of a second); it must be TIMESTAMP(3)"));
    server.execute("ALTER TABLE java.shedlock MODIFY lock_until TIMESTAMP(3), DROP PRIMARY KEY");
    EXPECT_THAT(refusal(), testing::HasSubstr("ADD PRIMARY KEY (name)"));
    server.execute("DROP TABLE java.shedlock");
    EXPECT_THAT(refusal(), testing::HasSubstr("has no table shedlock that this user can see"));
    EXPECT_EQ(server.number("SELECT count(*) FROM information_schema.schemata WHERE schema_name = "
                            "'pawl'"),
              0);
}

// ShedLock's manual has no collation, so the table compares names as the database does.
TEST_F(MariaDbShedLock, NamesThatTheTableTakesForOneAreOneLock) {
    server.execute(
        "ALTER TABLE java.shedlock MODIFY name VARCHAR(64) CHARACTER SET utf8mb4 "
        "COLLATE utf8mb4_general_ci");
    client locks = client_at(url()), other = client_at(url());
    auto lock = locks.acquire("Job", {.ttl = long_ttl, .wait = patience});
    EXPECT_TRUE(is_taken(other, "job"));
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_FALSE(is_taken(other, "job"));
    EXPECT_EQ(server.number("SELECT count(*) FROM java.shedlock"), 1);
}

}  // namespace
