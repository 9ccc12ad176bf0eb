// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A lock in the program's own transaction.
#include "postgres_fixture.hpp"

#include <pawl/postgres_transaction.hpp>

namespace {

using namespace chaos;
using pawl::postgres::advisory_keys;
using pawl::postgres::lock_in_transaction;

class PostgresTransaction : public testing::Test, protected postgres_fixture {
protected:
    PostgresTransaction() : first(server.url(database)), other(server.url(database)) {
        first.execute("BEGIN");
        other.execute("BEGIN");
    }
    [[nodiscard]] static bool lock(sql_client& where, const std::string& name,
                                   pawl::duration wait = 0s) {
        return lock_in_transaction(where.handle(), name, {.wait = wait});
    }

    sql_client first, other;
};

TEST_F(PostgresTransaction, LocksUntilItsEnd) {
    EXPECT_TRUE(lock(first, "it"));
    EXPECT_TRUE(lock(first, "it")) << "a transaction may lock a name again";
    EXPECT_FALSE(lock(other, "it"));
    EXPECT_TRUE(lock(other, "another"));
    first.execute("COMMIT");
    EXPECT_TRUE(lock(other, "it"));
}

// A wait that is over leaves the transaction and its settings as they were, and a lock of a bounded
// wait outlasts the savepoint within which it was acquired.
TEST_F(PostgresTransaction, OutlastsTheEndOfAWait) {
    other.execute("SET LOCAL lock_timeout = '7s'");
    EXPECT_TRUE(lock(first, "it"));
    EXPECT_FALSE(lock(other, "it", 50ms));
    EXPECT_EQ(other.value("SHOW lock_timeout"), "7s");
    first.execute("ROLLBACK");
    EXPECT_TRUE(lock(other, "it", 20s));
    EXPECT_EQ(other.value("SHOW lock_timeout"), "7s");
    first.execute("BEGIN");
    EXPECT_FALSE(lock(first, "it"));
}

// The server's time limit has 31 bits, of milliseconds.
TEST_F(PostgresTransaction, WaitsForMonths) {
    EXPECT_TRUE(lock(first, "it", 24h * 100));
    EXPECT_FALSE(lock(other, "it"));
}

TEST_F(PostgresTransaction, OfReadersShareALock) {
    const pawl::postgres::transaction_lock_options reading{.wait = 0s,
                                                           .mode = pawl::lock_mode::shared};
    EXPECT_TRUE(lock_in_transaction(first.handle(), "it", reading));
    EXPECT_TRUE(lock_in_transaction(other.handle(), "it", reading));
    sql_client third(server.url(database));
    third.execute("BEGIN");
    EXPECT_FALSE(lock(third, "it"));
}

// As with_advisory_lock of Ruby calls it, and as a program that knows only the number does.
TEST_F(PostgresTransaction, SharesTheKeysOfOthers) {
    EXPECT_TRUE(
        lock_in_transaction(first.handle(), "orders", {.wait = 0s, .keys = advisory_keys::crc32}));
    EXPECT_EQ(other.value("SELECT pg_try_advisory_xact_lock(1697644014, 0)"), "f");
    EXPECT_TRUE(lock_in_transaction(first.handle(), "orders", {.wait = 0s}));
    EXPECT_EQ(other.value("SELECT pg_try_advisory_xact_lock(-2320718996252393473)"), "f");
    EXPECT_TRUE(
        lock_in_transaction(first.handle(), "7", {.wait = 0s, .keys = advisory_keys::number}));
    EXPECT_EQ(other.value("SELECT pg_try_advisory_xact_lock(7)"), "f");
}

TEST_F(PostgresTransaction, IsNeededAndMustNotHaveFailed) {
    sql_client outside(server.url(database));
    const auto missing = failure_of([&] { (void)lock(outside, "it"); });
    ASSERT_TRUE(missing.has_value());
    EXPECT_EQ(missing->reason, errc::unsupported);
    EXPECT_THROW(first.execute("SELECT 1 / 0"), support::sql_failure);
    const auto failed = failure_of([&] { (void)lock(first, "it"); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::unsupported);
    EXPECT_NE(failed->sentence.find("roll it back"), std::string::npos) << failed->sentence;
}

}  // namespace
