// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Redisson's layout on a cluster node that has all the slots: all keys of a script must be of one
// slot, and channels are in slots too. tests/interop tests the real Redisson on such a node.
#include "redis_fixture.hpp"

#include <redisson_scripts.hpp>

namespace {

using namespace chaos;
namespace redisson_scripts = pawl::redis::redisson::scripts;

class RedissonCluster : public testing::Test, protected redis_fixture {
protected:
    RedissonCluster() : redis_fixture({.config = {"cluster-enabled yes"}}) {
        server.serve_all_slots();
    }
    std::int64_t listeners(const std::string& channel) {
        return server.execute({"PUBSUB", "SHARDNUMSUB", channel}).items.at(1).number();
    }
};

// All keys of each object have the name as hash tag, and its release is published in its slot.
TEST_F(RedissonCluster, KeysAndChannelsOfALockAreInItsSlot) {
    client locks = direct_client(redisson_layout),
           both = direct_client(redisson_layout + "&object=readwrite"),
           plain = direct_client(redisson_layout + "&object=semaphore");
    const auto check = [&](client& in, const std::string& channel, pawl::lock_options options) {
        options.ttl = long_ttl;
        const auto subscriber = server.connect();
        (void)subscriber->execute({"SSUBSCRIBE", channel});
        auto lock = in.acquire("it", options);
        EXPECT_EQ(in.inspect("it").waiters, 1U) << channel;
        const auto slot = server.execute({"CLUSTER", "KEYSLOT", "it"}).number();
        for (const auto& key : server.keys())
            EXPECT_EQ(server.execute({"CLUSTER", "KEYSLOT", key}).number(), slot) << key;
        EXPECT_EQ(lock.release(), release_result::released);
        const auto heard = subscriber->receive(10s);
        ASSERT_TRUE(heard && heard->items.size() == 3) << channel;
        EXPECT_EQ(heard->items[0].text, "smessage");
        (void)server.execute({"DEL", "it"});
    };
    check(locks, "redisson_lock__channel:{it}", {});
    check(both, "redisson_rwlock:{it}", {.mode = pawl::lock_mode::shared});
    const auto permits = pawl::lock_mode::permits;
    check(locks, "redisson_sc:{it}", {.mode = permits, .permits = 2, .total_permits = 3});
    check(plain, "redisson_sc:{it}", {.mode = permits, .permits = 2, .total_permits = 3});
}

//   P holds | Q listens | Q's connection is cut | Q connects, listens in the slot again | P: DEL,
//   SPUBLISH | Q holds
TEST_F(RedissonCluster, ChannelsAreHeardAgainAfterACut) {
    client holds = direct_client(redisson_layout), waits = proxied_client(redisson_layout);
    for (const bool fair : {false, true}) {
        auto lock = holds.acquire("it", {.ttl = long_ttl, .fair = fair});
        const auto before = waits.statistics().pushes;
        held_lock acquired;
        std::jthread waiting([&] {
            acquired = waits.acquire("it", {.ttl = long_ttl, .wait = patience, .fair = fair});
        });
        const auto listens = [&] {
            return eventually([&] {
                return server.execute({"PUBSUB", "SHARDCHANNELS", "redisson_*"}).items.size() == 1;
            });
        };
        ASSERT_TRUE(listens());
        const auto connections = waits.statistics().connections;
        proxy.kill_connections();
        ASSERT_TRUE(eventually([&] { return waits.statistics().connections > connections; }));
        ASSERT_TRUE(listens());
        EXPECT_EQ(lock.release(), release_result::released);
        waiting.join();
        EXPECT_EQ(acquired.state(), lock_state::held);
        EXPECT_GE(waits.statistics().pushes - before, 1U) << "it was a refresh, not a message";
    }
}

//   three locks are due for renewal | all three are sent | no reply comes
TEST_F(RedissonCluster, LocksOfDifferentSlotsAreRenewedAtOnce) {
    client locks = proxied_client(redisson_layout);
    std::vector<held_lock> held;
    for (const std::string name : {"a", "b", "c"})
        held.push_back(locks.acquire(name, {.ttl = 3s}));
    ASSERT_TRUE(eventually([&] { return locks.statistics().renewals >= 3; }));
    proxy.forget_commands();
    proxy.inject({.matches = script(redisson_scripts::renew),
                  .kind = fault_kind::delay_reply,
                  .delay = 60s});
    ASSERT_TRUE(eventually([&] { return proxy.count(script(redisson_scripts::renew)) == 3; }));
    for (const auto& lock : held)
        EXPECT_EQ(lock.state(), lock_state::held) << "one waited until the end of another's lease";
    proxy.kill_connections();
}

// One brace is enough for Redisson to leave a name unchanged, also if it makes no hash tag.
TEST_F(RedissonCluster, ANameWithOneBraceIsRefusedWithAnAdvice) {
    client locks = direct_client(redisson_layout);
    const auto why = failure_of([&] { (void)locks.try_acquire("a{b", {.ttl = long_ttl}); });
    ASSERT_TRUE(why.has_value());
    EXPECT_EQ(why->reason, errc::unsupported) << why;
    EXPECT_NE(why->sentence.find("put a hash tag"), std::string::npos) << why;
    EXPECT_TRUE(server.keys().empty());
    EXPECT_TRUE(locks.try_acquire("a{b}", {.ttl = long_ttl}).owns_lock());
}

}  // namespace
