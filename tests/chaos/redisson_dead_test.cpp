// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Redisson's layout: what clients leave behind that die, or are cut off for long.
#include "redis_fixture.hpp"

#include <redisson_scripts.hpp>

namespace {

using namespace chaos;
namespace redisson_scripts = pawl::redis::redisson::scripts;

class RedissonDead : public testing::Test, protected redis_fixture {
protected:
    std::string server_time_plus(int ms) { return std::to_string(server.time_ms() + ms); }
    // The queueing of Java's tryLock(10 s); and the effects of its turn and its end.
    void add_java_waiter() {
        (void)server.execute({"RPUSH", "redisson_lock_queue:{it}", java_owner});
        (void)server.execute(
            {"ZADD", "redisson_lock_timeout:{it}", server_time_plus(10'000), java_owner});
    }
    void set_java_lock() {
        (void)server.execute({"LREM", "redisson_lock_queue:{it}", "0", java_owner});
        (void)server.execute({"ZREM", "redisson_lock_timeout:{it}", java_owner});
        for (const auto& other :
             server.execute({"ZRANGE", "redisson_lock_timeout:{it}", "0", "-1"}).items)
            (void)server.execute({"ZINCRBY", "redisson_lock_timeout:{it}", "-10000", other.text});
        (void)server.execute({"HINCRBY", "it", java_owner, "1"});
        (void)server.execute({"PEXPIRE", "it", "30000"});
    }
    void cut_connection() {
        proxy.refuse(true);
        proxy.kill_connections();
    }
    [[nodiscard]] bool has_free_permits(const std::string& number) {
        return eventually([&] { return server.execute({"GET", "it"}).text == number; });
    }
    // Three more seconds without a connection change nothing; then the two permits return.
    void expect_two_of_three_back() {
        const auto end = boot_clock::now() + 3s;
        (void)eventually([&] { return boot_clock::now() >= end; });
        EXPECT_EQ(server.execute({"GET", "it"}).text, "1");
        proxy.refuse(false);
        EXPECT_TRUE(has_free_permits("3"));
    }
};

//   P holds | J waits in Java | Q waits behind it, for minutes, and dies | P releases, J acquires
//   and unlocks | R requests: Q is first, with minutes left
TEST_F(RedissonDead, AWaiterBehindJavasHoldsUpNobodyOfPawls) {
    client holds = direct_client("?layout=redisson"), next = direct_client("?layout=redisson");
    client dies = proxied_client("?layout=redisson");
    auto lock = holds.acquire("it", fair);
    add_java_waiter();
    std::stop_source stop;
    background_task waiting(
        [&] { (void)failure_of([&] { (void)dies.acquire("it", fair, stop.get_token()); }); });
    ASSERT_TRUE(eventually([&] {
        return server.execute({"LLEN", "redisson_lock_queue:{it}"}).number() == 2;
    }));
    proxy.freeze(true);
    EXPECT_EQ(lock.release(), release_result::released);
    set_java_lock();
    (void)server.execute({"DEL", "it"});
    const auto remaining =
        server.execute({"ZRANGE", "redisson_lock_timeout:{it}", "0", "0", "WITHSCORES"});
    ASSERT_EQ(remaining.items.size(), 2U);
    ASSERT_GT(std::stod(remaining.items[1].text), std::stod(server_time_plus(200'000)));
    EXPECT_EQ(next.acquire("it", fair).release(), release_result::released);
    stop.request_stop();
    proxy.freeze(false);
    waiting.join();
    EXPECT_TRUE(eventually(
        [&] { return server.keys() == std::vector<std::string>{"redisson_lock_token:{it}"}; }));
}

//   P holds permits that have no lease | P is cut off until it knows that they are lost, and for
//   three times the ttl longer | the server is reachable again: the permits return, once
TEST_F(RedissonDead, PermitsWithoutALeaseComeBackAfterALongOutage) {
    client locks = proxied_client("?layout=redisson&object=semaphore");
    auto lock = locks.acquire(
        "it", {.ttl = 1s, .mode = pawl::lock_mode::permits, .permits = 2, .total_permits = 3});
    cut_connection();
    ASSERT_TRUE(eventually([&] { return lock.lost().stop_requested(); }));
    expect_two_of_three_back();
}

//   P requests permits | they are taken, the reply is lost, the server is unreachable for long | P
//   was told that it has none: they return
TEST_F(RedissonDead, PermitsOfALostAnswerComeBackAfterALongOutage) {
    client locks = proxied_client("?layout=redisson&object=semaphore&reply_timeout=1000");
    const pawl::try_options two_permits{
        .ttl = 300ms, .mode = pawl::lock_mode::permits, .permits = 2, .total_permits = 3};
    EXPECT_EQ(locks.try_acquire("it", two_permits).release(), release_result::released);
    proxy.inject(
        {.matches = script(redisson_scripts::semaphore_acquire), .kind = fault_kind::lose_reply});
    proxy.refuse(true);
    const auto failed = failure_of([&] { (void)locks.try_acquire("it", two_permits); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::unreachable) << failed;
    expect_two_of_three_back();
}

//   P holds three permits | one of them is released in Java | P's renewal finds it: the hold is
//   lost, and the other two must not stay taken until its lease ends
TEST_F(RedissonDead, TheRestOfAHoldComesBackWhenOneOfItsPermitsIsGone) {
    client locks = direct_client("?layout=redisson");
    auto lock = locks.acquire(
        "it",
        {.ttl = long_ttl, .mode = pawl::lock_mode::permits, .permits = 3, .total_permits = 3});
    const auto ids = server.execute({"ZRANGE", "{it}:timeout", "0", "-1"});
    ASSERT_EQ(ids.items.size(), 3U);
    (void)server.execute({"ZREM", "{it}:timeout", ids.items[1].text});
    (void)server.execute({"INCR", "it"});
    const auto failed = failure_of([&] { lock.renew(); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::lost) << failed;
    EXPECT_TRUE(has_free_permits("3"));
}

//   R1 reads and dies | R2 and R3 keep reading, one after the other, so that the hash never ends
TEST_F(RedissonDead, AReadersFieldGoesWithTheNextThatLeaves) {
    client locks = direct_client("?layout=redisson&object=readwrite");
    const std::string dead_reader = "5f3c2f6e-cbab-4c45-831e-b8c949d7ba8c:-7";
    const pawl::lock_options reading{.ttl = long_ttl, .mode = pawl::lock_mode::shared};
    auto first = locks.acquire("it", reading), second = locks.acquire("it", reading);
    (void)server.execute({"HSET", "it", dead_reader, "1", java_owner, "1"});
    EXPECT_EQ(first.release(), release_result::released);
    EXPECT_EQ(server.execute({"HEXISTS", "it", dead_reader}).number(), 0);
    EXPECT_EQ(server.execute({"HEXISTS", "it", java_owner}).number(), 1)
        << "Java's are Java's affair";
    EXPECT_EQ(second.state(), lock_state::held);
}

//   a tenant writes a reader with any number of entries into the hash | P reads, inspects, and
//   releases: a script that counted them would stop the server, for good once it has written
TEST_F(RedissonDead, AReaderWithAnyNumberOfEntriesStopsNobody) {
    client locks = direct_client("?layout=redisson&object=readwrite");
    const pawl::lock_options reading{.ttl = long_ttl, .mode = pawl::lock_mode::shared};
    for (const char* count : {"99999999999", "1e300", "inf", "nan", "-1e300", "9999"}) {
        auto lock = locks.acquire("it", reading);
        (void)server.execute({"HSET", "it", java_owner, count});
        EXPECT_TRUE(locks.inspect("it").held_by.has_value()) << count;
        EXPECT_EQ(lock.release(), release_result::released) << count;
        (void)server.execute({"DEL", "it"});
    }
    auto lock = locks.acquire("it", reading);
    (void)server.execute({"HSET", "it", java_owner, "99999999999"});
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_EQ(server.execute({"HEXISTS", "it", java_owner}).number(), 1);
    EXPECT_GT(server.execute({"PTTL", "it"}).number(), 0);
    // Many readers, each of them within bounds.
    lock = locks.acquire("it", reading);
    for (int i = 0; i < 1000; ++i)
        (void)server.execute({"HSET", "it", java_owner + std::to_string(i), "9000"});
    EXPECT_TRUE(locks.inspect("it").held_by.has_value());
    EXPECT_EQ(lock.release(), release_result::released);
}

}  // namespace
