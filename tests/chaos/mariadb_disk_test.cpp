// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The server's disk is full: what needs space is `unavailable`, until there is space.
#include "mariadb_fixture.hpp"

#include <support/full_disk.hpp>

namespace {

using namespace chaos;

struct with_mariadb_disk {
    support::full_disk disk;
};

class MariaDbDisk : public testing::Test, with_mariadb_disk, protected mariadb_fixture {
protected:
    MariaDbDisk() : mariadb_fixture({.runs_on = {.environment = disk.environment()}}) {}

    // Takes locks of new names, until one is refused.
    std::optional<failure> fill(client& locks, std::vector<held_lock>& held) {
        for (int i = 0; i < 500; ++i) {
            const auto failed = failure_of([&] {
                held.push_back(locks.try_acquire(std::string(400, 'n') + std::to_string(i),
                                                 {.ttl = long_ttl}));
            });
            if (failed) return failed;
        }
        return std::nullopt;
    }
    using with_mariadb_disk::disk;
};

//   A holds | the disk is full: locks of new names need space, and are refused in the end | there
//   is space: A still has its lock, and the next new name is granted. (An update needs space for
//   its undo record, so a renewal on a full disk may fail.)
TEST_F(MariaDbDisk, AFullDiskRefusesLocksAndPasses) {
    client locks = client_with();
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    disk.set_full(true);
    std::vector<held_lock> held;
    const auto refused = fill(locks, held);
    disk.set_full(false);
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->reason, errc::unavailable) << refused;
    ASSERT_TRUE(eventually([&] { return !failure_of([&] { lock.renew(); }); }));
    EXPECT_EQ(lock.release(), release_result::released);
    held.clear();
    expect_pairs(locks, "a new name", 1);
    EXPECT_TRUE(becomes_clean());
}

}  // namespace
