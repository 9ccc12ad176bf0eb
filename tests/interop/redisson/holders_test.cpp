// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One holder, of either kind, and how the other side sees it.
#include "mixed_processes.hpp"

#include <support/eventually.hpp>

#include <gtest/gtest.h>

namespace {

using namespace interop;
using support::eventually;

constexpr auto short_ttl = 3000ms;
constexpr auto longest_refresh = 3s;  // a refresh of Pawl's, a message that never came

// The name that one side holds, the name that the other side waits for, and the key of both.
struct names {
    std::string held, wanted, key;
};
const std::vector<names> with_leases{{"it", "it", "it"},
                                     {"fair", "fair", "fair"},
                                     {"write:rw", "read:rw", "rw"},
                                     {"read:rw", "write:rw", "rw"},
                                     {"permits 3", "permits 1", "permits"}};
const std::vector<names> reentrant{{"rlock", "rlock", "rlock"},
                                   {"fenced", "fenced", "fenced"},
                                   {"fair", "fair", "fair"},
                                   {"write:rw", "read:rw", "rw"},
                                   {"read:rw", "write:rw", "rw"}};

// A permit has no watchdog in Java.
bool is_renewed(const test_process& holder, const names& lock_names) {
    return holder.name() == "Pawl" || lock_names.key != "permits";
}

void expect_killed_holder_frees_lock(mixed_processes& processes, test_process holder,
                                     test_process& waiter, const names& lock_names) {
    ASSERT_TRUE(holder.execute("lock " + lock_names.held).starts_with("held"));
    waiter.send("lock " + lock_names.wanted);
    ASSERT_TRUE(processes.has_waiters(lock_names.key, 1));
    if (is_renewed(holder, lock_names)) {
        EXPECT_TRUE(waiter.is_silent(short_ttl + 1s)) << "the holder was alive and renewed";
    }
    holder.kill9();
    EXPECT_TRUE(waiter.read_reply(short_ttl + longest_refresh).starts_with("held"));
    EXPECT_TRUE(waiter.execute("unlock " + lock_names.wanted).starts_with("unlocked"));
}

//   J holds, its watchdog renews | P waits | J: SIGKILL | the lease ends | P refreshes, holds
TEST(Holders, AKilledJavaHolderFreesItForPawl) {
    mixed_processes processes;
    test_process pawl = processes.pawl(short_ttl);
    for (const auto& each : with_leases) {
        SCOPED_TRACE(each.held);
        expect_killed_holder_frees_lock(processes, processes.java(short_ttl), pawl, each);
    }
}

//   P holds, renews | J waits | P: SIGKILL | the lease ends | J's wait for PTTL ends, J holds
TEST(Holders, AKilledPawlHolderFreesItForJava) {
    mixed_processes processes;
    test_process java = processes.java(short_ttl);
    for (const auto& each : with_leases) {
        SCOPED_TRACE(each.held);
        expect_killed_holder_frees_lock(processes, processes.pawl(short_ttl), java, each);
    }
}

//   J holds a fair lock | P1, P2, J2 are in the queue | P1: SIGKILL | J leaves, notifies P1 | P2's
//   refreshes find P1 gone | P2 leaves, notifies J2
TEST(Holders, AKilledWaiterIsPassedOver) {
    mixed_processes processes;
    test_process first = processes.java(short_ttl), killed = processes.pawl(short_ttl),
                 second = processes.pawl(short_ttl), third = processes.java(short_ttl);
    ASSERT_TRUE(first.execute("lock fair").starts_with("held"));
    std::size_t waiting = 0;
    for (test_process* next : {&killed, &second, &third}) {
        next->send("lock fair");
        ASSERT_TRUE(processes.has_listeners(++waiting));
    }
    killed.kill9();
    ASSERT_TRUE(first.execute("unlock fair").starts_with("unlocked"));
    for (test_process* next : {&second, &third}) {
        EXPECT_TRUE(next->read_reply(short_ttl + 5s + longest_refresh).starts_with("held"))
            << next->name();
        EXPECT_TRUE(next->execute("unlock fair").starts_with("unlocked"));
    }
}

//   J reads | P reads | J: SIGKILL | P leaves: the hash lives as long as J's lease, or is gone
TEST(Holders, OfADeadReaderNothingStays) {
    mixed_processes processes;
    test_process java = processes.java(short_ttl), pawl = processes.pawl(short_ttl),
                 killed = processes.pawl(short_ttl);
    ASSERT_TRUE(java.execute("lock read:rw").starts_with("held"));
    ASSERT_TRUE(killed.execute("lock read:rw").starts_with("held"));
    ASSERT_TRUE(pawl.execute("lock read:rw").starts_with("held"));
    EXPECT_EQ(numbers(pawl.execute("see read:rw")).at(4), 3);
    killed.kill9();
    // While others read, its own lease distinguishes it from them.
    EXPECT_TRUE(eventually([&] { return numbers(pawl.execute("see read:rw")).at(4) == 2; }));
    java.kill9();
    EXPECT_TRUE(eventually([&] { return numbers(pawl.execute("see read:rw")).at(4) == 1; }));
    ASSERT_TRUE(pawl.execute("unlock read:rw").starts_with("unlocked"));
    EXPECT_EQ(processes.server().execute({"EXISTS", "rw"}).number(), 0);
}

// The holder enters twice | the other waits | it leaves once: no DEL, no message | the other keeps
// waiting | it leaves
void expect_reentrant_hold(mixed_processes& processes, test_process& holder, test_process& waiter,
                           const names& lock_names) {
    // Pawl counts in the process, and has one entry on the server.
    const auto entries = holder.name() == "Java" ? 2U : 1U;
    for (int i = 0; i < 2; ++i)
        ASSERT_TRUE(holder.execute("lock " + lock_names.held).starts_with("held"));
    EXPECT_EQ(processes.observer().inspect(lock_names.key).held_by->count, entries);
    waiter.send("lock " + lock_names.wanted);
    ASSERT_TRUE(processes.has_waiters(lock_names.key, 1));
    ASSERT_TRUE(holder.execute("unlock " + lock_names.held).starts_with("unlocked"));
    EXPECT_EQ(processes.observer().inspect(lock_names.key).held_by->count, 1U);
    EXPECT_TRUE(waiter.is_silent(2s))
        << "it acquired the lock although the holder had left only once";
    ASSERT_TRUE(holder.execute("unlock " + lock_names.held).starts_with("unlocked"));
    EXPECT_TRUE(waiter.read_reply().starts_with("held"));
    EXPECT_TRUE(waiter.execute("unlock " + lock_names.wanted).starts_with("unlocked"));
}

TEST(Holders, EnterTwiceWhileTheOtherSideWaits) {
    mixed_processes processes;
    test_process java = processes.java(), pawl = processes.pawl();
    for (const auto& each : reentrant) {
        SCOPED_TRACE(each.held);
        expect_reentrant_hold(processes, java, pawl, each);
        expect_reentrant_hold(processes, pawl, java, each);
    }
}

//   P writes | J1 waits to read, J2 to write | P downgrades: HDEL, mode=read, PUBLISH 1 | J1 reads
//   beside P | J2 keeps waiting | both leave | J2 writes
TEST(Holders, AWriterOfPawlsGoesOnAsAReader) {
    mixed_processes processes;
    test_process pawl = processes.pawl(), reader = processes.java(), writer = processes.java();
    ASSERT_TRUE(pawl.execute("downgrade write:rw").starts_with("held"));
    ASSERT_TRUE(reader.execute("lock read:rw").starts_with("held"));
    writer.send("lock write:rw");
    ASSERT_TRUE(processes.has_waiters("rw", 1));
    EXPECT_EQ(pawl.execute("end write:rw"), "released");
    EXPECT_TRUE(writer.is_silent(1s)) << "a writer held beside a reader";
    ASSERT_TRUE(reader.execute("unlock read:rw").starts_with("unlocked"));
    EXPECT_TRUE(writer.read_reply().starts_with("held"));
}

//   J writes, reads too, stops writing: mode=read | P, which waits to read, is admitted by its
//   refresh
TEST(Holders, AWriterOfJavasGoesOnAsAReader) {
    mixed_processes processes;
    test_process java = processes.java(), pawl = processes.pawl();
    ASSERT_TRUE(java.execute("lock write:rw").starts_with("held"));
    ASSERT_TRUE(java.execute("lock read:rw").starts_with("held"));
    pawl.send("lock read:rw");
    ASSERT_TRUE(processes.has_waiters("rw", 1));
    ASSERT_TRUE(java.execute("unlock write:rw").starts_with("unlocked"));
    EXPECT_TRUE(pawl.read_reply(longest_refresh).starts_with("held"));
    EXPECT_EQ(numbers(pawl.execute("see read:rw")).at(4), 2);
}

// availablePermits and getPermits compared with `inspect`, for either holder.
TEST(Holders, BothSidesCountTheSamePermits) {
    mixed_processes processes;
    test_process java = processes.java(), pawl = processes.pawl();
    const auto agree = [&](std::int64_t free) {
        for (auto* tested : {&java, &pawl}) {
            const auto values = numbers(tested->execute("see permits"));
            EXPECT_EQ(values.at(1), free) << tested->name();
            EXPECT_EQ(values.at(2), permits) << tested->name();
        }
    };
    ASSERT_TRUE(java.execute("lock permits 1").starts_with("held"));
    agree(2);
    ASSERT_TRUE(pawl.execute("lock permits 2").starts_with("held"));
    agree(0);
    ASSERT_TRUE(java.execute("unlock permits").starts_with("unlocked"));
    agree(1);
    EXPECT_EQ(pawl.execute("force permits"), "forced true");
    agree(3);
    ASSERT_TRUE(pawl.execute("lock semaphore 2").starts_with("held"));
    for (auto* tested : {&java, &pawl})
        EXPECT_EQ(numbers(tested->execute("see semaphore")).at(1), 1) << tested->name();
}

// isLocked, remainTimeToLive and getHoldCount compared with `inspect`, for either holder.
void expect_same_view(const std::string& name) {
    mixed_processes processes;
    test_process java = processes.java(), pawl = processes.pawl();
    const auto agree = [&](std::int64_t held, std::int64_t count_in_java, std::int64_t count) {
        const auto theirs = numbers(java.execute("see " + name)),
                   ours = numbers(pawl.execute("see " + name));
        EXPECT_EQ(theirs.at(1), held);
        EXPECT_EQ(ours.at(1), held);
        // Read after Java's value: no more is left, and not much less.
        EXPECT_LE(ours.at(2), theirs.at(2));
        EXPECT_GE(ours.at(2), theirs.at(2) - 5000);
        // Java counts only its own thread's.
        EXPECT_EQ(theirs.at(3), count_in_java);
        EXPECT_EQ(ours.at(3), count);
    };
    agree(0, 0, 0);
    for (const std::int64_t count : {1, 2, 3}) {
        ASSERT_TRUE(java.execute("lock " + name).starts_with("held"));
        agree(1, count, count);
    }
    EXPECT_EQ(pawl.execute("try " + name), "busy");
    for (int i = 0; i < 3; ++i)
        ASSERT_TRUE(java.execute("unlock " + name).starts_with("unlocked"));
    agree(0, 0, 0);
    ASSERT_TRUE(pawl.execute("lock " + name).starts_with("held"));
    agree(1, 0, 1);
    EXPECT_EQ(java.execute("try " + name), "busy");
    EXPECT_TRUE(java.execute("unlock " + name).starts_with("failed"))
        << "Java released Pawl's lock";
    agree(1, 0, 1);
}

TEST(Holders, BothSidesSeeTheSame) {
    for (const std::string name : {"it", "fair", "write:rw"})
        expect_same_view(name);
}

//   P holds | J forces: DEL, PUBLISH | J holds | P's next renewal is refused: lost, and stays so
TEST(Holders, AForcedReleaseIsALossOnBothSides) {
    mixed_processes processes;
    test_process java = processes.java(short_ttl), pawl = processes.pawl(short_ttl);
    ASSERT_TRUE(pawl.execute("lock it").starts_with("held"));
    EXPECT_EQ(java.execute("force it"), "forced true");
    ASSERT_TRUE(java.execute("lock it").starts_with("held"));
    EXPECT_TRUE(eventually([&] { return pawl.execute("lost it") == "yes"; }));
    ASSERT_TRUE(pawl.execute("unlock it").starts_with("unlocked"));
    EXPECT_EQ(pawl.execute("try it"), "busy") << "the loser's unlock freed Java's lock";
    EXPECT_EQ(pawl.execute("force it"), "forced true");
    EXPECT_EQ(pawl.execute("force it"), "forced false");
    ASSERT_TRUE(pawl.execute("lock it").starts_with("held"));
    EXPECT_TRUE(java.execute("unlock it").starts_with("failed"))
        << "Java released what it had lost";
    EXPECT_EQ(java.execute("try it"), "busy");
}

// Only the counter is left on the server: no lock, no latch, no channel.
TEST(Holders, LeaveNothingButTheCounter) {
    mixed_processes processes;
    test_process java = processes.java(), pawl = processes.pawl();
    for (auto* tested : {&java, &pawl}) {
        ASSERT_TRUE(tested->execute("lock fenced").starts_with("held"));
        ASSERT_TRUE(tested->execute("unlock fenced").starts_with("unlocked"));
    }
    const std::vector<std::string> counter{"redisson_lock_token:{fenced}"};
    EXPECT_TRUE(eventually([&] { return processes.server().keys() == counter; }));
    EXPECT_EQ(processes.server().execute({"GET", counter[0]}).text, "2");
}

}  // namespace
