// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A group of three MySQL servers, of which one or all accept writes.
#include "sql_cluster_fixture.hpp"

#include <support/replication_group.hpp>

namespace {

using namespace chaos;
using support::group_writers;

class GroupReplication : public sql_cluster_fixture<support::replication_group> {};

class GroupOfWriters : public sql_cluster_fixture<support::replication_group> {
protected:
    GroupOfWriters() : sql_cluster_fixture(group_writers::all) {}
};

TEST_F(GroupReplication, TheDoctorKnowsTheGroup) {
    client locks = client_of({0, 1});
    const auto examined = locks.examine();
    EXPECT_EQ(examined.guarantees.backend, "MariaDB or MySQL, cluster");
    EXPECT_EQ(fact_of(examined, "cluster"), "group replication");
    EXPECT_EQ(fact_of(examined, "wake-ups"), "waiters poll");
}

//   A holds by the primary (60 s), and names all members | the primary is killed, another member
//   takes over: A keeps the hold, and releases it there | B, which names the secondaries first,
//   waits and gets it
TEST_F(GroupReplication, AHoldOutlivesThePrimary) {
    expect_hold_outlives(0, client_of({0, 1, 2}), client_of({1, 2, 0}), 60s);
}

//   A holds by the primary | a member leaves the group, as after a restart without it, and accepts
//   writes: it has A's group's name and an old copy of the locks | B, which names it first, finds
//   A's hold at another member; C, which names only it, gets no lock
TEST_F(GroupReplication, AMemberThatHasLeftGrantsNothing) {
    client holder = client_of({0});
    auto lock = holder.acquire("it", {.ttl = long_ttl, .wait = long_patience});
    cluster.leave(2);
    ASSERT_TRUE(cluster.is_writable(2));
    client both = client_of({2, 0}), stray = client_of({2}, 3s);
    EXPECT_FALSE(both.try_acquire("it", {.ttl = 2s}).owns_lock());
    for (const auto* name : {"it", "free"}) {
        const auto failed = failure_of([&] { (void)stray.try_acquire(name, {.ttl = 2s}); });
        ASSERT_TRUE(failed.has_value());
        EXPECT_NE(failed->sentence.find("not with the majority of its replication group"),
                  std::string::npos)
            << failed;
    }
    EXPECT_EQ(lock.release(), release_result::released);
}

//   A holds by the primary (4 s) | the two other members are stopped, so the primary commits
//   nothing: A learns of the loss in time, and B gets nothing | they continue: B gets the lock,
//   with a larger token
TEST_F(GroupReplication, AMinorityGrantsNothing) {
    client holder = client_of({0}), other = client_of({0});
    (void)expect_pair(other, "another");
    auto lock = holder.acquire("it", {.ttl = 4s, .wait = long_patience});
    const auto old_token = lock.token();
    const loss_recorder loss(lock);
    cluster.node(1).freeze();
    cluster.node(2).freeze();
    EXPECT_TRUE(loss.is_told_within(patience));
    const auto failed = failure_of([&] { (void)other.acquire("it", {.ttl = 2s, .wait = 5s}); });
    EXPECT_TRUE(failed.has_value());
    cluster.node(1).thaw();
    cluster.node(2).thaw();
    ASSERT_TRUE(eventually([&] { return cluster.is_ready(0); }, 60s));
    auto next = other.acquire("it", {.ttl = long_ttl, .wait = long_patience});
    EXPECT_GT(next.token(), old_token);
    EXPECT_NE(next.release(), release_result::expired);
}

//   A and B acquire on two members at once: both see a free lock, and change its row | one commit
//   comes first, the other one is rolled back, and its call repeated: busy, without an error
TEST_F(GroupOfWriters, TwoMembersGrantNothingTwice) { expect_nothing_granted_twice(); }

}  // namespace
