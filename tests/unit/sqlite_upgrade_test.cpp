// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Files of the versions 1 and 2 are upgraded with all their content.
#include "lock_file_fixture.hpp"
#include "sqlite/file_location.hpp"

#include <pawl/blocking/latch.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <thread>
#include <vector>

namespace backend_tests {
namespace {

constexpr const char* version_1 = R"(
PRAGMA journal_mode = WAL;
CREATE TABLE pawl (one INTEGER PRIMARY KEY CHECK (one = 1), last_token INTEGER NOT NULL);
CREATE TABLE locks (ns TEXT NOT NULL, name TEXT NOT NULL, owner TEXT NOT NULL,
    client TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL, command TEXT NOT NULL,
    since INTEGER NOT NULL, boot TEXT NOT NULL, expires INTEGER NOT NULL, token INTEGER NOT NULL,
    PRIMARY KEY (ns, name)) WITHOUT ROWID;
CREATE TABLE waiters (seq INTEGER PRIMARY KEY AUTOINCREMENT, ns TEXT NOT NULL, name TEXT NOT NULL,
    owner TEXT NOT NULL UNIQUE, client TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL,
    command TEXT NOT NULL, boot TEXT NOT NULL, ttl INTEGER NOT NULL, expires INTEGER NOT NULL);
CREATE INDEX line ON waiters (ns, name, seq);
PRAGMA application_id = 1348564844;
PRAGMA user_version = 1;
)";

constexpr const char* acquire_of_version_1 =
    "INSERT OR REPLACE INTO locks (ns, name, owner, client, host, pid, command, since, boot, "
    "expires, token) VALUES ('pawl', 'it', 'x', '', '', 0, '', 0, '', 0, 0)";

// With a hold that lasts for an hour, a waiter, and a hold that has expired. Their clients are of
// another network namespace, so that nothing tells whether they are alive.
class old_file {
public:
    old_file() {
        sqlite_connection file(lock_file.path());
        file.run(version_1);
        const auto row = [&](const std::string& name, pawl::time_point ends) {
            return "('pawl', '" + name + "', '" + owner + name +
                   "', 'far/away', 'here', 42, 'old', " + "0, '" + pawl::sqlite::current_boot_id() +
                   "', " + std::to_string(ends.time_since_epoch().count()) + ", 999)";
        };
        file.run("INSERT INTO pawl VALUES (1, 1000)");
        file.run("INSERT INTO locks VALUES " + row("it", now() + 1h) + ", " + row("over", now()));
        file.run(
            "INSERT INTO waiters (ns, name, owner, client, host, pid, command, boot, ttl, "
            "expires) VALUES ('pawl', 'it', 'next', 'far/away', 'here', 43, 'old', '" +
            pawl::sqlite::current_boot_id() + "', 60000000000, " +
            std::to_string((now() + 1h).time_since_epoch().count()) + ")");
    }

    const std::string owner = "0123456789abcdef0123456789";
    const lock_file_fixture lock_file;
};

TEST(SqliteUpgrade, KeepsTokensHoldersAndTheLine) {
    const old_file file;
    backend_runner holder(file.lock_file.service());
    const auto info = holder.inspect("it");
    ASSERT_TRUE(info.held_by);
    EXPECT_EQ(info.held_by->token, pawl::fencing_token(999));
    EXPECT_EQ(info.held_by->command, "old");
    EXPECT_EQ(info.held_by->mode, pawl::lock_mode::exclusive);
    EXPECT_EQ(info.waiters, 1U);
    EXPECT_FALSE(holder.inspect("over").held_by);
    EXPECT_FALSE(holder.acquire(make_claim("it")));
    EXPECT_GT(holder.acquire_hold("over").grant.token, pawl::fencing_token(1000));
    auto old_hold = pawl::spi::hold{make_claim("it"), {}};
    old_hold.claim.owner = file.owner + "it";
    EXPECT_EQ(holder.release(old_hold), pawl::release_result::released);
    const auto next = holder.inspect("it");
    ASSERT_TRUE(next.held_by);
    EXPECT_EQ(next.held_by->pid, 43);
    EXPECT_GT(next.held_by->token, pawl::fencing_token(1001));
    EXPECT_EQ(sqlite_connection(file.lock_file.path()).text("PRAGMA user_version"), "3");
}

// A counter that is ahead of the clock, as after a clock that was set back, continues from there.
TEST(SqliteUpgrade, TokensDoNotGoBack) {
    const old_file file;
    const auto ahead = std::int64_t{1} << 50;
    sqlite_connection(file.lock_file.path())
        .run("UPDATE pawl SET last_token = " + std::to_string(ahead));
    backend_runner holder(file.lock_file.service());
    EXPECT_EQ(holder.acquire_hold("new").grant.token.value(),
              static_cast<std::uint64_t>(ahead) + 1);
}

// Version 2 lacks only the instants at which leases were set.
TEST(SqliteUpgrade, KeepsWhatVersion2Wrote) {
    const lock_file_fixture lock_file;
    pawl::spi::hold lock;
    {
        backend_runner holder(lock_file.service());
        lock = holder.acquire_hold("it", 1h);
    }
    sqlite_connection file(lock_file.path());
    file.run(
        "ALTER TABLE holders DROP COLUMN set_at; ALTER TABLE waiters DROP COLUMN set_at;"
        "ALTER TABLE latches DROP COLUMN set_at; ALTER TABLE latch_places DROP COLUMN set_at;"
        "INSERT INTO holders SELECT ns, 'gone', 'x', client, host, pid, command, since, 'another', "
        "expires, token, mode, permits FROM holders; PRAGMA user_version = 2");
    backend_runner holder(lock_file.service());
    const auto kept_holder = holder.inspect("it").held_by;
    ASSERT_TRUE(kept_holder);
    EXPECT_EQ(kept_holder->token, lock.grant.token);
    EXPECT_FALSE(holder.inspect("gone").held_by);
    EXPECT_GT(holder.acquire_hold("gone").grant.token, lock.grant.token);
    EXPECT_EQ(file.text("PRAGMA user_version"), "3");
}

TEST(SqliteUpgrade, BringsLatches) {
    const old_file file;
    pawl::blocking::client locks(file.lock_file.service());
    pawl::blocking::latch gate(locks, "it");
    ASSERT_TRUE(gate.try_set(1));
    EXPECT_EQ(gate.count_down(), 0U);
    EXPECT_TRUE(gate.try_wait());
}

// A program of version 1 sees at most one holder of a name, and would take that one for all.
TEST(SqliteUpgrade, ShutsOutRunningProgramsOfVersion1) {
    const old_file file;
    sqlite_connection old_program(file.lock_file.path());
    EXPECT_EQ(old_program.text("SELECT count(*) FROM locks"), "2");
    backend_runner holder(file.lock_file.service());
    EXPECT_TRUE(holder.inspect("it").held_by);
    EXPECT_THROW(old_program.run(acquire_of_version_1), std::runtime_error);
}

TEST(SqliteUpgrade, MayBeBegunByManyAtOnce) {
    const old_file file;
    std::barrier<> together(4);
    std::vector<std::jthread> threads;
    std::atomic<int> seen_count = 0;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            backend_runner holder(file.lock_file.service());
            together.arrive_and_wait();
            if (holder.inspect("it").held_by) ++seen_count;
        });
    threads.clear();
    EXPECT_EQ(seen_count, 4);
    EXPECT_EQ(sqlite_connection(file.lock_file.path()).text("SELECT count(*) FROM holders"), "1");
}

}  // namespace
}  // namespace backend_tests
