// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What happens when a bound of a client of Consul is met: connections, sessions, transactions.
#include <support/consul_server.hpp>
#include <support/eventually.hpp>

#include <pawl/blocking.hpp>
#include <pawl/consul.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using support::consul_server;

class ConsulBounds : public testing::Test {
protected:
    static const consul_server& server() {
        static const consul_server one;
        return one;
    }
    static pawl::blocking::client make_client(const std::string& name_space) {
        return pawl::blocking::client(pawl::consul::at(server().url("?namespace=" + name_space)),
                                      {.try_limit = 10s});
    }
};

std::vector<std::string> names_up_to(int count) {
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i)
        names.push_back("n" + std::to_string(i));
    return names;
}

// 32 names are waited for by connections of their own, the others are polled.
TEST_F(ConsulBounds, MoreNamesAreWaitedForThanThereAreConnections) {
    auto holder = make_client("waits"), waiting = make_client("waits");
    const auto names = names_up_to(40);
    std::vector<pawl::blocking::held_lock> held;
    for (const auto& name : names)
        held.push_back(holder.acquire(name, {.ttl = 60s, .wait = 60s}));
    std::atomic<int> granted = 0;
    std::vector<std::jthread> threads;
    for (const auto& name : names)
        threads.emplace_back([&waiting, &granted, name] {
            if (waiting.acquire(name, {.ttl = 60s, .wait = 120s}).owns_lock()) ++granted;
        });
    EXPECT_TRUE(support::eventually([&] { return waiting.statistics().connections >= 32; }));
    EXPECT_LE(waiting.statistics().connections, 32U + 2 * 4U);
    EXPECT_EQ(granted, 0);
    for (auto& each : held)
        EXPECT_EQ(each.release(), pawl::release_result::released);
    threads.clear();
    EXPECT_EQ(granted, 40);
}

TEST_F(ConsulBounds, TheTtlsOfAClientHaveABound) {
    auto locks = make_client("ttls");
    std::vector<pawl::blocking::held_lock> held;
    for (int i = 0; i < 64; ++i)
        held.push_back(locks.acquire("n" + std::to_string(i),
                                     {.ttl = std::chrono::seconds(60 + i), .wait = 60s}));
    try {
        (void)locks.acquire("one more", {.ttl = 200s, .wait = 60s});
        ADD_FAILURE() << "a client has more sessions than it may";
    } catch (const pawl::error& failed) {
        EXPECT_EQ(failed.reason(), pawl::errc::exhausted) << failed.what();
    }
    EXPECT_EQ(held.back().release(), pawl::release_result::released);
    EXPECT_TRUE(locks.acquire("one more", {.ttl = 200s, .wait = 60s}).owns_lock());
}

// 31 names are one transaction; more are acquired one after the other.
TEST_F(ConsulBounds, SetsOfManyLocks) {
    auto locks = make_client("sets"), other = make_client("sets");
    for (const int count : {31, 32, 70}) {
        const auto names = names_up_to(count);
        auto all = locks.acquire_all(names, {.ttl = 60s, .wait = 60s});
        for (const auto& name : {names.front(), names.back()})
            EXPECT_FALSE(other.try_acquire(name, {.ttl = 60s}).owns_lock());
        EXPECT_EQ(all.release(), pawl::release_result::released);
        EXPECT_TRUE(other.list("").empty());
    }
}

// The renewals of more holds than a transaction can check.
TEST_F(ConsulBounds, ManyHoldsAreChecked) {
    auto locks = make_client("holds");
    std::vector<pawl::blocking::held_lock> held;
    for (const auto& name : names_up_to(130))
        held.push_back(locks.acquire(name, {.ttl = 10s, .wait = 60s}));
    const auto before = held.back().safe_until();
    EXPECT_TRUE(support::eventually([&] { return held.back().safe_until() > before + 3s; }));
    server().request("DELETE", "/v1/kv/holds/n129/.lock");
    EXPECT_TRUE(support::eventually([&] { return held.back().lost().stop_requested(); }));
    EXPECT_EQ(locks.statistics().losses, 1U);
}

}  // namespace
