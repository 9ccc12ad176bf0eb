// One RCountDownLatch, set, counted and waited for by Java and by Pawl.
#include "both.hpp"

#include <support/eventually.hpp>

#include <gtest/gtest.h>

namespace {

using namespace interop;
using support::eventually;

const std::string channel = "redisson_countdownlatch__channel__{it}";

// How often the server has been asked for a count.
std::int64_t looks(both& world) {
    const auto stats = world.server().ask({"INFO", "commandstats"}).text;
    const std::string row = "cmdstat_get:calls=";
    const auto at = stats.find(row);
    return at == std::string::npos ? 0 : std::stoll(stats.substr(at + row.size()));
}

// From here on only a message wakes them early: so many have subscribed, and looked after that.
// Java looks before it subscribes too.
bool wait_for_a_message(both& world, std::int64_t java, std::int64_t pawl, std::int64_t before,
                        const char* how = "NUMSUB") {
    return eventually([&] {
        const auto heard = world.server().ask({"PUBSUB", how, channel}).items.at(1).number();
        return heard == java + pawl && looks(world) - before >= 2 * java + pawl;
    });
}

// What one side writes, the other reads.
TEST(Latch, IsTheSameOnBothSides) {
    both world;
    side java = world.java(), pawl = world.pawl();
    side* sides[] = {&java, &pawl};
    for (const std::string name : {"it", "a{tag}b", "with:colon"}) {
        for (int round = 0; round < 2; ++round) {
            side &one = *sides[round], &other = *sides[1 - round];
            EXPECT_EQ(one.ask("latch_count " + name), "count 0");
            EXPECT_EQ(one.ask("latch_set " + name + " 5"), "set true");
            EXPECT_EQ(other.ask("latch_set " + name + " 9"), "set false");
            EXPECT_EQ(other.ask("latch_count " + name), "count 5");
            EXPECT_EQ(other.ask("latch_down " + name + " 2"), "counted");
            EXPECT_EQ(one.ask("latch_count " + name), "count 3");
            EXPECT_EQ(one.ask("latch_wait " + name + " 50"), "late");
            EXPECT_EQ(world.server().ask({"GET", name}).text, "3");
            EXPECT_EQ(world.server().ask({"PTTL", name}).number(), -1) << "Java's has no end";
            EXPECT_EQ(one.ask("latch_down " + name + " 3"), "counted");
            EXPECT_EQ(other.ask("latch_wait " + name + " 50"), "open");
            EXPECT_EQ(world.server().ask({"EXISTS", name}).number(), 0);
            EXPECT_EQ(one.ask("latch_down " + name + " 1"), "counted") << "below 0";
            EXPECT_EQ(one.ask("latch_set " + name + " 1"), "set true");
            EXPECT_EQ(other.ask("latch_delete " + name), "deleted true");
            EXPECT_EQ(one.ask("latch_delete " + name), "deleted false");
        }
    }
}

//   J and P wait, subscribed | one side: DECR to 0, DEL, PUBLISH 0 | both sides' waiters go on
TEST(Latch, WakesBothSides) {
    both world;
    side java = world.java(), pawl = world.pawl(), waiting_java = world.java(),
         waiting_pawl = world.pawl();
    const auto pushes = numbers(waiting_pawl.ask("pushes")).at(1);
    const auto began = pawl::boot_clock::now();
    constexpr int rounds = 40;
    for (int round = 0; round < rounds; ++round) {
        side& counts = round % 2 == 0 ? java : pawl;
        side& sets = round % 4 < 2 ? java : pawl;
        ASSERT_EQ(sets.ask("latch_set it 3"), "set true");
        const auto before = looks(world);
        waiting_java.tell("latch_wait it 60000");
        waiting_pawl.tell("latch_wait it 60000");
        ASSERT_TRUE(wait_for_a_message(world, 1, 1, before));
        ASSERT_EQ(java.ask("latch_down it 1"), "counted");
        ASSERT_EQ(pawl.ask("latch_down it 1"), "counted");
        ASSERT_EQ(counts.ask("latch_down it 1"), "counted");
        ASSERT_EQ(waiting_java.answer(), "open") << round;
        ASSERT_EQ(waiting_pawl.answer(), "open") << round;
        ASSERT_TRUE(wait_for_a_message(world, 0, 0, looks(world)));
        // Looks as a last resort would take longer, over all rounds.
        ASSERT_LT(pawl::boot_clock::now() - began, 60s) << "woken by a look";
    }
    EXPECT_GE(numbers(waiting_pawl.ask("pushes")).at(1) - pushes, rounds);
}

//   J waits | P: 2 at once, from 1: below 0, DEL, PUBLISH 0 | J goes on
TEST(Latch, PawlsLongerStepWakesJava) {
    both world;
    side java = world.java(), pawl = world.pawl();
    ASSERT_EQ(java.ask("latch_set it 1"), "set true");
    const auto before = looks(world);
    java.tell("latch_wait it 60000");
    ASSERT_TRUE(wait_for_a_message(world, 1, 0, before));
    ASSERT_EQ(pawl.ask("latch_down it 2"), "counted");
    EXPECT_EQ(java.answer(), "open");
}

// Its channels are in slots: who publishes or listens in the other way is not heard.
TEST(Latch, WakesBothSidesInACluster) {
    both world(true);
    side java = world.java(), pawl = world.pawl();
    const auto began = pawl::boot_clock::now();
    for (int round = 0; round < 20; ++round) {
        side &counts = round % 2 == 0 ? java : pawl, &waits = round % 2 == 0 ? pawl : java;
        ASSERT_EQ(counts.ask("latch_set it 1"), "set true");
        const auto before = looks(world);
        waits.tell("latch_wait it 60000");
        ASSERT_TRUE(wait_for_a_message(world, round % 2, 1 - round % 2, before, "SHARDNUMSUB"));
        ASSERT_EQ(counts.ask("latch_down it 1"), "counted");
        ASSERT_EQ(waits.answer(), "open") << round;
        ASSERT_LT(pawl::boot_clock::now() - began, 30s) << "woken by a look";
    }
}

//   P waits | J: delete: DEL, PUBLISH 1 | P looks: there is none, as at 0
TEST(Latch, JavasDeleteLetsPawlGo) {
    both world;
    side java = world.java(), pawl = world.pawl();
    ASSERT_EQ(pawl.ask("latch_set it 1"), "set true");
    const auto before = looks(world);
    pawl.tell("latch_wait it 60000");
    ASSERT_TRUE(wait_for_a_message(world, 0, 1, before));
    ASSERT_EQ(java.ask("latch_delete it"), "deleted true");
    EXPECT_EQ(pawl.answer(), "open");
}

}  // namespace
