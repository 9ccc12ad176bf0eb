// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One RCountDownLatch, set, counted and waited for by Java and by Pawl.
#include "mixed_processes.hpp"

#include <support/eventually.hpp>

#include <gtest/gtest.h>

namespace {

using namespace interop;
using support::eventually;

// How often the server was asked for the count of a latch: Java sends GET, Pawl GETRANGE.
std::int64_t count_reads(support::redis_server& server) {
    const auto stats = server.execute({"INFO", "commandstats"}).text;
    const auto calls_of = [&](const std::string& command) -> std::int64_t {
        const std::string row = "cmdstat_" + command + ":calls=";
        const auto at = stats.find(row);
        return at == std::string::npos ? 0 : std::stoll(stats.substr(at + row.size()));
    };
    return calls_of("get") + calls_of("getrange");
}

struct subscribers {
    std::int64_t java, pawl;
};

// Waits until exactly these processes have subscribed to the latch and read the count after that:
// then only a message wakes them early. Java also reads the count before it subscribes. `before` is
// the result of count_reads before they began to wait.
bool are_subscribed(support::redis_server& server, subscribers expected, std::int64_t before,
                    const std::string& latch = "it", const char* mode = "NUMSUB") {
    const auto channel = "redisson_countdownlatch__channel__{" + latch + "}";
    return eventually([&] {
        const auto present = server.execute({"PUBSUB", mode, channel}).items.at(1).number();
        return present == expected.java + expected.pawl &&
               count_reads(server) - before >= 2 * expected.java + expected.pawl;
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
        const auto before = count_reads(processes.server());
        waiting_java.send("latch_wait it 60000");
        waiting_pawl.send("latch_wait it 60000");
        ASSERT_TRUE(are_subscribed(processes.server(), {1, 1}, before));
        ASSERT_EQ(java.execute("latch_down it 1"), "counted");
        ASSERT_EQ(pawl.execute("latch_down it 1"), "counted");
        ASSERT_EQ(counts.execute("latch_down it 1"), "counted");
        ASSERT_EQ(waiting_java.read_reply(), "open") << round;
        ASSERT_EQ(waiting_pawl.read_reply(), "open") << round;
        ASSERT_TRUE(are_subscribed(processes.server(), {0, 0}, count_reads(processes.server())));
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
    const auto before = count_reads(processes.server());
    java.send("latch_wait it 60000");
    ASSERT_TRUE(are_subscribed(processes.server(), {1, 0}, before));
    ASSERT_EQ(pawl.execute("latch_down it 2"), "counted");
    EXPECT_EQ(java.read_reply(), "open");
}

void expect_latches_wake_both_sides(deployment where, int rounds) {
    mixed_processes processes(where);
    test_process java = processes.java(), pawl = processes.pawl();
    const auto names = processes.names("it");
    const auto began = pawl::boot_clock::now();
    for (int round = 0; round < rounds; ++round) {
        const auto name = names[static_cast<std::size_t>(round) / 2 % names.size()];
        auto& server = processes.server_of(name);
        const bool java_waits = round % 2 != 0;
        test_process &counts = java_waits ? pawl : java, &waits = java_waits ? java : pawl;
        ASSERT_EQ(counts.execute("latch_set " + name + " 1"), "set true");
        const auto before = count_reads(server);
        waits.send("latch_wait " + name + " 60000");
        const subscribers expected{java_waits ? 1 : 0, java_waits ? 0 : 1};
        ASSERT_TRUE(are_subscribed(server, expected, before, name, "SHARDNUMSUB"));
        ASSERT_EQ(counts.execute("latch_down " + name + " 1"), "counted");
        ASSERT_EQ(waits.read_reply(), "open") << round;
        ASSERT_LT(pawl::boot_clock::now() - began, 30s) << "woken by a refresh";
    }
}

// The channels are in slots: a plain PUBLISH or SUBSCRIBE does not reach them.
TEST(Latch, WakesBothSidesInACluster) { expect_latches_wake_both_sides(deployment::cluster, 18); }

TEST(Latch, WakesBothSidesAtANode) { expect_latches_wake_both_sides(deployment::cluster_node, 8); }

//   P waits | J: delete: DEL, PUBLISH 1 | P refreshes: no latch, which counts as 0
TEST(Latch, JavasDeleteLetsPawlGo) {
    mixed_processes processes;
    test_process java = processes.java(), pawl = processes.pawl();
    ASSERT_EQ(pawl.execute("latch_set it 1"), "set true");
    const auto before = count_reads(processes.server());
    pawl.send("latch_wait it 60000");
    ASSERT_TRUE(are_subscribed(processes.server(), {0, 1}, before));
    ASSERT_EQ(java.execute("latch_delete it"), "deleted true");
    EXPECT_EQ(pawl.read_reply(), "open");
}

}  // namespace
