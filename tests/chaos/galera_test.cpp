// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A Galera cluster of three nodes, all of which accept writes. Of two transactions about one lock,
// the later one to commit is rolled back, on whichever node it is.
#include "sql_cluster_fixture.hpp"

#include <support/galera_cluster.hpp>

namespace {

using namespace chaos;

class Galera : public sql_cluster_fixture<support::galera_cluster> {};

//   A and B acquire on two nodes at once: both see a free lock, and change its row | one commit
//   comes first, the other one is rolled back, and its call repeated: busy, without an error
TEST_F(Galera, TwoNodesGrantNothingTwice) { expect_nothing_granted_twice(); }

struct hold {
    pawl::time_point began, ended;
    int weight;  // a writer has all of it

    [[nodiscard]] bool covers(pawl::time_point time) const { return began <= time && time < ended; }
};

// The largest sum of weights at any time.
int heaviest(const std::vector<hold>& holds) {
    int result = 0;
    for (const auto& each : holds) {
        int sum = 0;
        for (const auto& other : holds)
            sum += other.covers(each.began) ? other.weight : 0;
        result = std::max(result, sum);
    }
    return result;
}

//   readers, writers and holders of permits wait on three nodes | each is granted, no writer beside
//   another holder, and never more permits than there are
TEST_F(Galera, AllModesWaitOnAllNodes) {
    client first = client_of({0});
    (void)expect_pair(first, "it");
    constexpr int writer_weight = 100;
    std::mutex log_mutex;
    std::vector<hold> book_holds, room_holds;
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < 6; ++i)
        threads.emplace_back([&, i] {
            client locks = client_of({i % 3});
            // A waiter's first lease is short. On a busy machine it may end before its renewal.
            const auto hold_once = [&](const std::string& name, const pawl::lock_options& claim,
                                       int weight, std::vector<hold>& holds) {
                auto lock = locks.acquire(name, claim);
                const auto began = boot_clock::now();
                std::this_thread::sleep_for(2ms);  // the hold
                const auto ended = boot_clock::now();
                if (lock.release() != release_result::released) return;
                const std::scoped_lock guard(log_mutex);
                holds.push_back({began, ended, weight});
            };
            for (std::size_t round = 0; round < 5; ++round) {
                const bool is_writer = (i + round) % 3 == 0;
                pawl::lock_options claim{.ttl = long_ttl, .wait = long_patience};
                if (!is_writer) claim.mode = pawl::lock_mode::shared;
                hold_once("book", claim, is_writer ? writer_weight : 1, book_holds);
                claim.mode = pawl::lock_mode::permits;
                claim.permits = 1;
                claim.total_permits = 2;
                hold_once("room", claim, 1, room_holds);
            }
        });
    threads.clear();
    EXPECT_GT(book_holds.size(), 10U);
    EXPECT_GT(room_holds.size(), 10U);
    EXPECT_LE(heaviest(book_holds), writer_weight);
    EXPECT_LE(heaviest(room_holds), 2);
}

