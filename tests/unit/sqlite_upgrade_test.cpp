// A file of the version before is brought over with all that it has.
#include "sqlite/place.hpp"
#include "sqlite_world.hpp"

#include <pawl/blocking_latch.hpp>

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

constexpr const char* next_program_of_version_1 =
    "INSERT OR REPLACE INTO locks (ns, name, owner, client, host, pid, command, since, boot, "
    "expires, token) VALUES ('pawl', 'it', 'x', '', '', 0, '', 0, '', 0, 0)";

// With a hold that lasts for an hour, somebody who waits for it, and a hold that is over. Their
// clients are of another network namespace, so that nobody can tell whether they are alive.
class old_file {
public:
    old_file() {
        stranger file(world.path());
        file.run(version_1);
        const auto row = [&](const std::string& name, pawl::time_point ends) {
            return "('pawl', '" + name + "', '" + owner + name +
                   "', 'far/away', 'here', 42, 'old', " + "0, '" + pawl::sqlite::this_boot() +
                   "', " + std::to_string(ends.time_since_epoch().count()) + ", 999)";
        };
        file.run("INSERT INTO pawl VALUES (1, 1000)");
        file.run("INSERT INTO locks VALUES " + row("it", now() + 1h) + ", " + row("over", now()));
        file.run(
            "INSERT INTO waiters (ns, name, owner, client, host, pid, command, boot, ttl, "
            "expires) VALUES ('pawl', 'it', 'next', 'far/away', 'here', 43, 'old', '" +
            pawl::sqlite::this_boot() + "', 60000000000, " +
            std::to_string((now() + 1h).time_since_epoch().count()) + ")");
    }

    const std::string owner = "0123456789abcdef0123456789";
    const sqlite_world world;
};

TEST(sqlite_upgrade, keeps_tokens_holders_and_the_line) {
    const old_file file;
    client one(file.world.service());
    const auto found = one.inspect("it");
    ASSERT_TRUE(found.held_by);
    EXPECT_EQ(found.held_by->token, pawl::fencing_token(999));
    EXPECT_EQ(found.held_by->command, "old");
    EXPECT_EQ(found.held_by->mode, pawl::lock_mode::exclusive);
    EXPECT_EQ(found.waiters, 1U);
    EXPECT_FALSE(one.inspect("over").held_by);
    EXPECT_FALSE(one.acquire(ask("it")));
    EXPECT_GT(one.take("over").grant.token, pawl::fencing_token(1000));
    auto old_hold = pawl::hold{ask("it"), {}};
    old_hold.claim.owner = file.owner + "it";
    EXPECT_EQ(one.release(old_hold), pawl::release_result::released);
    const auto next = one.inspect("it");
    ASSERT_TRUE(next.held_by);
    EXPECT_EQ(next.held_by->pid, 43);
    EXPECT_GT(next.held_by->token, pawl::fencing_token(1001));
    EXPECT_EQ(stranger(file.world.path()).text("PRAGMA user_version"), "3");
}

// A counter that is ahead of the clock, as after a clock that was set back, goes on from there.
TEST(sqlite_upgrade, tokens_do_not_go_back) {
    const old_file file;
    const auto ahead = std::int64_t{1} << 50;
    stranger(file.world.path()).run("UPDATE pawl SET last_token = " + std::to_string(ahead));
    client one(file.world.service());
    EXPECT_EQ(one.take("new").grant.token.value(), static_cast<std::uint64_t>(ahead) + 1);
}

// Version 2 lacks only the instants at which leases were set.
TEST(sqlite_upgrade, keeps_what_version_2_wrote) {
    const sqlite_world world;
    pawl::hold lock;
    {
        client one(world.service());
        lock = one.take("it", 1h);
    }
    stranger file(world.path());
    file.run(
        "ALTER TABLE holders DROP COLUMN set_at; ALTER TABLE waiters DROP COLUMN set_at;"
        "ALTER TABLE latches DROP COLUMN set_at; ALTER TABLE latch_places DROP COLUMN set_at;"
        "INSERT INTO holders SELECT ns, 'gone', 'x', client, host, pid, command, since, 'another', "
        "expires, token, mode, permits FROM holders; PRAGMA user_version = 2");
    client one(world.service());
    const auto kept = one.inspect("it").held_by;
    ASSERT_TRUE(kept);
    EXPECT_EQ(kept->token, lock.grant.token);
    EXPECT_FALSE(one.inspect("gone").held_by);
    EXPECT_GT(one.take("gone").grant.token, lock.grant.token);
    EXPECT_EQ(file.text("PRAGMA user_version"), "3");
}

TEST(sqlite_upgrade, brings_latches) {
    const old_file file;
    pawl::blocking::client locks(file.world.service());
    pawl::blocking::latch gate(locks, "it");
    ASSERT_TRUE(gate.try_set(1));
    EXPECT_EQ(gate.count_down(), 0U);
    EXPECT_TRUE(gate.try_wait());
}

// It sees one holder of a name at most, and would take that one for all.
TEST(sqlite_upgrade, shuts_out_programs_of_the_version_before_that_still_run) {
    const old_file file;
    stranger old_program(file.world.path());
    EXPECT_EQ(old_program.text("SELECT count(*) FROM locks"), "2");
    client one(file.world.service());
    EXPECT_TRUE(one.inspect("it").held_by);
    EXPECT_THROW(old_program.run(next_program_of_version_1), std::runtime_error);
}

TEST(sqlite_upgrade, may_be_begun_by_many_at_once) {
    const old_file file;
    std::barrier<> together(4);
    std::vector<std::jthread> crowd;
    std::atomic<int> seen = 0;
    for (int i = 0; i < 4; ++i)
        crowd.emplace_back([&] {
            client one(file.world.service());
            together.arrive_and_wait();
            if (one.inspect("it").held_by) ++seen;
        });
    crowd.clear();
    EXPECT_EQ(seen, 4);
    EXPECT_EQ(stranger(file.world.path()).text("SELECT count(*) FROM holders"), "1");
}

}  // namespace
}  // namespace backend_tests
