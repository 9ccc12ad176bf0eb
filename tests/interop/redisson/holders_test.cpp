// One holder, of either kind, and what the other side sees of it.
#include "both.hpp"

#include <support/eventually.hpp>

#include <gtest/gtest.h>

namespace {

using namespace interop;
using support::eventually;

constexpr auto ttl = 3000ms;
constexpr auto grace = 3s;  // a look of Pawl's, a message that never came

//   J holds, its watchdog renews | P waits | J: SIGKILL | the lease ends | P looks, has it
TEST(Holders, AKilledJavaHolderFreesItForPawl) {
    both world;
    side java = world.java(ttl), pawl = world.pawl(ttl);
    ASSERT_TRUE(java.ask("lock it").starts_with("held"));
    pawl.tell("lock it");
    ASSERT_TRUE(world.has_waiters("it", 1));
    EXPECT_TRUE(pawl.silent(2 * ttl)) << "the Java holder was alive and renewed";
    java.kill9();
    EXPECT_TRUE(pawl.answer(ttl + grace).starts_with("held"));
}

//   P holds, renews | J waits | P: SIGKILL | the lease ends | J's wait for PTTL ends, has it
TEST(Holders, AKilledPawlHolderFreesItForJava) {
    both world;
    side java = world.java(ttl), pawl = world.pawl(ttl);
    ASSERT_TRUE(pawl.ask("lock it").starts_with("held"));
    java.tell("lock it");
    ASSERT_TRUE(world.has_waiters("it", 1));
    EXPECT_TRUE(java.silent(2 * ttl)) << "the Pawl holder was alive and renewed";
    pawl.kill9();
    EXPECT_TRUE(java.answer(ttl + grace).starts_with("held"));
}

//   J enters twice | P waits | J leaves once: no DEL, no message | P goes on waiting | J leaves
TEST(Holders, JavaEntersTwiceWhilePawlWaits) {
    both world;
    side java = world.java(), pawl = world.pawl();
    for (const std::string name : {"rlock", "fenced"}) {
        ASSERT_TRUE(java.ask("lock " + name).starts_with("held"));
        ASSERT_TRUE(java.ask("lock " + name).starts_with("held"));
        EXPECT_EQ(world.eyes().inspect(name).held_by->count, 2U);
        pawl.tell("lock " + name);
        ASSERT_TRUE(world.has_waiters(name, 1));
        ASSERT_TRUE(java.ask("unlock " + name).starts_with("unlocked"));
        EXPECT_EQ(world.eyes().inspect(name).held_by->count, 1U);
        EXPECT_TRUE(pawl.silent(2s)) << "Pawl came in although Java had left only once";
        ASSERT_TRUE(java.ask("unlock " + name).starts_with("unlocked"));
        EXPECT_TRUE(pawl.answer().starts_with("held"));
        EXPECT_TRUE(pawl.ask("unlock " + name).starts_with("unlocked"));
    }
}

//   P's recursive_mutex is locked twice | J waits | the inner unlock sends nothing | the outer does
TEST(Holders, PawlEntersTwiceWhileJavaWaits) {
    both world;
    side java = world.java(), pawl = world.pawl();
    for (const std::string name : {"rlock", "fenced"}) {
        ASSERT_TRUE(pawl.ask("lock " + name).starts_with("held"));
        ASSERT_TRUE(pawl.ask("lock " + name).starts_with("held"));
        java.tell("lock " + name);
        ASSERT_TRUE(world.has_waiters(name, 1));
        ASSERT_TRUE(pawl.ask("unlock " + name).starts_with("unlocked"));
        EXPECT_TRUE(java.silent(2s)) << "Java came in although Pawl had left only once";
        ASSERT_TRUE(pawl.ask("unlock " + name).starts_with("unlocked"));
        EXPECT_TRUE(java.answer().starts_with("held"));
        EXPECT_TRUE(java.ask("unlock " + name).starts_with("unlocked"));
    }
}

// isLocked, remainTimeToLive and getHoldCount beside `inspect`, whoever holds it.
TEST(Holders, BothSidesSeeTheSame) {
    both world;
    side java = world.java(), pawl = world.pawl();
    const auto agree = [&](std::int64_t held, std::int64_t count_in_java, std::int64_t count) {
        const auto theirs = numbers(java.ask("see it")), ours = numbers(pawl.ask("see it"));
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
        ASSERT_TRUE(java.ask("lock it").starts_with("held"));
        agree(1, count, count);
    }
    EXPECT_EQ(pawl.ask("try it"), "busy");
    for (int i = 0; i < 3; ++i)
        ASSERT_TRUE(java.ask("unlock it").starts_with("unlocked"));
    agree(0, 0, 0);
    ASSERT_TRUE(pawl.ask("lock it").starts_with("held"));
    agree(1, 0, 1);
    EXPECT_EQ(java.ask("try it"), "busy");
    EXPECT_TRUE(java.ask("unlock it").starts_with("failed")) << "Java released Pawl's lock";
    agree(1, 0, 1);
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
