// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Two Java (J) and two Pawl (P) processes, two threads each, want the same lock all the time; in a
// cluster of three masters, a lock of each master in turn.
//
// Interleavings that come up by themselves, and must not let two in:
//   J releases (DEL, PUBLISH) | P tries between J's DEL and the message | J's other thread tries
//   P tries: held | J releases | P subscribes, too late for the message | P tries again: free
//   P's message comes while P's own attempt is under way | P is refused | P must try again
//   J's and P's waiters get one message | both try | one has it, the other keeps waiting
//   P stops listening with its grant | the next message is for P's other thread, not yet listening
#include "mixed_processes.hpp"

#include <real/record/checker.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string_view>

namespace {

using namespace interop;

constexpr std::size_t process_count = 4;
constexpr std::size_t threads = 2;
// How often each thread acquires.
struct contention_length {
    std::size_t usual;
    std::size_t with_replica;  // Redisson waits for it at each acquire
    std::size_t with_redlock;  // RedissonRedLock asks its servers one after the other
};
constexpr contention_length short_length{.usual = 800, .with_replica = 200, .with_redlock = 100};
constexpr contention_length full_length{.usual = 2500, .with_replica = 400, .with_redlock = 300};

// Of the number of a hold: the upper part is the process. Java's have even numbers.
constexpr unsigned first_bit_of_process = 40;

// The holds of each name.
std::vector<real::lock_records> read_logs(const mixed_processes& processes, std::size_t count,
                                          std::size_t names) {
    std::vector<real::lock_records> all(names);
    for (std::size_t i = 0; i < count; ++i) {
        std::ifstream log(processes.file("log" + std::to_string(i)));
        real::hold_record record{.hold = i << first_bit_of_process};
        std::size_t name = 0;
        while (log >> name >> record.token >> record.invoked >> record.returned >>
               record.believed) {
            all.at(name).holds.push_back(record);
            ++record.hold;
        }
    }
    return all;
}

// A lock without tokens: the order of the holds replaces them.
void set_tokens_by_time(real::lock_records& recorded) {
    std::sort(recorded.holds.begin(), recorded.holds.end(),
              [](const auto& a, const auto& b) { return a.returned < b.returned; });
    for (std::size_t i = 0; i < recorded.holds.size(); ++i)
        recorded.holds[i].token = i + 1;
}

bool is_java(const real::hold_record& hold) { return (hold.hold >> first_bit_of_process) % 2 == 0; }

// How often the lock went from one kind of program to the other.
std::size_t ownership_changes(real::lock_records recorded) {
    std::sort(recorded.holds.begin(), recorded.holds.end(),
              [](const auto& a, const auto& b) { return a.returned < b.returned; });
    std::size_t count = 0;
    for (std::size_t i = 1; i < recorded.holds.size(); ++i)
        count += is_java(recorded.holds[i]) != is_java(recorded.holds[i - 1]);
    return count;
}

enum class sharing { exclusive, exclusive_with_tokens, some_together };

// All processes acquire the names in turn, each thread `times` times.
void contend(mixed_processes& processes, const std::vector<std::string>& names, std::size_t times) {
    std::ofstream(processes.file("gates")) << std::string(sizeof(gate) * names.size(), '\0');
    std::string list;
    for (const auto& name : names)
        list += (list.empty() ? "" : ",") + name;
    std::vector<test_process> contenders;
    for (std::size_t i = 0; i < process_count / 2; ++i) {
        contenders.push_back(processes.java());
        contenders.push_back(processes.pawl());
    }
    for (std::size_t i = 0; i < contenders.size(); ++i)
        contenders[i].send("contend " + list + " " + std::to_string(threads) + " " +
                           std::to_string(times) + " " + processes.file("log" + std::to_string(i)) +
                           " " + processes.file("gates"));
    for (auto& process : contenders)
        EXPECT_EQ(process.read_reply(200s), "done") << process.name();
}

std::size_t times_at(deployment where) {
    const char* setting = std::getenv("PAWL_CONTENTION");
    const bool is_long = setting != nullptr && std::string_view(setting) == "long";
    const auto& times = is_long ? full_length : short_length;
    switch (where) {
    case deployment::sentinels: return times.with_replica;
    case deployment::three_servers:
    case deployment::five_servers: return times.with_redlock;
    default: return times.usual;
    }
}

void expect_no_violations(const std::string& prefix, sharing contention,
                          deployment where = deployment::server) {
    mixed_processes processes(where);
    const auto names = processes.names(prefix);
    const auto times = times_at(where);
    contend(processes, names, times);
    auto histories = read_logs(processes, process_count, names.size());
    std::size_t acquisitions = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
        SCOPED_TRACE(names[i]);
        const auto& gate_state = gate::at(processes.file("gates"), i);
        EXPECT_EQ(gate_state.violations, 0) << "too many holders at once";
        EXPECT_EQ(gate_state.inside, 0);
        EXPECT_EQ(gate_state.readers, 0);
        // Holders that may share must have met: otherwise the test did not reach that state.
        EXPECT_EQ(gate_state.meetings > 0, contention == sharing::some_together);
        auto& history = histories[i];
        acquisitions += history.holds.size();
        std::cout << names[i] << ": " << history.holds.size() << " acquisitions, "
                  << ownership_changes(history) << " times from Java to Pawl or back\n";
        EXPECT_GT(ownership_changes(history), where >= deployment::three_servers ? 0U : 100U)
            << "they took turns instead of contending";
        if (contention == sharing::exclusive) set_tokens_by_time(history);
        if (contention != sharing::some_together) {
            const auto outcome = real::check({.locks = {history}, .are_stopped = false});
            EXPECT_EQ(outcome.violations(), 0U);
            for (const auto& each : outcome.details)
                ADD_FAILURE() << each;
        }
        EXPECT_FALSE(processes.observer().inspect(names[i]).held_by);
        EXPECT_TRUE(processes.has_waiters(names[i], 0));
    }
    EXPECT_EQ(acquisitions, process_count * threads * times);
}

TEST(Contention, OfAnRLock) { expect_no_violations("rlock", sharing::exclusive); }

// Java's tokens and Pawl's come from one counter: unique, and in the order of time.
TEST(Contention, OfAFencedLock) { expect_no_violations("fenced", sharing::exclusive_with_tokens); }

TEST(Contention, OfAFairLock) { expect_no_violations("fair", sharing::exclusive); }

TEST(Contention, OfAReadWriteLock) { expect_no_violations("rw", sharing::some_together); }

TEST(Contention, OfFencedLocksInACluster) {
    expect_no_violations("fenced", sharing::exclusive_with_tokens, deployment::cluster);
}

TEST(Contention, OfReadWriteLocksInACluster) {
    expect_no_violations("rw", sharing::some_together, deployment::cluster);
}

TEST(Contention, OfAFencedLockWithSentinels) {
    expect_no_violations("fenced", sharing::exclusive_with_tokens, deployment::sentinels);
}

TEST(Contention, OfARedLockOnThreeServers) {
    expect_no_violations("rlock", sharing::exclusive, deployment::three_servers);
}

TEST(Contention, OfARedLockOnFiveServers) {
    expect_no_violations("rlock", sharing::exclusive, deployment::five_servers);
}

TEST(Contention, OfPermitsWithLeases) { expect_no_violations("permits", sharing::some_together); }

TEST(Contention, OfPermitsWithoutLeases) {
    expect_no_violations("semaphore", sharing::some_together);
}

}  // namespace
