// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A Galera cluster of three nodes, all of which accept writes. Of two transactions about one lock,
// the later one to commit is rolled back, on whichever node it is.
#include "redis_fixture.hpp"  // log_capture, failure, loss_recorder and others

#include <support/galera_cluster.hpp>

#include <pawl/service.hpp>

#include <algorithm>

namespace {

using namespace chaos;

class Galera : public testing::Test {
protected:
    // Of these nodes, in this order.
    [[nodiscard]] client client_of(const std::vector<std::size_t>& nodes,
                                   pawl::duration try_limit = 20s) {
        pawl::client_options options;
        options.try_limit = try_limit;
        options.log = [this](std::string_view line) { client_log.write(line); };
        return client(pawl::from_url(cluster.url(nodes)), options);
    }
    [[nodiscard]] std::optional<failure> failure_of(const std::function<void()>& call) {
        try {
            call();
        } catch (const pawl::error& thrown) {
            client_log.write(thrown.what());
            return failure{thrown.reason(), thrown.what()};
        }
        return std::nullopt;
    }
    static std::uint64_t expect_pair(client& locks, const std::string& name) {
        auto lock = locks.acquire(name, {.ttl = long_ttl, .wait = long_patience});
        const auto token = lock.token().value();
        EXPECT_EQ(lock.release(), release_result::released);
        return token;
    }

    // The others wait for a node that is lost for some 5 s, as Galera's settings say.
    static constexpr pawl::duration long_patience = 90s;

    support::galera_cluster cluster;
    log_capture client_log;
};

//   A and B acquire on two nodes at once: both see a free lock, and change its row | one commit
//   comes first, the other one is rolled back, and its call repeated: busy, without an error
TEST_F(Galera, TwoNodesGrantNothingTwice) {
    client first = client_of({0});
    (void)expect_pair(first, "it");
    std::mutex log_mutex;
    std::vector<std::uint64_t> tokens;
    std::atomic<int> holders = 0, overlaps = 0, grants = 0;
    std::vector<std::jthread> threads;
    for (std::size_t node : {0U, 1U, 0U, 1U})
        threads.emplace_back([&, node] {
            client locks = client_of({node});
            for (int round = 0; round < 60; ++round) {
                const auto failed = failure_of([&] {
                    auto lock = locks.try_acquire("it", {.ttl = long_ttl});
                    if (!lock.owns_lock()) return;
                    if (++holders > 1) ++overlaps;
                    ++grants;
                    {
                        const std::scoped_lock guard(log_mutex);
                        tokens.push_back(lock.token().value());
                    }
                    --holders;
                    EXPECT_EQ(lock.release(), release_result::released);
                });
                EXPECT_FALSE(failed.has_value()) << failed;
            }
        });
    threads.clear();
    EXPECT_EQ(overlaps, 0);
    EXPECT_GT(grants, 4);
    EXPECT_EQ(std::adjacent_find(tokens.begin(), tokens.end(), std::greater_equal<>()),
              tokens.end());
}

//   readers, writers and holders of permits wait on three nodes | each is granted, no writer beside
//   another holder, and never more permits than there are
TEST_F(Galera, AllModesWaitOnAllNodes) {
    client first = client_of({0});
    (void)expect_pair(first, "it");
    std::atomic<int> readers = 0, writers = 0, permits = 0, wrong = 0, done = 0;
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < 6; ++i)
        threads.emplace_back([&, i] {
            client locks = client_of({i % 3});
            for (int round = 0; round < 5; ++round) {
                const bool is_writer = (i + static_cast<std::size_t>(round)) % 3 == 0;
                pawl::lock_options claim{.ttl = long_ttl, .wait = long_patience};
                if (!is_writer) claim.mode = pawl::lock_mode::shared;
                auto lock = locks.acquire("it", claim);
                auto& own = is_writer ? writers : readers;
                ++own;
                if (writers > 1 || (writers == 1 && readers > 0)) ++wrong;
                std::this_thread::sleep_for(2ms);  // the hold
                --own;
                EXPECT_EQ(lock.release(), release_result::released);
                claim.mode = pawl::lock_mode::permits;
                claim.permits = 1;
                claim.total_permits = 2;
                auto permit = locks.acquire("room", claim);
                if (++permits > 2) ++wrong;
                std::this_thread::sleep_for(2ms);  // the hold
                --permits;
                EXPECT_EQ(permit.release(), release_result::released);
            }
            ++done;
        });
    threads.clear();
    EXPECT_EQ(done, 6);
    EXPECT_EQ(wrong, 0);
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
    EXPECT_FALSE(cut.try_acquire("it", {.ttl = 2s}).owns_lock());
    EXPECT_EQ(next.release(), release_result::released);
    EXPECT_GT(expect_pair(cut, "it"), next.token().value());
}

//   A holds through node 2 (60 s) and can reach node 0 | node 2 is killed: A keeps the hold, and
//   releases it on node 0 | B waits there, and gets it
TEST_F(Galera, AHoldOutlivesItsNode) {
    client holder = client_of({2, 0}), waiting = client_of({0, 1});
    auto lock = holder.acquire("it", {.ttl = long_ttl, .wait = long_patience});
    cluster.node(2).kill9();
    EXPECT_FALSE(waiting.try_acquire("it", {.ttl = 2s}).owns_lock());
    lock.renew();
    EXPECT_EQ(lock.state(), lock_state::held);
    held_lock acquired;
    background_task waiter(
        [&] { acquired = waiting.acquire("it", {.ttl = long_ttl, .wait = long_patience}); });
    EXPECT_EQ(lock.release(), release_result::released);
    waiter.join();
    EXPECT_GT(acquired.token(), lock.token());
    EXPECT_EQ(acquired.release(), release_result::released);
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

TEST_F(Galera, TheDoctorKnowsTheCluster) {
    client locks = client_of({0, 1});
    const auto examined = locks.examine();
    EXPECT_EQ(examined.guarantees.backend, "MariaDB or MySQL, cluster");
    const auto fact_of = [&](const std::string& topic) {
        const auto found = std::ranges::find(examined.findings, topic, &pawl::finding::topic);
        return found == examined.findings.end() ? "" : found->fact;
    };
    EXPECT_EQ(fact_of("cluster"), "Galera, nodes: 3");
    EXPECT_EQ(fact_of("wake-ups"), "waiters poll");
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
