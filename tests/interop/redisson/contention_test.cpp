// Two Java and two Pawl processes, two threads each, want the same lock all the time.
//
// Interleavings that come up by themselves, and must not let two in:
//   J releases (DEL, PUBLISH) | P tries between J's DEL and the message | J's other thread tries
//   P tries: held | J releases | P subscribes, too late for the message | P tries again: free
//   P's message comes while P's own attempt is under way | P is refused | P must look again
//   J's and P's waiters get one message | both try | one has it, the other goes on waiting
//   P stops listening with its grant | the next message is for P's other thread, not yet listening
#include "both.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <limits>

namespace {

using namespace interop;

constexpr int threads = 2;
constexpr int times = 2500;

support::history read_logs(const both& world, std::size_t count) {
    support::history all;
    for (std::size_t i = 0; i < count; ++i) {
        std::ifstream log(world.file("log" + std::to_string(i)));
        support::hold_record one;
        one.who = i % 2 == 0 ? "Java" : "Pawl";
        one.deadline = std::numeric_limits<support::instant>::max();
        while (log >> one.token >> one.invoked >> one.returned >> one.ended)
            all.holds.push_back(one);
    }
    return all;
}

// A lock without tokens: the order of belief stands in for them.
void number_by_time(support::history& of) {
    std::sort(of.holds.begin(), of.holds.end(),
              [](const auto& a, const auto& b) { return a.returned < b.returned; });
    for (std::size_t i = 0; i < of.holds.size(); ++i)
        of.holds[i].token = i + 1;
}

// How often the lock went from one kind of program to the other.
std::size_t changes(support::history of) {
    std::sort(of.holds.begin(), of.holds.end(),
              [](const auto& a, const auto& b) { return a.returned < b.returned; });
    std::size_t count = 0;
    for (std::size_t i = 1; i < of.holds.size(); ++i)
        count += of.holds[i].who != of.holds[i - 1].who;
    return count;
}

enum class among { one_at_a_time, with_tokens, some_together };

void contend(const std::string& name, among what, bool in_a_cluster = false) {
    both world(in_a_cluster);
    std::ofstream(world.file("gate")) << std::string(sizeof(gate), '\0');
    std::vector<side> crowd;
    for (int i = 0; i < 2; ++i) {
        crowd.push_back(world.java());
        crowd.push_back(world.pawl());
    }
    for (std::size_t i = 0; i < crowd.size(); ++i)
        crowd[i].tell("contend " + name + " " + std::to_string(threads) + " " +
                      std::to_string(times) + " " + world.file("log" + std::to_string(i)) + " " +
                      world.file("gate"));
    for (auto& one : crowd)
        EXPECT_EQ(one.answer(200s), "done") << one.name();
    const auto& seen = gate::at(world.file("gate"));
    EXPECT_EQ(seen.wrong, 0) << "too many were inside at once";
    EXPECT_EQ(seen.inside, 0);
    EXPECT_EQ(seen.readers, 0);
    // Else the test did not see what it allows.
    EXPECT_EQ(seen.together > 0, what == among::some_together);

    auto history = read_logs(world, crowd.size());
    ASSERT_EQ(history.holds.size(), crowd.size() * threads * times);
    std::cout << name << ": " << history.holds.size() << " acquisitions, " << changes(history)
              << " times from Java to Pawl or back\n";
    EXPECT_GT(changes(history), 100U) << "they took turns instead of contending";
    if (what == among::one_at_a_time) number_by_time(history);
    if (what != among::some_together) {
        for (const auto& each : check(history))
            ADD_FAILURE() << each.rule << ": " << each.what;
    }
    EXPECT_FALSE(world.eyes().inspect(name).held_by);
    EXPECT_TRUE(world.has_waiters(name, 0));
}

TEST(Contention, OfAnRLock) { contend("rlock", among::one_at_a_time); }

// Java's tokens and Pawl's are of one counter: unique, and in the order of time.
TEST(Contention, OfAFencedLock) { contend("fenced", among::with_tokens); }

TEST(Contention, OfAFairLock) { contend("fair", among::one_at_a_time); }

TEST(Contention, OfAReadWriteLock) { contend("rw", among::some_together); }

TEST(Contention, OfAFencedLockInACluster) { contend("fenced", among::with_tokens, true); }

TEST(Contention, OfAReadWriteLockInACluster) { contend("rw", among::some_together, true); }

TEST(Contention, OfPermitsWithLeases) { contend("permits", among::some_together); }

TEST(Contention, OfPermitsWithoutLeases) { contend("semaphore", among::some_together); }

}  // namespace
