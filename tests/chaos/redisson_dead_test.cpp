// Redisson's layout: what those leave behind who die, or are cut off for long.
#include "scene.hpp"

#include <redisson_scripts.hpp>

namespace {

using namespace chaos;
namespace scripts = pawl::redis::redisson::scripts;

const std::string java = "176d4c5e-cbab-4c45-831e-b8c949d7ba8c:1";

class RedissonDead : public testing::Test, protected scene {
protected:
    std::string now_and(int ms) {
        const auto time = server.ask({"TIME"});
        const auto now = std::stoll(time.items.at(0).text) * 1000;
        return std::to_string(now + ms);
    }
    // As Java's tryLock(10 s) stands in line; and what its turn and its end do.
    void java_waits() {
        (void)server.ask({"RPUSH", "redisson_lock_queue:{it}", java});
        (void)server.ask({"ZADD", "redisson_lock_timeout:{it}", now_and(10'000), java});
    }
    void java_takes() {
        (void)server.ask({"LREM", "redisson_lock_queue:{it}", "0", java});
        (void)server.ask({"ZREM", "redisson_lock_timeout:{it}", java});
        for (const auto& other :
             server.ask({"ZRANGE", "redisson_lock_timeout:{it}", "0", "-1"}).items)
            (void)server.ask({"ZINCRBY", "redisson_lock_timeout:{it}", "-10000", other.text});
        (void)server.ask({"HINCRBY", "it", java, "1"});
        (void)server.ask({"PEXPIRE", "it", "30000"});
    }
    void cut() {
        proxy.refuse(true);
        proxy.kill_connections();
    }
    [[nodiscard]] bool free_permits(const std::string& number) {
        return eventually([&] { return server.ask({"GET", "it"}).text == number; });
    }
    // After three seconds more in which nobody can be told.
    void expect_two_of_three_back() {
        const auto end = boot_clock::now() + 3s;
        (void)eventually([&] { return boot_clock::now() >= end; });
        EXPECT_EQ(server.ask({"GET", "it"}).text, "1");
        proxy.refuse(false);
        EXPECT_TRUE(free_permits("3"));
    }
};

//   P holds | J waits in Java | Q waits behind it, for minutes, and dies | P releases, J takes it
//   and unlocks | R asks: Q stands first, with minutes to go
TEST_F(RedissonDead, AWaiterBehindJavasHoldsUpNobodyOfPawls) {
    client holds = direct("?layout=redisson"), next = direct("?layout=redisson");
    client dies = proxied("?layout=redisson");
    const pawl::lock_options fair{.ttl = long_ttl, .wait = patience, .fair = true};
    auto lock = holds.acquire("it", fair);
    java_waits();
    std::stop_source stop;
    beside waiting(
        [&] { (void)failure_of([&] { (void)dies.acquire("it", fair, stop.get_token()); }); });
    ASSERT_TRUE(eventually([&] {
        return server.ask({"LLEN", "redisson_lock_queue:{it}"}).number() == 2;
    }));
    proxy.freeze(true);
    EXPECT_EQ(lock.release(), release_result::released);
    java_takes();
    (void)server.ask({"DEL", "it"});
    const auto left = server.ask({"ZRANGE", "redisson_lock_timeout:{it}", "0", "0", "WITHSCORES"});
    ASSERT_EQ(left.items.size(), 2U);
    ASSERT_GT(std::stod(left.items[1].text), std::stod(now_and(200'000)));
    EXPECT_EQ(next.acquire("it", fair).release(), release_result::released);
    stop.request_stop();
    proxy.freeze(false);
    waiting.join();
    EXPECT_TRUE(eventually(
        [&] { return server.keys() == std::vector<std::string>{"redisson_lock_token:{it}"}; }));
}

//   P holds permits that have no lease | cut off until it knows that they are lost, and for three
//   times the ttl besides | the server can be told: they come back, once
TEST_F(RedissonDead, PermitsWithoutALeaseComeBackAfterALongOutage) {
    client locks = proxied("?layout=redisson&object=semaphore");
    auto lock =
        locks.acquire("it", {.ttl = 1s, .mode = pawl::lock_mode::permits, .permits = 2, .of = 3});
    cut();
    ASSERT_TRUE(eventually([&] { return lock.lost().stop_requested(); }));
    expect_two_of_three_back();
}

//   P asks for permits | they are taken, the answer is lost, nobody can be told for long | P was
//   told that it has none: they come back
TEST_F(RedissonDead, PermitsOfALostAnswerComeBackAfterALongOutage) {
    client locks = proxied("?layout=redisson&object=semaphore&reply_timeout_ms=1000");
    const pawl::try_options two{
        .ttl = 300ms, .mode = pawl::lock_mode::permits, .permits = 2, .of = 3};
    EXPECT_EQ(locks.try_acquire("it", two).release(), release_result::released);
    proxy.inject({.which = script(scripts::semaphore_acquire), .what = fate::lose_reply});
    proxy.refuse(true);
    const auto what = failure_of([&] { (void)locks.try_acquire("it", two); });
    ASSERT_TRUE(what.has_value());
    EXPECT_EQ(what->reason, errc::unreachable) << what;
    expect_two_of_three_back();
}

//   P holds three permits | somebody gives back one of them in Java | P's renewal finds it: the
//   hold is lost, and the other two must not stay lent until its lease ends
TEST_F(RedissonDead, TheRestOfAHoldComesBackWhenOneOfItsPermitsIsGone) {
    client locks = direct("?layout=redisson");
    auto lock = locks.acquire(
        "it", {.ttl = long_ttl, .mode = pawl::lock_mode::permits, .permits = 3, .of = 3});
    const auto ids = server.ask({"ZRANGE", "{it}:timeout", "0", "-1"});
    ASSERT_EQ(ids.items.size(), 3U);
    (void)server.ask({"ZREM", "{it}:timeout", ids.items[1].text});
    (void)server.ask({"INCR", "it"});
    const auto what = failure_of([&] { lock.renew(); });
    ASSERT_TRUE(what.has_value());
    EXPECT_EQ(what->reason, errc::lost) << what;
    EXPECT_TRUE(free_permits("3"));
}

//   R1 reads and dies | R2 and R3 read on, one after the other, so that the hash never ends
TEST_F(RedissonDead, AReadersFieldGoesWithTheNextThatLeaves) {
    client locks = direct("?layout=redisson&object=readwrite");
    const std::string dead = "5f3c2f6e-cbab-4c45-831e-b8c949d7ba8c:-7";
    const pawl::lock_options reading{.ttl = long_ttl, .mode = pawl::lock_mode::shared};
    auto first = locks.acquire("it", reading), second = locks.acquire("it", reading);
    (void)server.ask({"HSET", "it", dead, "1", java, "1"});
    EXPECT_EQ(first.release(), release_result::released);
    EXPECT_EQ(server.ask({"HEXISTS", "it", dead}).number(), 0);
    EXPECT_EQ(server.ask({"HEXISTS", "it", java}).number(), 1) << "Java's are Java's affair";
    EXPECT_EQ(second.state(), lock_state::held);
}

//   a tenant writes a reader with any number of entries into the hash | P reads, looks, and gives
//   back: a script that counted them would stop the server, for good once it has written
TEST_F(RedissonDead, AReaderWithAnyNumberOfEntriesStopsNobody) {
    client locks = direct("?layout=redisson&object=readwrite");
    const pawl::lock_options reading{.ttl = long_ttl, .mode = pawl::lock_mode::shared};
    for (const char* count : {"99999999999", "1e300", "inf", "nan", "-1e300", "9999"}) {
        auto lock = locks.acquire("it", reading);
        (void)server.ask({"HSET", "it", java, count});
        EXPECT_TRUE(locks.inspect("it").held_by.has_value()) << count;
        EXPECT_EQ(lock.release(), release_result::released) << count;
        (void)server.ask({"DEL", "it"});
    }
    auto lock = locks.acquire("it", reading);
    (void)server.ask({"HSET", "it", java, "99999999999"});
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_EQ(server.ask({"HEXISTS", "it", java}).number(), 1);
    EXPECT_GT(server.ask({"PTTL", "it"}).number(), 0);
    // Readers that are many, and each of them in bounds.
    lock = locks.acquire("it", reading);
    for (int i = 0; i < 1000; ++i)
        (void)server.ask({"HSET", "it", java + std::to_string(i), "9000"});
    EXPECT_TRUE(locks.inspect("it").held_by.has_value());
    EXPECT_EQ(lock.release(), release_result::released);
}

}  // namespace
