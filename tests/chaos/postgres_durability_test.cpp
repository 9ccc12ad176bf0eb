// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Durable acquires are accepted where the server's settings make each commit so durable, and
// refused with one sentence elsewhere.
#include "postgres_fixture.hpp"

namespace {

using namespace chaos;
using pawl::durability;

class PostgresDurability : public testing::Test, protected postgres_fixture {
protected:
    PostgresDurability() : postgres_fixture({.config = {}, .access = {}, .flushes = true}) {}

    std::optional<failure> failure_with(durability wanted) {
        client locks = client_with();
        return failure_of([&] {
            auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience, .durable = wanted});
            EXPECT_EQ(lock.release(), release_result::released);
        });
    }
    void expect_refused(durability wanted, errc reason, const std::string& part) {
        const auto refused = failure_with(wanted);
        ASSERT_TRUE(refused);
        EXPECT_EQ(refused->reason, reason);
        EXPECT_NE(refused->sentence.find(part), std::string::npos) << refused->sentence;
        EXPECT_TRUE(becomes_clean());
    }
};

TEST_F(PostgresDurability, CommitsAreOnTheDisk) {
    EXPECT_FALSE(failure_with(durability::disk));
    client locks = client_with();
    auto both = locks.acquire_all({"a", "b"},
                                  {.ttl = long_ttl, .wait = patience, .durable = durability::disk});
    EXPECT_TRUE(both.owns_lock());
}

//   A holds, B waits for a durable lock | A releases: B has it
TEST_F(PostgresDurability, AHandedOverLockIsOnTheDisk) {
    client locks = client_with(), other = client_with();
    auto held = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    std::optional<failure> refused;
    background_task waiting([&] { refused = failure_with(durability::disk); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    EXPECT_EQ(held.release(), release_result::released);
    waiting.join();
    EXPECT_FALSE(refused) << refused->sentence;
}

// Pawl sets synchronous_commit = on where it is off, but cannot set fsync.
TEST_F(PostgresDurability, LazySettingsAreSetOrRefused) {
    server.set("synchronous_commit", "off");
    EXPECT_FALSE(failure_with(durability::disk));
    server.set("synchronous_commit", "local");
    EXPECT_FALSE(failure_with(durability::disk));
    server.set("fsync", "off");
    expect_refused(durability::disk, pawl::errc::unsupported, "set fsync = on there");
}

TEST_F(PostgresDurability, StandbysMustBeAwaited) {
    expect_refused(durability::replicas(1), pawl::errc::not_durable, "waits for 0 standbys");
    support::postgres_server standby({.config = {}, .access = {}, .standby_of = &server});
    expect_refused(durability::replicas(1), pawl::errc::not_durable, "waits for 0 standbys");
    server.set("synchronous_standby_names", "*");
    EXPECT_FALSE(failure_with(durability::replicas(1)));
    expect_refused(durability::replicas(2), pawl::errc::not_durable, "waits for 1 standbys");
    server.set("synchronous_commit", "local");
    expect_refused(durability::replicas(1), pawl::errc::not_durable, "waits for 0 standbys");
}

//   the standby is frozen | A's durable acquire fails | SIGCONT: the lock is free, and A gets it
TEST_F(PostgresDurability, ASilentStandbyGivesNoLock) {
    support::postgres_server standby({.config = {}, .access = {}, .standby_of = &server});
    server.set("synchronous_standby_names", "*");
    ASSERT_FALSE(failure_with(durability::replicas(1)));
    standby.freeze();
    client locks = client_with();
    EXPECT_TRUE(failure_of([&] {
        (void)locks.acquire("it",
                            {.ttl = long_ttl, .wait = 2s, .durable = durability::replicas(1)});
    }));
    standby.thaw();
    EXPECT_FALSE(failure_with(durability::replicas(1)));
    EXPECT_TRUE(becomes_clean());
}

//   the standby is frozen | A's commit waits for it, and an administrator ends the wait: the grant
//   may be lost with this server, so A has no lock | SIGCONT: A gets it
TEST_F(PostgresDurability, AnEndedWaitForAStandbyGivesNoLock) {
    support::postgres_server standby({.config = {}, .access = {}, .standby_of = &server});
    server.set("synchronous_standby_names", "*");
    ASSERT_FALSE(failure_with(durability::replicas(1)));
    standby.freeze();
    std::atomic<bool> is_over = false;
    std::atomic<std::int64_t> ended = 0;
    background_task administrator([&] {
        while (!is_over)
            ended += number(
                "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = "
                "'SyncRep'");
    });
    client locks = client_with();
    EXPECT_TRUE(failure_of([&] { (void)locks.acquire("it", {.ttl = long_ttl, .wait = 2s}); }));
    EXPECT_TRUE(failure_of([&] {
        (void)locks.acquire("it",
                            {.ttl = long_ttl, .wait = 2s, .durable = durability::replicas(1)});
    }));
    is_over = true;
    administrator.join();
    EXPECT_GT(ended, 0);
    standby.thaw();
    EXPECT_FALSE(failure_with(durability::replicas(1)));
    EXPECT_TRUE(becomes_clean());
}

}  // namespace
