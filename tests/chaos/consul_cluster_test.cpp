// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Three servers of Consul, of which the leader is killed and frozen while clients contend.
#include <support/consul_server.hpp>
#include <support/eventually.hpp>

#include <pawl/blocking.hpp>
#include <pawl/consul.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using support::eventually;

constexpr pawl::lock_options patient{.ttl = 20s, .wait = 120s};

// Clients that take turns until they are stopped. They check that nobody is beside them, and that
// tokens grow.
class contenders {
public:
    contenders(const std::string& url, int count) {
        for (int i = 0; i < count; ++i)
            threads_.emplace_back([this, url] { work(url); });
    }
    ~contenders() { stop(); }
    contenders(const contenders&) = delete;
    contenders& operator=(const contenders&) = delete;

    void stop() {
        is_over_ = true;
        threads_.clear();
    }
    [[nodiscard]] int holds() const noexcept { return holds_; }
    [[nodiscard]] int overlaps() const noexcept { return overlaps_; }
    [[nodiscard]] int regressions() const noexcept { return regressions_; }
    [[nodiscard]] bool goes_on() const {
        const int before = holds_;
        return eventually([&] { return holds_ > before + 20; }, 120s);
    }

private:
    void work(const std::string& url) {
        pawl::blocking::client locks(pawl::consul::at(url), {.try_limit = 10s});
        while (!is_over_) {
            try {
                auto held = locks.acquire("it", patient);
                if (inside_.fetch_add(1) != 0) ++overlaps_;
                if (held.token().value() <= newest_.exchange(held.token().value())) ++regressions_;
                // A hold that was lost meanwhile is over.
                if (held.state() == pawl::lock_state::held) ++holds_;
                --inside_;
                (void)held.release();
            } catch (const pawl::error&) {}  // Consul is away
        }
    }

    std::atomic<bool> is_over_ = false;
    std::atomic<int> inside_ = 0, holds_ = 0, overlaps_ = 0, regressions_ = 0;
    std::atomic<std::uint64_t> newest_ = 0;
    std::vector<std::jthread> threads_;
};

TEST(ConsulCluster, LeadersThatAreKilledAndFrozenBreakNothing) {
    support::consul_cluster cluster;
    pawl::blocking::client keeper(pawl::consul::at(cluster.url()), {.try_limit = 10s});
    const auto kept = keeper.acquire("kept", {.ttl = 60s, .wait = 60s});
    contenders all(cluster.url(), 4);
    ASSERT_TRUE(all.goes_on());
    auto& first = cluster.server(cluster.leader());
    first.kill9();
    EXPECT_TRUE(all.goes_on());
    first.start();
    auto& second = cluster.server(cluster.leader());
    second.freeze();
    EXPECT_TRUE(all.goes_on());
    second.thaw();
    EXPECT_TRUE(all.goes_on());
    all.stop();
    EXPECT_EQ(all.overlaps(), 0);
    EXPECT_EQ(all.regressions(), 0);
    EXPECT_EQ(kept.state(), pawl::lock_state::held);
}

// All servers restart: a hold survives if they are back in time, and so does its token's order.
TEST(ConsulCluster, ARestartOfAllServersForgetsNothing) {
    support::consul_cluster cluster;
    pawl::blocking::client locks(pawl::consul::at(cluster.url()), {.try_limit = 10s});
    auto held = locks.acquire("it", {.ttl = 120s, .wait = 60s});
    for (std::size_t i = 0; i < cluster.size(); ++i)
        cluster.server(i).kill9();
    EXPECT_THROW((void)locks.inspect("it"), pawl::error);
    for (std::size_t i = 0; i < cluster.size(); ++i)
        cluster.launch(i);
    held.renew();
    EXPECT_EQ(held.state(), pawl::lock_state::held);
    const auto token = held.token();
    EXPECT_EQ(held.release(), pawl::release_result::released);
    EXPECT_GT(locks.acquire("it", patient).token(), token);
}

}  // namespace
