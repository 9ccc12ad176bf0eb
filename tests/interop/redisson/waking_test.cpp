// Who wakes whom, and by what. The lease is a minute on both sides, and Java's waiters sleep for
// all of it: only a message ends their wait in time.
#include "both.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

namespace {

using namespace interop;

constexpr int rounds = 50;

// From before the release is sent until the waiter runs, in µs.
std::int64_t hand_over(both& world, side& from, side& to, const std::string& name) {
    EXPECT_TRUE(from.ask("lock " + name).starts_with("held"));
    to.tell("lock " + name);
    EXPECT_TRUE(world.has_waiters(name, 1)) << to.name() << " does not listen";
    const auto released = numbers(from.ask("unlock " + name)).at(1);
    const auto held = numbers(to.answer()).at(2);
    EXPECT_TRUE(to.ask("unlock " + name).starts_with("unlocked"));
    EXPECT_TRUE(world.has_waiters(name, 0)) << to.name() << " still listens";
    return (held - released) / 1000;
}

void print(const std::string& what, std::vector<std::int64_t> us) {
    std::sort(us.begin(), us.end());
    std::cout << what << ": p50 " << us[us.size() / 2] << " µs, worst " << us.back() << " µs of "
              << us.size() << '\n';
}

//   P holds | J tries, subscribes, tries again, sleeps | P: DEL, PUBLISH | J wakes, tries, has it
TEST(Waking, OfJavaByPawl) {
    both world;
    side java = world.java(), pawl = world.pawl();
    const auto began = pawl::boot_clock::now();
    std::vector<std::int64_t> us;
    for (int i = 0; i < rounds; ++i)
        us.push_back(hand_over(world, pawl, java, "it"));
    EXPECT_LT(pawl::boot_clock::now() - began, 60s) << "a lease may have ended one of the waits";
    print("Pawl's release to Java's lock", us);
}

//   J holds | P tries, subscribes, tries again, sleeps | J: DEL, PUBLISH | P wakes, tries, has it
TEST(Waking, OfPawlByJava) {
    both world;
    side java = world.java(), pawl = world.pawl();
    const auto before = numbers(pawl.ask("pushes")).at(1);
    std::vector<std::int64_t> us;
    for (int i = 0; i < rounds; ++i)
        us.push_back(hand_over(world, java, pawl, "it"));
    EXPECT_EQ(numbers(pawl.ask("pushes")).at(1) - before, rounds) << "not every message arrived";
    print("Java's release to Pawl's lock", us);
}

// The connection dies while P waits, and with it the subscription:
//   J holds | P listens | P's connection is cut | P connects, subscribes, looks | J: DEL, PUBLISH
TEST(Waking, OfPawlAfterItsConnectionWasCut) {
    both world;
    side java = world.java(), pawl = world.pawl();
    for (int i = 0; i < 5; ++i) {
        ASSERT_TRUE(java.ask("lock it").starts_with("held"));
        pawl.tell("lock it");
        ASSERT_TRUE(world.has_waiters("it", 1));
        ASSERT_EQ(world.server().ask({"CLIENT", "KILL", "TYPE", "pubsub"}).number(), 1);
        ASSERT_TRUE(world.has_waiters("it", 1)) << "nobody subscribed again";
        ASSERT_TRUE(java.ask("unlock it").starts_with("unlocked"));
        ASSERT_TRUE(pawl.answer().starts_with("held"));
        ASSERT_TRUE(pawl.ask("unlock it").starts_with("unlocked"));
    }
}

}  // namespace
