// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A client's counters are exact on every backend.
#include "fixtures.hpp"

#include <support/eventually.hpp>

#include <pawl/client.hpp>
#include <pawl/spi/backend.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <vector>

namespace {

using namespace std::chrono_literals;
using pawl::statistics;
using pawl::blocking::client;
using support::eventually;

class Statistics : public testing::TestWithParam<tested::backend> {
protected:
    pawl::conformance::test_service fresh_service = GetParam().fixture->make_test_service();
    const pawl::spi::capabilities supported = GetParam().fixture->capabilities();

    // The servers of the service, which share the names, or all have them.
    static std::uint64_t servers() { return GetParam().name == "Cluster" ? 3 : asked_servers(); }
    // The servers that each request goes to.
    static std::uint64_t asked_servers() { return GetParam().fixture->servers_per_request(); }
    void warm_up(client& locks) const;
};

// The connections exist, and the servers know the scripts.
void Statistics::warm_up(client& locks) const {
    std::vector<pawl::blocking::held_lock> held;
    std::vector<std::string> names{"it"};
    for (int i = 0; i < 10; ++i)
        names.push_back("it/" + std::to_string(i));
    for (const auto& name : names)
        held.push_back(
            locks.acquire(name, {.ttl = std::max<pawl::duration>(300ms, supported.least_ttl)}));
    (void)eventually([&] { return locks.statistics().renewals >= servers(); });
    for (auto& lock : held)
        (void)lock.release();
    for (const auto& name : names)
        (void)locks.inspect(name);
}

TEST_P(Statistics, AnUncontendedPairIsTwoRequests) {
    client locks(fresh_service.target);
    EXPECT_EQ(locks.statistics().requests, 0U) << "making a client asks nobody";
    warm_up(locks);
    const statistics before = locks.statistics();
    for (int i = 0; i < 10; ++i)
        EXPECT_EQ(locks.acquire("it", {.ttl = 60s}).release(), pawl::release_result::released);
    const statistics after = locks.statistics();
    // In Redisson's layout a third request deletes the unlock latch: the key with the result of the
    // release, in case the release is repeated.
    const std::uint64_t most = GetParam().name.starts_with("Redisson") ? 30 : 20 * asked_servers();
    // A server that was late in the first pairs learns the scripts now, or a token.
    const std::uint64_t late = asked_servers() == 1 ? 0 : 2 * asked_servers();
    const auto sent = [&] { return locks.statistics().requests - before.requests; };
    EXPECT_TRUE(eventually([&] { return sent() >= most; }));
    EXPECT_LE(sent(), most + late);
    EXPECT_EQ(after.grants - before.grants, 10U);
    EXPECT_EQ(after.pushes, before.pushes);
    EXPECT_EQ(after.hand_offs, before.hand_offs);
    EXPECT_EQ(after.renewals, before.renewals);
    EXPECT_EQ(after.losses, before.losses);
    EXPECT_EQ(after.connections, fresh_service.restart ? servers() : 0U);
}

TEST_P(Statistics, ATryThatFindsItHeldIsOneRequestAndNoGrant) {
    client holder(fresh_service.target), locks(fresh_service.target);
    warm_up(locks);
    auto lock = holder.acquire("it", {.ttl = 60s});
    const statistics before = locks.statistics();
    EXPECT_FALSE(locks.try_acquire("it").owns_lock());
    // Of several servers, the holder may lack one, which then gets the lock back.
    const auto requests = locks.statistics().requests - before.requests;
    EXPECT_GE(requests, asked_servers());
    EXPECT_LE(requests, asked_servers() == 1 ? 1 : 2 * asked_servers());
    EXPECT_EQ(locks.statistics().grants, before.grants);
}

// The waiter is queued, notified, and confirms; after the notification it sends no second request
// for the lock. If it had to wait for a second, it has also refreshed its place; such a round
// proves nothing.
TEST_P(Statistics, AHandOffNeedsNoSecondAttempt) {
    client holder(fresh_service.target);
    for (int round = 0; round < 20; ++round) {
        // A client of its own: a client that has waited for a lock asks for a place at once.
        client waits(fresh_service.target);
        warm_up(waits);
        auto lock = holder.acquire("it", {.ttl = 60s});
        const statistics before = waits.statistics();
        const auto began = pawl::boot_clock::now();
        auto next = std::async(std::launch::async,
                               [&] { return waits.acquire("it", {.ttl = 60s, .wait = 30s}); });
        ASSERT_TRUE(eventually([&] { return holder.inspect("it").waiters == 1; }));
        (void)lock.release();
        auto own_lock = next.get();
        const auto took = pawl::boot_clock::now() - began;
        const bool confirms = !GetParam().name.ends_with("Memory") && supported.hands_over;
        ASSERT_TRUE(
            eventually([&] { return !confirms || waits.statistics().renewals > before.renewals; }));
        const statistics after = waits.statistics();
        (void)own_lock.release();
        if (took >= 1s) continue;
        EXPECT_EQ(after.grants - before.grants, 1U);
        EXPECT_GE(after.pushes - before.pushes, 1U);
        // A writer's release in Redisson's layout publishes two messages: for Java's sleeping
        // threads, and for those about to sleep. The waiter may receive both.
        EXPECT_LE(after.pushes - before.pushes,
                  GetParam().name == "RedissonReadWrite" ? 2U : asked_servers());
        EXPECT_EQ(after.hand_offs - before.hand_offs, supported.hands_over ? 1U : 0U);
        if (!supported.hands_over) return;  // after the notification it sent one more request
        // The first request asks for no place in the queue: native layout only.
        const auto& name = GetParam().name;
        const auto requests_before_wait =
            name == "Redis" || name == "Sentinel" || name == "Cluster" ? 2U : 1U;
        EXPECT_EQ(after.requests - before.requests, requests_before_wait + (confirms ? 1U : 0U));
        return;
    }
    FAIL() << "no round was over within a second";
}

// Leases that are due at nearly the same time are renewed together, those of each server in a
// request. On a busy machine the locks are acquired, and so renewed, in some rounds.
TEST_P(Statistics, ManyRenewalsAreOneRequest) {
    client locks(fresh_service.target);
    warm_up(locks);
    std::vector<pawl::blocking::held_lock> held;
    for (int i = 0; i < 50; ++i)
        held.push_back(locks.acquire("it/" + std::to_string(i), {.ttl = 6s}));
    const statistics before = locks.statistics();
    std::vector<pawl::time_point> ends;
    for (const auto& each : held)
        ends.push_back(each.safe_until());
    ASSERT_TRUE(eventually([&] {
        return std::equal(held.begin(), held.end(), ends.begin(),
                          [](const auto& lock, auto end) { return lock.safe_until() > end; });
    }));
    // The locks have their replies a moment before the request is counted.
    ASSERT_TRUE(eventually([&] { return locks.statistics().renewals > before.renewals; }));
    const statistics after = locks.statistics();
    // In a cluster each lock is in a slot of its own, and a request has the keys of one slot.
    const std::uint64_t each = GetParam().name == "Cluster" ? held.size() : asked_servers();
    const auto rounds = after.renewals - before.renewals;
    EXPECT_LT(rounds, held.size() / 2);
    EXPECT_LE(after.requests - before.requests, rounds * each);
    EXPECT_EQ(after.losses, before.losses);
}

TEST_P(Statistics, ALossIsCountedOnce) {
    client locks(fresh_service.target), operators(fresh_service.target);
    // If the loss is not pushed, the next renewal finds it.
    auto lock = locks.acquire("it", {.ttl = supported.loss_is_pushed ? 60s : 3s});
    EXPECT_TRUE(operators.force_release("it"));
    ASSERT_TRUE(eventually([&] { return lock.lost().stop_requested(); }));
    const auto result = lock.release();
    // A client of a database that does not listen learns only that nobody has the lock.
    const auto& name = GetParam().name;
    if (name == "Postgres" || name == "MariaDb" || name == "MySql") {
        EXPECT_NE(result, pawl::release_result::released);
    } else {
        EXPECT_EQ(result, pawl::release_result::taken_over);
    }
    EXPECT_EQ(locks.statistics().losses, 1U);
    if (asked_servers() == 1) {
        EXPECT_LE(locks.statistics().pushes, 1U);
        if (supported.loss_is_pushed) {
            EXPECT_EQ(locks.statistics().pushes, 1U);
        }
    }
    EXPECT_EQ(operators.statistics().losses, 0U);
}

TEST_P(Statistics, ANewConnectionIsCounted) {
    if (!fresh_service.restart) {
        EXPECT_EQ(client(fresh_service.target).statistics().connections, 0U);
        return;
    }
    client locks(fresh_service.target);
    warm_up(locks);
    EXPECT_TRUE(eventually([&] { return locks.statistics().connections == servers(); }));
    fresh_service.restart();
    (void)locks.acquire("it", {.ttl = 60s, .wait = 30s}).release();
    // Of the servers that all have the names, one restarts.
    const auto restarted = asked_servers() > 1 ? 1 : servers();
    EXPECT_TRUE(
        eventually([&] { return locks.statistics().connections == servers() + restarted; }));
}

TEST_P(Statistics, BothApisCountAlike) {
    boost::asio::io_context loop;
    pawl::client locks(loop.get_executor(), fresh_service.target);
    auto result = locks.async_acquire("it", {.ttl = 60s}, boost::asio::use_future);
    while (result.wait_for(0s) != std::future_status::ready)
        loop.run_one();
    const auto lock = result.get();
    EXPECT_EQ(locks.statistics().grants, 1U);
    EXPECT_GE(locks.statistics().requests, 1U);
}

// Two services at once have the requests of both. The clients of etcd and ZooKeeper also send the
// heartbeats of their sessions, and are told of the changes that they watch.
std::vector<tested::backend> single_services() {
    auto all = tested::all_backends();
    std::erase_if(all, [](const tested::backend& each) {
        return each.name == "Both" || each.name == "Etcd" || each.name.starts_with("ZooKeeper");
    });
    return all;
}

INSTANTIATE_TEST_SUITE_P(On, Statistics, testing::ValuesIn(single_services()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
