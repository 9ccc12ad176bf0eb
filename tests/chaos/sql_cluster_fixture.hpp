// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A cluster of database servers with the same locks.
#pragma once

#include "database_fixture.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace chaos {

template <class Cluster>
class sql_cluster_fixture : public testing::Test, protected logged_clients {
protected:
    template <class... Arguments>
    explicit sql_cluster_fixture(Arguments... arguments) : cluster(arguments...) {}

    // Of these nodes, in this order.
    [[nodiscard]] client client_of(const std::vector<std::size_t>& nodes,
                                   pawl::duration try_limit = 20s) {
        return client_at(cluster.url(nodes), try_limit);
    }
    // While the cluster has a node to give up, calls fail.
    [[nodiscard]] static bool becomes_taken(client& locks, const std::string& name) {
        return eventually([&] { return is_taken(locks, name); }, 60s);
    }
    static std::uint64_t expect_pair(client& locks, const std::string& name) {
        auto lock = locks.acquire(name, {.ttl = long_ttl, .wait = long_patience});
        const auto token = lock.token().value();
        EXPECT_EQ(lock.release(), release_result::released);
        return token;
    }
    [[nodiscard]] static std::string fact_of(const pawl::examination& examined,
                                             const std::string& topic) {
        const auto found = std::ranges::find(examined.findings, topic, &pawl::finding::topic);
        return found == examined.findings.end() ? "" : found->fact;
    }

    // Two clients at each of two nodes.
    void expect_nothing_granted_twice() {
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
                        EXPECT_NE(lock.release(), release_result::expired);
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

    // The holder's node is killed: the hold stays, and is released at another node. The waiter, at
    // other nodes, gets it.
    void expect_hold_outlives(std::size_t killed, client holder, client waiting,
                              std::chrono::seconds recovery) {
        auto lock = holder.acquire("it", {.ttl = long_ttl, .wait = long_patience});
        cluster.node(killed).kill9();
        EXPECT_TRUE(becomes_taken(waiting, "it"));
        EXPECT_TRUE(eventually([&] { return !failure_of([&] { lock.renew(); }); }, recovery));
        EXPECT_EQ(lock.state(), lock_state::held);
        held_lock acquired;
        background_task waiter(
            [&] { acquired = waiting.acquire("it", {.ttl = long_ttl, .wait = long_patience}); });
        EXPECT_EQ(lock.release(), release_result::released);
        waiter.join();
        EXPECT_GT(acquired.token(), lock.token());
        EXPECT_EQ(acquired.release(), release_result::released);
    }

    // The others wait for a node that is lost for some 5 s, as the settings say.
    static constexpr pawl::duration long_patience = 90s;

    Cluster cluster;
};

}  // namespace chaos