//   A holds on node 2 (4 s) | the node is cut from the others: A learns of the loss in time, and
//   node 2 refuses | B gets the lock on the others, with a larger token | C, which lists node 2
//   first, gets a lock of another node | the cut ends: node 2 serves, and knows B's hold
TEST_F(Galera, ANodeWithoutMajorityRefuses) {
    client cut = client_of({2}), majority = client_of({0, 1}), both = client_of({2, 0});
    (void)expect_pair(both, "another");
    auto lock = cut.acquire("it", {.ttl = 4s, .wait = long_patience});
    const auto old_token = lock.token();
    const loss_recorder loss(lock);
    cluster.isolate(2);
    ASSERT_TRUE(loss.is_told_within(patience));
    ASSERT_TRUE(eventually([&] { return !cluster.is_ready(2); }, 60s));
    auto next = majority.acquire("it", {.ttl = long_ttl, .wait = long_patience});
    EXPECT_GT(next.token(), old_token);
    const auto failed = failure_of([&] { (void)cut.try_acquire("free", {.ttl = 2s}); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_TRUE(failed->reason == errc::unavailable || failed->reason == errc::unreachable)
        << failed;
    (void)expect_pair(both, "another");
    cluster.isolate(2, false);
    ASSERT_TRUE(eventually([&] { return cluster.is_ready(2); }, 60s));
    (void)expect_pair(cut, "free");
    EXPECT_TRUE(becomes_taken(cut, "it"));
    EXPECT_NE(next.release(), release_result::expired);
    EXPECT_GT(expect_pair(cut, "it"), next.token().value());
}

//   A holds through node 2 (60 s) and can reach node 0 | node 2 is killed: A keeps the hold, and
//   releases it on node 0 | B waits there, and gets it
TEST_F(Galera, AHoldOutlivesItsNode) {
    expect_hold_outlives(2, client_of({2, 0}), client_of({0, 1}), 30s);
}

//   node 2 is frozen: A, which has its session there, tries on | the others go on without it | it
//   continues, and neither answers from its old data nor grants what the others granted meanwhile
TEST_F(Galera, AFrozenNodeIsLeft) {
    client moving = client_of({2, 0}), stuck = client_of({2});
    const auto old_token = expect_pair(moving, "it");
    (void)expect_pair(stuck, "it");
    cluster.node(2).freeze();
    auto lock = moving.acquire("it", {.ttl = long_ttl, .wait = long_patience});
    EXPECT_GT(lock.token().value(), old_token);
    cluster.node(2).thaw();
    // It is busy, or the node has not come back yet.
    const auto failed = failure_of([&] { (void)stuck.acquire("it", {.ttl = 2s, .wait = 3s}); });
    EXPECT_TRUE(failed.has_value());
    EXPECT_EQ(lock.release(), release_result::released);
    ASSERT_TRUE(eventually([&] { return cluster.is_ready(2); }, 60s));
    EXPECT_GT(expect_pair(stuck, "it"), lock.token().value());
}

//   A locks a row by node 0 (6 s) | a program writes it at node 1, although all should use node 0:
//   its commit undoes A's transaction | A's renewal meets the conflict, and is not repeated past
//   it: A learns of the loss
TEST_F(Galera, ALockedRowIsLostToTheCommitOfAnotherNode) {
    client holder(pawl::from_url(cluster.url({0}, "?mode=row&one_node=yes")));
    auto lock = holder.acquire("it", {.ttl = 6s, .wait = long_patience});
    const loss_recorder loss(lock);
    ASSERT_TRUE(eventually(
        [&] { return cluster.node(1).number("SELECT COUNT(*) FROM pawl.row_lock") == 1; }));
    (void)cluster.node(1).execute("UPDATE pawl.row_lock SET fence = fence + 1");
    EXPECT_TRUE(loss.is_told_within(patience));
    EXPECT_NE(lock.release(), release_result::released);
}

TEST_F(Galera, TheDoctorKnowsTheCluster) {
    client locks = client_of({0, 1});
    const auto examined = locks.examine();
    EXPECT_EQ(examined.guarantees.backend, "MariaDB or MySQL, cluster");
    EXPECT_EQ(fact_of(examined, "cluster"), "Galera, nodes: 3");
    EXPECT_EQ(fact_of(examined, "wake-ups"), "waiters poll");
}

//   eight clients on three nodes make the database at the same time | each of them gets its lock
TEST_F(Galera, OneDatabaseIsMadeByManyClientsAtOnce) {
    std::atomic<int> granted = 0;
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < 8; ++i)
        threads.emplace_back([&, i] {
            client locks = client_of({i % 3});
            const auto failed = failure_of([&] {
                (void)expect_pair(locks, "lock" + std::to_string(i));
                ++granted;
            });
            EXPECT_FALSE(failed.has_value()) << failed;
        });
    threads.clear();
    EXPECT_EQ(granted, 8);
}

}  // namespace
