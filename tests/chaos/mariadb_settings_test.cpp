// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Defaults of a MariaDB server under which Pawl's procedures would fail or wait.
#include "mariadb_fixture.hpp"

#include <atomic>
#include <thread>
#include <vector>

namespace {

using namespace chaos;

class MariaDbSettings : public testing::Test, protected mariadb_fixture {
protected:
    // Each client acquires the same lock `rounds` times.
    void contend(int count, int rounds) {
        std::atomic<int> holds = 0, holders = 0, overlaps = 0;
        std::vector<std::jthread> threads;
        for (int i = 0; i < count; ++i)
            threads.emplace_back([&] {
                client locks = client_with();
                for (int round = 0; round < rounds; ++round) {
                    const auto failed = failure_of([&] {
                        auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
                        overlaps += ++holders > 1 ? 1 : 0;
                        --holders;
                        EXPECT_EQ(lock.release(), release_result::released);
                        ++holds;
                    });
                    EXPECT_FALSE(failed.has_value()) << failed;
                }
            });
        threads.clear();
        EXPECT_EQ(overlaps, 0);
        EXPECT_EQ(holds, count * rounds);
        EXPECT_TRUE(becomes_clean());
    }
    [[nodiscard]] std::int64_t deadlocks() const {
        return server.number(
            "SELECT variable_value FROM information_schema.global_status WHERE variable_name = "
            "'INNODB_DEADLOCKS'");
    }
};

// With SERIALIZABLE, each read in a transaction locks a row for others, and writers deadlock.
TEST_F(MariaDbSettings, DefaultsOfTheServerDoNotMatter) {
    for (const auto* each :
         {"SET GLOBAL TRANSACTION ISOLATION LEVEL SERIALIZABLE", "SET GLOBAL autocommit = 0",
          "SET GLOBAL sql_mode = ''", "SET GLOBAL innodb_lock_wait_timeout = 50",
          "SET GLOBAL wait_timeout = 1"})
        server.execute(each);
    contend(6, 30);
    EXPECT_EQ(deadlocks(), 0);
}

}  // namespace
