// Redisson's layout on a node of a cluster that has all the slots: what a script touches must be of
// one slot, and channels are in slots too. tests/interop has the real Redisson on such a node.
#include "scene.hpp"

#include <redisson_scripts.hpp>

#include <stdexcept>

namespace {

using namespace chaos;
namespace scripts = pawl::redis::redisson::scripts;

const std::string layout = "?layout=redisson";

class RedissonCluster : public testing::Test, protected scene {
protected:
    RedissonCluster() : scene({.config = {"cluster-enabled yes"}}) {
        (void)server.ask({"CLUSTER", "ADDSLOTSRANGE", "0", "16383"});
        const auto ready = [&] {
            return server.ask({"CLUSTER", "INFO"}).text.find("state:ok") != std::string::npos;
        };
        if (!eventually(ready)) throw std::runtime_error("the cluster does not begin");
    }
    std::int64_t listeners(const std::string& channel) {
        return server.ask({"PUBSUB", "SHARDNUMSUB", channel}).items.at(1).number();
    }
};

// What each object writes has the name as its hash tag, and its release is heard in its slot.
TEST_F(RedissonCluster, KeysAndChannelsOfALockAreInItsSlot) {
    client locks = direct(layout), both = direct(layout + "&object=readwrite"),
           plain = direct(layout + "&object=semaphore");
    const auto ear = server.connect();
    const auto check = [&](client& in, const std::string& channel, pawl::lock_options how) {
        how.ttl = long_ttl;
        (void)ear->ask({"SSUBSCRIBE", channel});
        auto lock = in.acquire("it", how);
        EXPECT_EQ(in.inspect("it").waiters, 1U) << channel;
        const auto slot = server.ask({"CLUSTER", "KEYSLOT", "it"}).number();
        for (const auto& key : server.keys())
            EXPECT_EQ(server.ask({"CLUSTER", "KEYSLOT", key}).number(), slot) << key;
        EXPECT_EQ(lock.release(), release_result::released);
        const auto heard = ear->receive(10s);
        ASSERT_TRUE(heard && heard->items.size() == 3) << channel;
        EXPECT_EQ(heard->items[0].text, "smessage");
        (void)ear->ask({"SUNSUBSCRIBE", channel});
        (void)server.ask({"DEL", "it"});
    };
    check(locks, "redisson_lock__channel:{it}", {});
    check(both, "redisson_rwlock:{it}", {.mode = pawl::lock_mode::shared});
    const auto permits = pawl::lock_mode::permits;
    check(locks, "redisson_sc:{it}", {.mode = permits, .permits = 2, .of = 3});
    check(plain, "redisson_sc:{it}", {.mode = permits, .permits = 2, .of = 3});
}

//   P holds | Q listens | Q's connection is cut | Q connects, listens in the slot again | P: DEL,
//   SPUBLISH | Q has it
TEST_F(RedissonCluster, ChannelsAreHeardAgainAfterACut) {
    client holds = direct(layout), waits = proxied(layout);
    for (const bool fair : {false, true}) {
        auto lock = holds.acquire("it", {.ttl = long_ttl, .fair = fair});
        const auto before = waits.statistics().pushes;
        held_lock got;
        std::jthread waiting(
            [&] { got = waits.acquire("it", {.ttl = long_ttl, .wait = patience, .fair = fair}); });
        const auto listens = [&] {
            return eventually([&] {
                return server.ask({"PUBSUB", "SHARDCHANNELS", "redisson_*"}).items.size() == 1;
            });
        };
        ASSERT_TRUE(listens());
        const auto connections = waits.statistics().connections;
        proxy.kill_connections();
        ASSERT_TRUE(eventually([&] { return waits.statistics().connections > connections; }));
        ASSERT_TRUE(listens());
        EXPECT_EQ(lock.release(), release_result::released);
        waiting.join();
        EXPECT_EQ(got.state(), lock_state::held);
        EXPECT_GE(waits.statistics().pushes - before, 1U) << "it was a look, not a message";
    }
}

//   three locks are to be renewed | all three are asked for | nobody answers
TEST_F(RedissonCluster, LocksOfDifferentSlotsAreRenewedAtOnce) {
    client locks = proxied(layout);
    std::vector<held_lock> held;
    for (const std::string name : {"a", "b", "c"})
        held.push_back(locks.acquire(name, {.ttl = 3s}));
    ASSERT_TRUE(eventually([&] { return locks.statistics().renewals >= 3; }));
    proxy.forget();
    proxy.inject({.which = script(scripts::renew), .what = fate::delay_reply, .by = 60s});
    ASSERT_TRUE(eventually([&] { return proxy.count(script(scripts::renew)) == 3; }));
    for (const auto& lock : held)
        EXPECT_EQ(lock.state(), lock_state::held) << "one waited until another's lease had ended";
    proxy.kill_connections();
}

// One brace is enough for Redisson to leave a name as it is, also where it makes no hash tag.
TEST_F(RedissonCluster, ANameWithOneBraceIsRefusedWithAnAdvice) {
    client locks = direct(layout);
    const auto why = failure_of([&] { (void)locks.try_acquire("a{b", {.ttl = long_ttl}); });
    ASSERT_TRUE(why.has_value());
    EXPECT_EQ(why->reason, errc::unsupported) << why;
    EXPECT_NE(why->sentence.find("put a hash tag"), std::string::npos) << why;
    EXPECT_TRUE(server.keys().empty());
    EXPECT_TRUE(locks.try_acquire("a{b}", {.ttl = long_ttl}).owns_lock());
}

}  // namespace
