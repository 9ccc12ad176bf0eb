// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Which message wakes which waiter. The lease is a minute on both sides, and Java's waiters sleep
// for all of it, or for ever: only a message ends their wait in time. Pawl's waiters refresh once a
// second, so their messages are counted.
#include "mixed_processes.hpp"

#include <support/eventually.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

namespace {

using namespace interop;

constexpr int rounds = 30;

// The names that the holder and the waiter use.
struct pair_of_names {
    std::string held, wanted;
};

// The words of a name: its role in a ReadWriteLock, the key, and the number of permits.
struct name_parts {
    std::string role, key, count;
    explicit name_parts(const std::string& name) {
        const auto begin = name.find(':') + 1;
        const auto end = std::min(name.find(' '), name.size());
        role = name.substr(0, begin);
        key = name.substr(begin, end - begin);
        count = name.substr(end);
    }
};
std::string key_of(const pair_of_names& names) { return name_parts(names.held).key; }
pair_of_names with_key(const pair_of_names& names, const std::string& key) {
    const name_parts held(names.held), wanted(names.wanted);
    return {held.role + key + held.count, wanted.role + key + wanted.count};
}

// From before the release is sent until the waiter runs, in µs.
std::int64_t measure_handover(mixed_processes& processes, test_process& holder,
                              test_process& waiter, const pair_of_names& names) {
    EXPECT_TRUE(holder.execute("lock " + names.held).starts_with("held"));
    waiter.send("lock " + names.wanted);
    EXPECT_TRUE(processes.has_listeners(1)) << waiter.name() << " does not listen";
    const auto released = numbers(holder.execute("unlock " + names.held)).at(1);
    const auto acquired_at = numbers(waiter.read_reply()).at(2);
    EXPECT_TRUE(waiter.execute("unlock " + names.wanted).starts_with("unlocked"));
    EXPECT_TRUE(processes.has_listeners(0)) << waiter.name() << " still listens";
    return (acquired_at - released) / 1000;
}

void print_percentiles(const std::string& title, std::vector<std::int64_t> us) {
    std::sort(us.begin(), us.end());
    std::cout << title << ": p50 " << us[us.size() / 2] << " µs, worst " << us.back() << " µs of "
              << us.size() << '\n';
}

class Waking : public testing::TestWithParam<pair_of_names> {};

//   P holds | J tries, subscribes, tries again, sleeps | P: DEL, PUBLISH | J wakes, tries, has it
TEST_P(Waking, OfJavaByPawl) {
    mixed_processes processes;
    test_process java = processes.java(), pawl = processes.pawl();
    const auto began = pawl::boot_clock::now();
    std::vector<std::int64_t> us;
    for (int i = 0; i < rounds; ++i)
        us.push_back(measure_handover(processes, pawl, java, GetParam()));
    EXPECT_LT(pawl::boot_clock::now() - began, 60s)
        << "the end of a lease may have ended one of the waits";
    print_percentiles("Pawl's " + GetParam().held + " to Java's " + GetParam().wanted, us);
}

//   J holds | P tries, subscribes, tries again, sleeps | J: DEL, PUBLISH | P wakes, tries, has it
TEST_P(Waking, OfPawlByJava) {
    mixed_processes processes;
    test_process java = processes.java(), pawl = processes.pawl();
    const auto before = numbers(pawl.execute("pushes")).at(1);
    std::vector<std::int64_t> us;
    for (int i = 0; i < rounds; ++i)
        us.push_back(measure_handover(processes, java, pawl, GetParam()));
    EXPECT_EQ(numbers(pawl.execute("pushes")).at(1) - before, rounds)
        << "not every message arrived";
    print_percentiles("Java's " + GetParam().held + " to Pawl's " + GetParam().wanted, us);
}

// Locks of every master of a cluster. Its channels are in slots: a plain PUBLISH or SUBSCRIBE does
// not reach them.
TEST_P(Waking, InACluster) {
    mixed_processes processes(deployment::cluster);
    test_process java = processes.java(), pawl = processes.pawl();
    const auto began = pawl::boot_clock::now();
    const auto before = numbers(pawl.execute("pushes")).at(1);
    const auto locks = processes.names(key_of(GetParam()));
    for (const auto& lock : locks) {
        const auto names = with_key(GetParam(), lock);
        for (int i = 0; i < 2; ++i) {
            (void)measure_handover(processes, pawl, java, names);
            (void)measure_handover(processes, java, pawl, names);
        }
    }
    EXPECT_EQ(numbers(pawl.execute("pushes")).at(1) - before, 2 * locks.size())
        << "not every message arrived";
    EXPECT_LT(pawl::boot_clock::now() - began, 60s)
        << "the end of a lease may have ended one of the waits";
}

// One node that has all slots: Pawl uses it with the URL of a server, and Redisson as a cluster.
TEST(WakingAtANode, OfBothSides) {
    mixed_processes processes(deployment::cluster_node);
    test_process java = processes.java(), pawl = processes.pawl();
    const auto before = numbers(pawl.execute("pushes")).at(1);
    for (int i = 0; i < 5; ++i) {
        (void)measure_handover(processes, pawl, java, {"it", "it"});
        (void)measure_handover(processes, java, pawl, {"it", "it"});
    }
    EXPECT_EQ(numbers(pawl.execute("pushes")).at(1) - before, 5) << "not every message arrived";
}

INSTANTIATE_TEST_SUITE_P(, Waking,
                         testing::Values(pair_of_names{"it", "it"}, pair_of_names{"fair", "fair"},
                                         pair_of_names{"write:it", "read:it"},
                                         pair_of_names{"read:it", "write:it"},
                                         pair_of_names{"permits 3", "permits 1"},
                                         pair_of_names{"semaphore 3", "semaphore 1"}),
                         [](const auto& parameter) {
                             auto name = parameter.param.held + "_to_" + parameter.param.wanted;
                             std::replace_if(
                                 name.begin(), name.end(),
                                 [](char c) { return c == ':' || c == ' '; }, '_');
                             return name;
                         });

// The connection dies while P waits, and with it the subscription:
//   J holds | P listens | P's connection is cut | P connects, subscribes, refreshes | J: DEL,
//   PUBLISH
TEST(WakingAgain, OfPawlAfterItsConnectionWasCut) {
    for (const std::string name : {"it", "fair"}) {
        mixed_processes processes;
        test_process java = processes.java(), pawl = processes.pawl();
        for (int i = 0; i < 5; ++i) {
            ASSERT_TRUE(java.execute("lock " + name).starts_with("held"));
            pawl.send("lock " + name);
            ASSERT_TRUE(processes.has_listeners(1));
            ASSERT_EQ(processes.server().execute({"CLIENT", "KILL", "TYPE", "pubsub"}).number(), 1);
            ASSERT_TRUE(processes.has_listeners(1)) << "no client subscribed again";
            ASSERT_TRUE(java.execute("unlock " + name).starts_with("unlocked"));
            ASSERT_TRUE(pawl.read_reply().starts_with("held"));
            ASSERT_TRUE(pawl.execute("unlock " + name).starts_with("unlocked"));
        }
    }
}

// Each process gets the lock when the one before it has released it.
void expect_turns(mixed_processes& processes, const std::vector<test_process*>& order) {
    std::size_t waiting = order.size();
    for (test_process* next : order) {
        ASSERT_TRUE(next->read_reply().starts_with("held")) << next->name();
        // The others still wait.
        EXPECT_EQ(processes.observer().inspect("fair").waiters, --waiting);
        ASSERT_TRUE(next->execute("unlock fair").starts_with("unlocked"));
    }
}

// Both kinds of waiters are served in the order of their arrival:
//   J1 holds | P1, J2, P2 are in the queue | J1 leaves | P1, J2, P2 have it, one after the other
TEST(WakingInOrder, OfAFairLine) {
    mixed_processes processes;
    test_process first = processes.java(), second = processes.pawl(), third = processes.java(),
                 fourth = processes.pawl();
    for (int i = 0; i < 5; ++i) {
        ASSERT_TRUE(first.execute("lock fair").starts_with("held"));
        std::size_t waiting = 0;
        for (test_process* next : {&second, &third, &fourth}) {
            next->send("lock fair");
            ASSERT_TRUE(processes.has_listeners(++waiting));
        }
        ASSERT_TRUE(first.execute("unlock fair").starts_with("unlocked"));
        expect_turns(processes, {&second, &third, &fourth});
    }
}

// A Java waiter that gets its turn subtracts its five minutes from the times of all behind it, as
// if these times included them:
//   J holds, renews | J1, P1, J2, P2 are in the queue | J leaves after several leases | J1: ZINCRBY
//   -300000 P1 … | J1 leaves, purges the queue: P1 must still be in it
TEST(WakingInOrder, OfAFairLineThatWaitedForLong) {
    constexpr auto lease = 2s;
    mixed_processes processes;
    test_process first = processes.java(lease), second = processes.java(lease),
                 third = processes.pawl(lease), fourth = processes.java(lease),
                 fifth = processes.pawl(lease);
    ASSERT_TRUE(first.execute("lock fair").starts_with("held"));
    std::size_t waiting = 0;
    for (test_process* next : {&second, &third, &fourth, &fifth}) {
        next->send("lock fair");
        ASSERT_TRUE(processes.has_listeners(++waiting));
    }
    ASSERT_TRUE(second.is_silent(lease + 8s));
    ASSERT_TRUE(first.execute("unlock fair").starts_with("unlocked"));
    expect_turns(processes, {&second, &third, &fourth, &fifth});
}

}  // namespace
