// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Keyspace notifications of a key that other libraries use, too: how often waiters send requests
// because of them.
#include "redis_fixture.hpp"

#include <pawl/redis.hpp>
#include <redis/common/limits.hpp>

#include <redis_scripts.hpp>

#include <list>

namespace {

using namespace chaos;
namespace scripts = pawl::redis::scripts;

class RefreshRate : public testing::Test, protected redis_fixture {
protected:
    void set_foreign_lock() {
        ASSERT_EQ(server.execute({"SET", "it", "theirs", "PX", "60000"}).text, "OK");
    }
    bool has_waiters(std::uint64_t count) {
        client observer = direct_client("?key={name}");
        return eventually([&] { return observer.inspect("it").waiters == count; });
    }
    std::size_t refresh_count() { return proxy.count(script(scripts::refresh)); }
};

// Another library renews its own lock many times a second: one waiter refreshes, a few times a
// second. The bound grows with the time that has passed, so a busy machine only lowers the rate.
TEST_F(RefreshRate, OfRenewalsOnlyOneWaiterAsksAndSeldom) {
    constexpr int count = 10;
    client locks = proxied_client("?key={name}");
    set_foreign_lock();
    std::list<background_task> waiting;
    std::atomic<int> acquired_count = 0;
    for (int i = 0; i < count; ++i)
        waiting.emplace_back([&] {
            auto lock = locks.acquire("it", {.ttl = 5s, .wait = patience, .fair = true});
            ++acquired_count;
        });
    ASSERT_TRUE(has_waiters(count));
    const auto pushes = locks.statistics().pushes;
    const auto before = refresh_count();
    const auto begin = boot_clock::now();
    while (boot_clock::now() < begin + 2s)
        (void)server.execute({"PEXPIRE", "it", "60000"});
    const auto refreshed = static_cast<std::int64_t>(refresh_count() - before);
    const auto passed = boot_clock::now() - begin;
    const auto pause = pawl::redis::limits().invalidation_pause;
    EXPECT_LE(refreshed, count * (passed / 950ms + 2) + passed / pause + 2);
    EXPECT_GT(locks.statistics().pushes, pushes);
    (void)server.execute({"DEL", "it"});
    waiting.clear();
    EXPECT_EQ(acquired_count, count);
}

// A waiter that died without leaving is first in the queue while others hold the lock: a living
// waiter takes over its notifications.
TEST_F(RefreshRate, ByTheServerIsALivingWaiterBehindADeadOne) {
    client locks = direct_client("?key={name}");
    set_foreign_lock();
    for (const std::string dead_waiter : {"dead:01", "dead:02", "dead:03"}) {
        (void)server.execute({"ZADD", "pawl:x:{it}:q", "1", dead_waiter});
        if (dead_waiter != "dead:02")
            (void)server.execute({"HSET", "pawl:x:{it}:w", dead_waiter, "1 1200 x p"});
    }
    held_lock acquired;
    background_task waiting([&] { acquired = locks.acquire("it", {.ttl = 2s, .wait = patience}); });
    EXPECT_TRUE(eventually([&] {
        (void)server.execute({"PEXPIRE", "it", "60000"});
        return locks.statistics().pushes > 0;
    }));
    EXPECT_EQ(server.execute({"ZCARD", "pawl:x:{it}:q"}).number(), 1);
    EXPECT_EQ(server.execute({"HLEN", "pawl:x:{it}:w"}).number(), 1);
    EXPECT_EQ(server.execute({"GET", "it"}).text, "theirs");
    (void)server.execute({"DEL", "it"});
    waiting.join();
    EXPECT_TRUE(acquired.owns_lock());
}

}  // namespace
