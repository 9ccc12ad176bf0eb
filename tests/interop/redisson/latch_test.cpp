// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One RCountDownLatch, set, counted and waited for by Java and by Pawl.
#include "mixed_processes.hpp"

#include <support/eventually.hpp>

#include <gtest/gtest.h>

namespace {

using namespace interop;
using support::eventually;

const std::string channel = "redisson_countdownlatch__channel__{it}";

// How often the server was asked for the count of a latch.
std::int64_t count_reads(mixed_processes& processes) {
    const auto stats = processes.server().execute({"INFO", "commandstats"}).text;
    const std::string row = "cmdstat_get:calls=";
    const auto at = stats.find(row);
    return at == std::string::npos ? 0 : std::stoll(stats.substr(at + row.size()));
}

// Waits until exactly `java` and `pawl` processes have subscribed and read the count after that:
// then only a message wakes them early. Java also reads the count before it subscribes. `before` is
// the result of count_reads before they began to wait.
bool are_subscribed(mixed_processes& processes, std::int64_t java, std::int64_t pawl,
                    std::int64_t before, const char* mode = "NUMSUB") {
    return eventually([&] {
        const auto subscribers =
            processes.server().execute({"PUBSUB", mode, channel}).items.at(1).number();
        return subscribers == java + pawl && count_reads(processes) - before >= 2 * java + pawl;
    });
}

// Each side reads what the other writes.
TEST(Latch, IsTheSameOnBothSides) {
    mixed_processes processes;
    test_process java = processes.java(), pawl = processes.pawl();
    test_process* sides[] = {&java, &pawl};
    for (const std::string name : {"it", "a{tag}b", "with:colon"}) {
        for (int round = 0; round < 2; ++round) {
            test_process &first = *sides[round], &second = *sides[1 - round];
            EXPECT_EQ(first.execute("latch_count " + name), "count 0");
            EXPECT_EQ(first.execute("latch_set " + name + " 5"), "set true");
            EXPECT_EQ(second.execute("latch_set " + name + " 9"), "set false");
            EXPECT_EQ(second.execute("latch_count " + name), "count 5");
            EXPECT_EQ(second.execute("latch_down " + name + " 2"), "counted");
            EXPECT_EQ(first.execute("latch_count " + name), "count 3");
            EXPECT_EQ(first.execute("latch_wait " + name + " 50"), "late");
            EXPECT_EQ(processes.server().execute({"GET", name}).text, "3");
            EXPECT_EQ(processes.server().execute({"PTTL", name}).number(), -1)
                << "Java's has no end";
            EXPECT_EQ(first.execute("latch_down " + name + " 3"), "counted");
            EXPECT_EQ(second.execute("latch_wait " + name + " 50"), "open");
            EXPECT_EQ(processes.server().execute({"EXISTS", name}).number(), 0);
            EXPECT_EQ(first.execute("latch_down " + name + " 1"), "counted") << "below 0";
            EXPECT_EQ(first.execute("latch_set " + name + " 1"), "set true");
            EXPECT_EQ(second.execute("latch_delete " + name), "deleted true");
            EXPECT_EQ(first.execute("latch_delete " + name), "deleted false");
        }
    }
}

//   J and P wait, subscribed | one side: DECR to 0, DEL, PUBLISH 0 | the waiters of both sides are
//   released
TEST(Latch, WakesBothSides) {
    mixed_processes processes;
    test_process java = processes.java(), pawl = processes.pawl(), waiting_java = processes.java(),
                 waiting_pawl = processes.pawl();
    const auto pushes = numbers(waiting_pawl.execute("pushes")).at(1);
    const auto began = pawl::boot_clock::now();
    constexpr int rounds = 40;
    for (int round = 0; round < rounds; ++round) {
        test_process& counts = round % 2 == 0 ? java : pawl;
        test_process& sets = round % 4 < 2 ? java : pawl;
        ASSERT_EQ(sets.execute("latch_set it 3"), "set true");
        const auto before = count_reads(processes);
        waiting_java.send("latch_wait it 60000");
        waiting_pawl.send("latch_wait it 60000");
        ASSERT_TRUE(are_subscribed(processes, 1, 1, before));
        ASSERT_EQ(java.execute("latch_down it 1"), "counted");
        ASSERT_EQ(pawl.execute("latch_down it 1"), "counted");
        ASSERT_EQ(counts.execute("latch_down it 1"), "counted");
        ASSERT_EQ(waiting_java.read_reply(), "open") << round;
        ASSERT_EQ(waiting_pawl.read_reply(), "open") << round;
        ASSERT_TRUE(are_subscribed(processes, 0, 0, count_reads(processes)));
        // The refreshes of last resort would take longer, over all rounds.
        ASSERT_LT(pawl::boot_clock::now() - began, 60s) << "woken by a refresh";
    }
    EXPECT_GE(numbers(waiting_pawl.execute("pushes")).at(1) - pushes, rounds);
}

//   J waits | P: 2 at once, from 1: below 0, DEL, PUBLISH 0 | J is released
TEST(Latch, PawlsLongerStepWakesJava) {
    mixed_processes processes;
    test_process java = processes.java(), pawl = processes.pawl();
    ASSERT_EQ(java.execute("latch_set it 1"), "set true");
    const auto before = count_reads(processes);
    java.send("latch_wait it 60000");
    ASSERT_TRUE(are_subscribed(processes, 1, 0, before));
    ASSERT_EQ(pawl.execute("latch_down it 2"), "counted");
    EXPECT_EQ(java.read_reply(), "open");
}

// Its channels are in slots: a plain PUBLISH or SUBSCRIBE does not reach them.
TEST(Latch, WakesBothSidesInACluster) {
    mixed_processes processes(true);
    test_process java = processes.java(), pawl = processes.pawl();
    const auto began = pawl::boot_clock::now();
    for (int round = 0; round < 20; ++round) {
        test_process &counts = round % 2 == 0 ? java : pawl, &waits = round % 2 == 0 ? pawl : java;
        ASSERT_EQ(counts.execute("latch_set it 1"), "set true");
        const auto before = count_reads(processes);
        waits.send("latch_wait it 60000");
        ASSERT_TRUE(are_subscribed(processes, round % 2, 1 - round % 2, before, "SHARDNUMSUB"));
        ASSERT_EQ(counts.execute("latch_down it 1"), "counted");
        ASSERT_EQ(waits.read_reply(), "open") << round;
        ASSERT_LT(pawl::boot_clock::now() - began, 30s) << "woken by a refresh";
    }
}

//   P waits | J: delete: DEL, PUBLISH 1 | P refreshes: no latch, which counts as 0
TEST(Latch, JavasDeleteLetsPawlGo) {
    mixed_processes processes;
    test_process java = processes.java(), pawl = processes.pawl();
    ASSERT_EQ(pawl.execute("latch_set it 1"), "set true");
    const auto before = count_reads(processes);
    pawl.send("latch_wait it 60000");
    ASSERT_TRUE(are_subscribed(processes, 0, 1, before));
    ASSERT_EQ(java.execute("latch_delete it"), "deleted true");
    EXPECT_EQ(pawl.read_reply(), "open");
}

}  // namespace
