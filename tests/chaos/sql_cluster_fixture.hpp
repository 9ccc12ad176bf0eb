// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A cluster of database servers with the same locks.
#pragma once

#include "redis_fixture.hpp"  // log_capture, failure, loss_recorder and others

#include <pawl/service.hpp>

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
class sql_cluster_fixture : public testing::Test {
protected:
    template <class... Arguments>
    explicit sql_cluster_fixture(Arguments... arguments) : cluster(arguments...) {}

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
    // While the cluster has a node to give up, calls fail.
    [[nodiscard]] static bool becomes_taken(client& locks, const std::string& name) {
        return eventually(
            [&] {
                try {
                    return !locks.try_acquire(name, {.ttl = 2s}).owns_lock();
                } catch (const pawl::error&) {
                    return false;
                }
            },
            60s);
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

    // The others wait for a node that is lost for some 5 s, as the settings say.
    static constexpr pawl::duration long_patience = 90s;

    Cluster cluster;
    log_capture client_log;
};

}  // namespace chaos
