// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Durable acquires are accepted where the server's settings put each commit on the disk, and
// refused with one sentence elsewhere.
#include "mariadb_fixture.hpp"

namespace {

using namespace chaos;
using pawl::durability;

class MariaDbDurability : public testing::Test, protected mariadb_fixture {
protected:
    MariaDbDurability() : mariadb_fixture({.options = {"--log-bin=log", "--sync-binlog=1"}}) {}

    std::optional<failure> failure_with(durability wanted) {
        client locks = client_with();
        return failure_of([&] {
            auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience, .durable = wanted});
            EXPECT_EQ(lock.release(), release_result::released);
        });
    }
    void expect_refused(durability wanted, const std::string& part) {
        const auto refused = failure_with(wanted);
        ASSERT_TRUE(refused);
        EXPECT_EQ(refused->reason, pawl::errc::unsupported);
        EXPECT_NE(refused->sentence.find(part), std::string::npos) << refused->sentence;
        EXPECT_TRUE(becomes_clean());
    }
};

TEST_F(MariaDbDurability, CommitsAreOnTheDiskOrTheLevelIsRefused) {
    EXPECT_FALSE(failure_with(durability::disk));
    expect_refused(durability::replicas(1), "use Redis or PostgreSQL");
    server.execute("SET GLOBAL sync_binlog = 0");
    expect_refused(durability::disk, "set sync_binlog = 1 there");
    server.execute("SET GLOBAL innodb_flush_log_at_trx_commit = 2");
    expect_refused(durability::disk, "set innodb_flush_log_at_trx_commit = 1 there");
}

TEST_F(MariaDbDurability, WithoutABinaryLogItsSettingDoesNotMatter) {
    mariadb_fixture other;
    other.server.execute("SET GLOBAL sync_binlog = 0");
    client locks = other.client_with();
    EXPECT_FALSE(other.failure_of([&] {
        (void)locks.acquire("it", {.ttl = long_ttl, .wait = patience, .durable = durability::disk});
    }));
}

}  // namespace
