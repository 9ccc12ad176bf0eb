// Who holds, who does not, and what happens to the lock of somebody who dies.
#include "libraries.hpp"
#include "scene.hpp"

namespace {

using namespace plain;
using pawl::boot_clock;
using pawl::release_result;

using Holders = scene;
INSTANTIATE_TEST_SUITE_P(Plain, Holders, testing::ValuesIn(libraries()),
                         [](const auto& what) { return what.param.name; });

TEST_P(Holders, ExcludeEachOther) {
    auto locks = ours();
    auto other = theirs();
    ASSERT_EQ(other.ask("take it" + an_hour), "got");
    EXPECT_FALSE(locks.try_acquire("it", {.ttl = long_ttl}).owns_lock());
    ASSERT_EQ(other.ask("give"), "gave");
    auto lock = locks.try_acquire("it", {.ttl = long_ttl});
    ASSERT_TRUE(lock);
    EXPECT_EQ(other.ask("take it" + an_hour), "busy");
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_EQ(other.ask("take it" + an_hour), "got");
}

// Its lease ran out and the lock is ours: its release must leave it alone.
TEST_P(Holders, APeerCannotEndOurHold) {
    auto locks = ours();
    auto other = theirs();
    ASSERT_EQ(other.ask("take it 1000"), "got");
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    const auto value = value_of("it");
    EXPECT_EQ(other.ask("give"), "lost");
    EXPECT_EQ(value_of("it"), value);
    EXPECT_EQ(lock.release(), release_result::released);
}

// Our lock was deleted by hand and taken by the peer: our release must leave it alone.
TEST_P(Holders, WeCannotEndAPeersHold) {
    auto locks = ours();
    auto other = theirs();
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    (void)server.ask({"DEL", key_of("it")});
    ASSERT_EQ(other.ask("take it" + an_hour), "got");
    const auto value = value_of("it");
    EXPECT_EQ(lock.release(), release_result::taken_over);
    EXPECT_EQ(value_of("it"), value);
    EXPECT_EQ(other.ask("give"), "gave");
}

TEST_P(Holders, AKilledPeersLockIsOursAfterItsTtl) {
    auto locks = ours();
    auto other = theirs();
    const auto before = boot_clock::now();
    ASSERT_EQ(other.ask("take it 2000"), "got");
    other.kill9();
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    EXPECT_GE(boot_clock::now() - before, 2s);
    EXPECT_EQ(lock.release(), release_result::released);
}

TEST_P(Holders, OurKilledProcessLocksNobodyOutForLonger) {
    auto dying = our_process();
    auto other = theirs();
    ASSERT_EQ(dying.ask("take it 2000"), "got");
    dying.kill9();
    EXPECT_EQ(other.ask("take it 5000"), "busy");
    while (other.ask("wait it 5000 5000") != "got")
        ASSERT_EQ(server.ask({"EXISTS", key_of("it")}).number(), 1);
    EXPECT_EQ(other.ask("give"), "gave");
}

// One that sleeps until its own kind signals finds our release when its ttl is over.
TEST_P(Holders, OurReleaseIsSeenByAPeerThatWaits) {
    auto locks = ours();
    auto other = theirs();
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    other.tell("wait it 3000 20000");
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_EQ(other.answer(), "got");
    EXPECT_EQ(other.ask("give"), "gave");
}

}  // namespace
