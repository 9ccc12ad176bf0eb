// One holder, of either kind, and what the other side sees of it.
#include "both.hpp"

#include <support/eventually.hpp>

#include <gtest/gtest.h>

namespace {

using namespace interop;
using support::eventually;

constexpr auto ttl = 3000ms;
constexpr auto grace = 3s;  // a look of Pawl's, a message that never came

// What is held, and what waits for it.
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
bool renews(const side& holder, const names& what) {
    return holder.name() == "Pawl" || what.key != "permits";
}

void a_killed_holder_frees_it(both& world, side holder, side& waiter, const names& what) {
    ASSERT_TRUE(holder.ask("lock " + what.held).starts_with("held"));
    waiter.tell("lock " + what.wanted);
    ASSERT_TRUE(world.has_waiters(what.key, 1));
    if (renews(holder, what)) {
        EXPECT_TRUE(waiter.silent(ttl + 1s)) << "the holder was alive and renewed";
    }
    holder.kill9();
    EXPECT_TRUE(waiter.answer(ttl + grace).starts_with("held"));
    EXPECT_TRUE(waiter.ask("unlock " + what.wanted).starts_with("unlocked"));
}

//   J holds, its watchdog renews | P waits | J: SIGKILL | the lease ends | P looks, has it
TEST(Holders, AKilledJavaHolderFreesItForPawl) {
    both world;
    side pawl = world.pawl(ttl);
    for (const auto& each : with_leases) {
        SCOPED_TRACE(each.held);
        a_killed_holder_frees_it(world, world.java(ttl), pawl, each);
    }
}

//   P holds, renews | J waits | P: SIGKILL | the lease ends | J's wait for PTTL ends, has it
TEST(Holders, AKilledPawlHolderFreesItForJava) {
    both world;
    side java = world.java(ttl);
    for (const auto& each : with_leases) {
        SCOPED_TRACE(each.held);
        a_killed_holder_frees_it(world, world.pawl(ttl), java, each);
    }
}

//   J holds a fair lock | P1, P2, J2 stand in line | P1: SIGKILL | J leaves, tells P1 | P2's looks
//   find P1 gone | P2 leaves, tells J2
TEST(Holders, AKilledWaiterIsPassedOver) {
    both world;
    side first = world.java(ttl), dead = world.pawl(ttl), second = world.pawl(ttl),
         third = world.java(ttl);
    ASSERT_TRUE(first.ask("lock fair").starts_with("held"));
    std::size_t waiting = 0;
    for (side* next : {&dead, &second, &third}) {
        next->tell("lock fair");
        ASSERT_TRUE(world.has_listeners(++waiting));
    }
    dead.kill9();
    ASSERT_TRUE(first.ask("unlock fair").starts_with("unlocked"));
    for (side* next : {&second, &third}) {
        EXPECT_TRUE(next->answer(ttl + 5s + grace).starts_with("held")) << next->name();
        EXPECT_TRUE(next->ask("unlock fair").starts_with("unlocked"));
    }
}

//   J reads | P reads | J: SIGKILL | P leaves: the hash lives as long as J's lease, or is gone
TEST(Holders, OfADeadReaderNothingStays) {
    both world;
    side java = world.java(ttl), pawl = world.pawl(ttl), dead = world.pawl(ttl);
    ASSERT_TRUE(java.ask("lock read:rw").starts_with("held"));
    ASSERT_TRUE(dead.ask("lock read:rw").starts_with("held"));
    ASSERT_TRUE(pawl.ask("lock read:rw").starts_with("held"));
    EXPECT_EQ(numbers(pawl.ask("see read:rw")).at(4), 3);
    dead.kill9();
    // While others read it is told from them by its own lease.
    EXPECT_TRUE(eventually([&] { return numbers(pawl.ask("see read:rw")).at(4) == 2; }));
    java.kill9();
    EXPECT_TRUE(eventually([&] { return numbers(pawl.ask("see read:rw")).at(4) == 1; }));
    ASSERT_TRUE(pawl.ask("unlock read:rw").starts_with("unlocked"));
    EXPECT_EQ(world.server().ask({"EXISTS", "rw"}).number(), 0);
}

// The holder enters twice | the other waits | it leaves once: no DEL, no message | the other goes
// on waiting | it leaves
void one_enters_twice(both& world, side& holder, side& waiter, const names& what) {
    // Pawl counts in the process, and has one entry in the server.
    const auto entries = holder.name() == "Java" ? 2U : 1U;
    for (int i = 0; i < 2; ++i)
        ASSERT_TRUE(holder.ask("lock " + what.held).starts_with("held"));
    EXPECT_EQ(world.eyes().inspect(what.key).held_by->count, entries);
    waiter.tell("lock " + what.wanted);
    ASSERT_TRUE(world.has_waiters(what.key, 1));
    ASSERT_TRUE(holder.ask("unlock " + what.held).starts_with("unlocked"));
    EXPECT_EQ(world.eyes().inspect(what.key).held_by->count, 1U);
    EXPECT_TRUE(waiter.silent(2s)) << "it came in although the holder had left only once";
    ASSERT_TRUE(holder.ask("unlock " + what.held).starts_with("unlocked"));
    EXPECT_TRUE(waiter.answer().starts_with("held"));
    EXPECT_TRUE(waiter.ask("unlock " + what.wanted).starts_with("unlocked"));
}

TEST(Holders, EnterTwiceWhileTheOtherSideWaits) {
    both world;
    side java = world.java(), pawl = world.pawl();
    for (const auto& each : reentrant) {
        SCOPED_TRACE(each.held);
        one_enters_twice(world, java, pawl, each);
        one_enters_twice(world, pawl, java, each);
    }
}

//   P writes | J1 waits to read, J2 to write | P downgrades: HDEL, mode=read, PUBLISH 1 | J1 reads
//   beside P | J2 goes on waiting | both leave | J2 writes
TEST(Holders, AWriterOfPawlsGoesOnAsAReader) {
    both world;
    side pawl = world.pawl(), reader = world.java(), writer = world.java();
    ASSERT_TRUE(pawl.ask("downgrade write:rw").starts_with("held"));
    ASSERT_TRUE(reader.ask("lock read:rw").starts_with("held"));
    writer.tell("lock write:rw");
    ASSERT_TRUE(world.has_waiters("rw", 1));
    EXPECT_EQ(pawl.ask("end write:rw"), "released");
    EXPECT_TRUE(writer.silent(1s)) << "a writer came in beside a reader";
    ASSERT_TRUE(reader.ask("unlock read:rw").starts_with("unlocked"));
    EXPECT_TRUE(writer.answer().starts_with("held"));
}

//   J writes, reads too, stops writing: mode=read | P, who waits to read, is let in by its look
TEST(Holders, AWriterOfJavasGoesOnAsAReader) {
    both world;
    side java = world.java(), pawl = world.pawl();
    ASSERT_TRUE(java.ask("lock write:rw").starts_with("held"));
    ASSERT_TRUE(java.ask("lock read:rw").starts_with("held"));
    pawl.tell("lock read:rw");
    ASSERT_TRUE(world.has_waiters("rw", 1));
    ASSERT_TRUE(java.ask("unlock write:rw").starts_with("unlocked"));
    EXPECT_TRUE(pawl.answer(grace).starts_with("held"));
    EXPECT_EQ(numbers(pawl.ask("see read:rw")).at(4), 2);
}

// availablePermits and getPermits beside `inspect`, whoever holds them.
TEST(Holders, BothSidesCountTheSamePermits) {
    both world;
    side java = world.java(), pawl = world.pawl();
    const auto agree = [&](std::int64_t free) {
        for (auto* one : {&java, &pawl}) {
            const auto seen = numbers(one->ask("see permits"));
            EXPECT_EQ(seen.at(1), free) << one->name();
            EXPECT_EQ(seen.at(2), permits) << one->name();
        }
    };
    ASSERT_TRUE(java.ask("lock permits 1").starts_with("held"));
    agree(2);
    ASSERT_TRUE(pawl.ask("lock permits 2").starts_with("held"));
    agree(0);
    ASSERT_TRUE(java.ask("unlock permits").starts_with("unlocked"));
    agree(1);
    EXPECT_EQ(pawl.ask("force permits"), "forced true");
    agree(3);
    ASSERT_TRUE(pawl.ask("lock semaphore 2").starts_with("held"));
    for (auto* one : {&java, &pawl})
        EXPECT_EQ(numbers(one->ask("see semaphore")).at(1), 1) << one->name();
}

// isLocked, remainTimeToLive and getHoldCount beside `inspect`, whoever holds it.
void both_sides_see_the_same(const std::string& name) {
    both world;
    side java = world.java(), pawl = world.pawl();
    const auto agree = [&](std::int64_t held, std::int64_t count_in_java, std::int64_t count) {
        const auto theirs = numbers(java.ask("see " + name)),
                   ours = numbers(pawl.ask("see " + name));
        EXPECT_EQ(theirs.at(1), held);
        EXPECT_EQ(ours.at(1), held);
        // Asked after theirs: no more is left, and not much less.
        EXPECT_LE(ours.at(2), theirs.at(2));
        EXPECT_GE(ours.at(2), theirs.at(2) - 5000);
        // Java counts its own thread's only.
        EXPECT_EQ(theirs.at(3), count_in_java);
        EXPECT_EQ(ours.at(3), count);
    };
    agree(0, 0, 0);
    for (const std::int64_t count : {1, 2, 3}) {
        ASSERT_TRUE(java.ask("lock " + name).starts_with("held"));
        agree(1, count, count);
    }
    EXPECT_EQ(pawl.ask("try " + name), "busy");
    for (int i = 0; i < 3; ++i)
        ASSERT_TRUE(java.ask("unlock " + name).starts_with("unlocked"));
    agree(0, 0, 0);
    ASSERT_TRUE(pawl.ask("lock " + name).starts_with("held"));
    agree(1, 0, 1);
    EXPECT_EQ(java.ask("try " + name), "busy");
    EXPECT_TRUE(java.ask("unlock " + name).starts_with("failed")) << "Java released Pawl's lock";
    agree(1, 0, 1);
}

TEST(Holders, BothSidesSeeTheSame) {
    for (const std::string name : {"it", "fair", "write:rw"})
        both_sides_see_the_same(name);
}

//   P holds | J forces: DEL, PUBLISH | J has it | P's next renewal is refused: lost, and stays so
TEST(Holders, AForcedReleaseIsALossOnBothSides) {
    both world;
    side java = world.java(ttl), pawl = world.pawl(ttl);
    ASSERT_TRUE(pawl.ask("lock it").starts_with("held"));
    EXPECT_EQ(java.ask("force it"), "forced true");
    ASSERT_TRUE(java.ask("lock it").starts_with("held"));
    EXPECT_TRUE(eventually([&] { return pawl.ask("lost it") == "yes"; }));
    ASSERT_TRUE(pawl.ask("unlock it").starts_with("unlocked"));
    EXPECT_EQ(pawl.ask("try it"), "busy") << "the loser's unlock freed Java's lock";
    EXPECT_EQ(pawl.ask("force it"), "forced true");
    EXPECT_EQ(pawl.ask("force it"), "forced false");
    ASSERT_TRUE(pawl.ask("lock it").starts_with("held"));
    EXPECT_TRUE(java.ask("unlock it").starts_with("failed")) << "Java released what it had lost";
    EXPECT_EQ(java.ask("try it"), "busy");
}

// Nothing but the counter is left in the server: no lock, no latch, no channel.
TEST(Holders, LeaveNothingButTheCounter) {
    both world;
    side java = world.java(), pawl = world.pawl();
    for (auto* one : {&java, &pawl}) {
        ASSERT_TRUE(one->ask("lock fenced").starts_with("held"));
        ASSERT_TRUE(one->ask("unlock fenced").starts_with("unlocked"));
    }
    const std::vector<std::string> counter{"redisson_lock_token:{fenced}"};
    EXPECT_TRUE(eventually([&] { return world.server().keys() == counter; }));
    EXPECT_EQ(world.server().ask({"GET", counter[0]}).text, "2");
}

}  // namespace
