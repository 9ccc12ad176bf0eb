// Who wakes whom, and by what. The lease is a minute on both sides, and Java's waiters sleep for
// all of it, or for ever: only a message ends their wait in time. Pawl's look once a second: their
// messages are counted.
#include "both.hpp"

#include <support/eventually.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

namespace {

using namespace interop;

constexpr int rounds = 30;

// Who holds, and who waits for it.
struct pair_of_names {
    std::string held, wanted;
};

// From before the release is sent until the waiter runs, in µs.
std::int64_t hand_over(both& world, side& from, side& to, const pair_of_names& names) {
    EXPECT_TRUE(from.ask("lock " + names.held).starts_with("held"));
    to.tell("lock " + names.wanted);
    EXPECT_TRUE(world.has_listeners(1)) << to.name() << " does not listen";
    const auto released = numbers(from.ask("unlock " + names.held)).at(1);
    const auto held = numbers(to.answer()).at(2);
    EXPECT_TRUE(to.ask("unlock " + names.wanted).starts_with("unlocked"));
    EXPECT_TRUE(world.has_listeners(0)) << to.name() << " still listens";
    return (held - released) / 1000;
}

void print(const std::string& what, std::vector<std::int64_t> us) {
    std::sort(us.begin(), us.end());
    std::cout << what << ": p50 " << us[us.size() / 2] << " µs, worst " << us.back() << " µs of "
              << us.size() << '\n';
}

class Waking : public testing::TestWithParam<pair_of_names> {};

//   P holds | J tries, subscribes, tries again, sleeps | P: DEL, PUBLISH | J wakes, tries, has it
TEST_P(Waking, OfJavaByPawl) {
    both world;
    side java = world.java(), pawl = world.pawl();
    const auto began = pawl::boot_clock::now();
    std::vector<std::int64_t> us;
    for (int i = 0; i < rounds; ++i)
        us.push_back(hand_over(world, pawl, java, GetParam()));
    EXPECT_LT(pawl::boot_clock::now() - began, 60s) << "a lease may have ended one of the waits";
    print("Pawl's " + GetParam().held + " to Java's " + GetParam().wanted, us);
}

//   J holds | P tries, subscribes, tries again, sleeps | J: DEL, PUBLISH | P wakes, tries, has it
TEST_P(Waking, OfPawlByJava) {
    both world;
    side java = world.java(), pawl = world.pawl();
    const auto before = numbers(pawl.ask("pushes")).at(1);
    std::vector<std::int64_t> us;
    for (int i = 0; i < rounds; ++i)
        us.push_back(hand_over(world, java, pawl, GetParam()));
    EXPECT_EQ(numbers(pawl.ask("pushes")).at(1) - before, rounds) << "not every message arrived";
    print("Java's " + GetParam().held + " to Pawl's " + GetParam().wanted, us);
}

// The channels of a cluster are in slots: who publishes or listens in the other way is not heard.
TEST_P(Waking, InACluster) {
    both world(true);
    side java = world.java(), pawl = world.pawl();
    const auto began = pawl::boot_clock::now();
    const auto before = numbers(pawl.ask("pushes")).at(1);
    for (int i = 0; i < 5; ++i) {
        (void)hand_over(world, pawl, java, GetParam());
        (void)hand_over(world, java, pawl, GetParam());
    }
    EXPECT_EQ(numbers(pawl.ask("pushes")).at(1) - before, 5) << "not every message arrived";
    EXPECT_LT(pawl::boot_clock::now() - began, 60s) << "a lease may have ended one of the waits";
}

INSTANTIATE_TEST_SUITE_P(, Waking,
                         testing::Values(pair_of_names{"it", "it"}, pair_of_names{"fair", "fair"},
                                         pair_of_names{"write:it", "read:it"},
                                         pair_of_names{"read:it", "write:it"},
                                         pair_of_names{"permits 3", "permits 1"},
                                         pair_of_names{"semaphore 3", "semaphore 1"}),
                         [](const auto& one) {
                             auto name = one.param.held + "_to_" + one.param.wanted;
                             std::replace_if(
                                 name.begin(), name.end(),
                                 [](char c) { return c == ':' || c == ' '; }, '_');
                             return name;
                         });

// The connection dies while P waits, and with it the subscription:
//   J holds | P listens | P's connection is cut | P connects, subscribes, looks | J: DEL, PUBLISH
TEST(WakingAgain, OfPawlAfterItsConnectionWasCut) {
    for (const std::string name : {"it", "fair"}) {
        both world;
        side java = world.java(), pawl = world.pawl();
        for (int i = 0; i < 5; ++i) {
            ASSERT_TRUE(java.ask("lock " + name).starts_with("held"));
            pawl.tell("lock " + name);
            ASSERT_TRUE(world.has_listeners(1));
            ASSERT_EQ(world.server().ask({"CLIENT", "KILL", "TYPE", "pubsub"}).number(), 1);
            ASSERT_TRUE(world.has_listeners(1)) << "nobody subscribed again";
            ASSERT_TRUE(java.ask("unlock " + name).starts_with("unlocked"));
            ASSERT_TRUE(pawl.answer().starts_with("held"));
            ASSERT_TRUE(pawl.ask("unlock " + name).starts_with("unlocked"));
        }
    }
}

// Each has its turn when the one before it has left.
void take_turns(both& world, const std::vector<side*>& line) {
    std::size_t waiting = line.size();
    for (side* next : line) {
        ASSERT_TRUE(next->answer().starts_with("held")) << next->name();
        // Who is not first in line would be seen here by a second of Pawl's looks.
        EXPECT_EQ(world.eyes().inspect("fair").waiters, --waiting);
        ASSERT_TRUE(next->ask("unlock fair").starts_with("unlocked"));
    }
}

// Both kinds of waiters go in the order in which they came:
//   J1 holds | P1, J2, P2 stand in line | J1 leaves | P1, J2, P2 have it, one after the other
TEST(WakingInOrder, OfAFairLine) {
    both world;
    side first = world.java(), one = world.pawl(), two = world.java(), three = world.pawl();
    for (int i = 0; i < 5; ++i) {
        ASSERT_TRUE(first.ask("lock fair").starts_with("held"));
        std::size_t waiting = 0;
        for (side* next : {&one, &two, &three}) {
            next->tell("lock fair");
            ASSERT_TRUE(world.has_listeners(++waiting));
        }
        ASSERT_TRUE(first.ask("unlock fair").starts_with("unlocked"));
        take_turns(world, {&one, &two, &three});
    }
}

// A Java waiter that gets its turn takes the five minutes, for which it would have been waited for,
// off all behind it, as if they had been added to what they have:
//   J holds, renews | J1, P1, J2, P2 stand in line | longer than its lease was | J leaves | J1:
//   ZINCRBY -300000 P1 … | J1 leaves, purges the line: P1 must still stand there
TEST(WakingInOrder, OfAFairLineThatWaitedForLong) {
    constexpr auto lease = 2s;
    both world;
    side first = world.java(lease), one = world.java(lease), two = world.pawl(lease),
         three = world.java(lease), four = world.pawl(lease);
    ASSERT_TRUE(first.ask("lock fair").starts_with("held"));
    std::size_t waiting = 0;
    for (side* next : {&one, &two, &three, &four}) {
        next->tell("lock fair");
        ASSERT_TRUE(world.has_listeners(++waiting));
    }
    ASSERT_TRUE(one.silent(lease + 8s));
    ASSERT_TRUE(first.ask("unlock fair").starts_with("unlocked"));
    take_turns(world, {&one, &two, &three, &four});
}

}  // namespace
