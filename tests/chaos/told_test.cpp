// What the server says of a key that other libraries use, too: how often waiters ask because of it.
#include "scene.hpp"

#include <pawl/redis.hpp>
#include <redis/limits.hpp>

#include <redis_scripts.hpp>

#include <list>

namespace {

using namespace chaos;
namespace scripts = pawl::redis::scripts;

class Told : public testing::Test, protected scene {
protected:
    void take() { ASSERT_EQ(server.ask({"SET", "it", "theirs", "PX", "60000"}).text, "OK"); }
    bool in_line(std::uint64_t count) {
        client eyes = direct("?key={name}");
        return eventually([&] { return eyes.inspect("it").waiters == count; });
    }
    std::size_t looks() { return proxy.count(script(scripts::look)); }
};

// Another library renews its own lock many times a second: one waiter looks, a few times a second.
// The bound counts with the time that has passed, so a busy machine only makes less of it.
TEST_F(Told, OfRenewalsOnlyOneWaiterAsksAndSeldom) {
    constexpr int count = 10;
    client locks = proxied("?key={name}");
    take();
    std::list<beside> waiting;
    std::atomic<int> got = 0;
    for (int i = 0; i < count; ++i)
        waiting.emplace_back([&] {
            auto lock = locks.acquire("it", {.ttl = 5s, .wait = patience, .fair = true});
            ++got;
        });
    ASSERT_TRUE(in_line(count));
    const auto pushes = locks.statistics().pushes;
    const auto before = looks();
    const auto begin = boot_clock::now();
    while (boot_clock::now() < begin + 2s)
        (void)server.ask({"PEXPIRE", "it", "60000"});
    const auto asked = static_cast<std::int64_t>(looks() - before);
    const auto passed = boot_clock::now() - begin;
    const auto told = pawl::redis::limits().told_look_pause;
    EXPECT_LE(asked, count * (passed / 950ms + 2) + passed / told + 2);
    EXPECT_GT(locks.statistics().pushes, pushes);
    (void)server.ask({"DEL", "it"});
    waiting.clear();
    EXPECT_EQ(got, count);
}

// One who died without leaving is first in line while others hold the lock: a living one takes over
// to be told.
TEST_F(Told, ByTheServerIsALivingWaiterBehindADeadOne) {
    client locks = direct("?key={name}");
    take();
    for (const std::string dead : {"dead:01", "dead:02", "dead:03"}) {
        (void)server.ask({"ZADD", "pawl:x:{it}:q", "1", dead});
        if (dead != "dead:02") (void)server.ask({"HSET", "pawl:x:{it}:w", dead, "1 1200 x p"});
    }
    held_lock got;
    beside waiting([&] { got = locks.acquire("it", {.ttl = 2s, .wait = patience}); });
    EXPECT_TRUE(eventually([&] {
        (void)server.ask({"PEXPIRE", "it", "60000"});
        return locks.statistics().pushes > 0;
    }));
    EXPECT_EQ(server.ask({"ZCARD", "pawl:x:{it}:q"}).number(), 1);
    EXPECT_EQ(server.ask({"HLEN", "pawl:x:{it}:w"}).number(), 1);
    EXPECT_EQ(server.ask({"GET", "it"}).text, "theirs");
    (void)server.ask({"DEL", "it"});
    waiting.join();
    EXPECT_TRUE(got.owns_lock());
}

}  // namespace
