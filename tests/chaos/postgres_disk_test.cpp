// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The server's disk is full: what needs space is `unavailable`, and what needs none goes on.
#include "postgres_fixture.hpp"

#include <support/full_disk.hpp>

namespace {

using namespace chaos;

struct with_postgres_disk {
    support::full_disk disk;
};

class PostgresDisk : public testing::Test, with_postgres_disk, protected postgres_fixture {
protected:
    PostgresDisk()
        : postgres_fixture(
              {.config = {}, .access = {}, .runs_on = {.environment = disk.environment()}}) {}

    // Takes locks of new names, until one is refused.
    std::optional<failure> fill(client& locks, std::vector<held_lock>& held) {
        for (int i = 0; i < 1000; ++i) {
            const auto failed = failure_of([&] {
                held.push_back(locks.try_acquire("name " + std::to_string(i), {.ttl = long_ttl}));
            });
            if (failed) return failed;
        }
        return std::nullopt;
    }
    using with_postgres_disk::disk;
};

//   A holds | the disk is full: locks of new names need space, and are refused in the end | A's
//   lock is renewed and released, and B gets it | there is space: the next new name is granted
TEST_F(PostgresDisk, WhatNeedsNoSpaceGoesOn) {
    client locks = client_with(), other = client_with();
    expect_pairs(other, "it", 1);
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    disk.set_full(true);
    std::vector<held_lock> held;
    const auto refused = fill(locks, held);
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->reason, errc::unavailable) << refused;
    lock.renew();
    EXPECT_EQ(lock.state(), lock_state::held);
    EXPECT_EQ(lock.release(), release_result::released);
    auto next = other.acquire("it", {.ttl = long_ttl, .wait = patience});
    EXPECT_GT(next.token(), lock.token());
    EXPECT_EQ(next.release(), release_result::released);
    disk.set_full(false);
    held.clear();
    expect_pairs(locks, "a new name", 1);
    EXPECT_TRUE(becomes_clean());
}

}  // namespace
