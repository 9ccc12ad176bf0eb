// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Holders, non-holders, and the lock of a holder that dies.
#include "libraries.hpp"
#include "library_fixture.hpp"

namespace {

using namespace plain;
using pawl::boot_clock;
using pawl::release_result;

using Holders = library_fixture;
INSTANTIATE_TEST_SUITE_P(Plain, Holders, testing::ValuesIn(libraries()),
                         [](const auto& parameter) { return parameter.param.name; });

TEST_P(Holders, ExcludeEachOther) {
    auto locks = own_client();
    auto other = other_library();
    ASSERT_EQ(other.execute("take it" + an_hour), "got");
    EXPECT_FALSE(locks.try_acquire("it", {.ttl = long_ttl}).owns_lock());
    ASSERT_EQ(other.execute("give"), "gave");
    auto lock = locks.try_acquire("it", {.ttl = long_ttl});
    ASSERT_TRUE(lock);
    EXPECT_EQ(other.execute("take it" + an_hour), "busy");
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_EQ(other.execute("take it" + an_hour), "got");
}

// The peer's lease has expired and Pawl holds the lock: the peer's release must not end Pawl's
// hold.
TEST_P(Holders, APeerCannotEndOurHold) {
    auto locks = own_client();
    auto other = other_library();
    ASSERT_EQ(other.execute("take it 1000"), "got");
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    const auto value = value_of("it");
    EXPECT_EQ(other.execute("give"), "lost");
    EXPECT_EQ(value_of("it"), value);
    EXPECT_EQ(lock.release(), release_result::released);
}

// Pawl's lock was deleted by hand and acquired by the peer: Pawl's release must not end the peer's
// hold.
TEST_P(Holders, WeCannotEndAPeersHold) {
    auto locks = own_client();
    auto other = other_library();
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    (void)server.execute({"DEL", key_of("it")});
    ASSERT_EQ(other.execute("take it" + an_hour), "got");
    const auto value = value_of("it");
    EXPECT_EQ(lock.release(), release_result::taken_over);
    EXPECT_EQ(value_of("it"), value);
    EXPECT_EQ(other.execute("give"), "gave");
}

TEST_P(Holders, AKilledPeersLockIsOursAfterItsTtl) {
    auto locks = own_client();
    auto other = other_library();
    const auto before = boot_clock::now();
    ASSERT_EQ(other.execute("take it 2000"), "got");
    other.kill9();
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    EXPECT_GE(boot_clock::now() - before, 2s);
    EXPECT_EQ(lock.release(), release_result::released);
}

TEST_P(Holders, OurKilledProcessLocksNobodyOutForLonger) {
    auto dying = own_process();
    auto other = other_library();
    ASSERT_EQ(dying.execute("take it 2000"), "got");
    dying.kill9();
    EXPECT_EQ(other.execute("take it 5000"), "busy");
    while (other.execute("wait it 5000 5000") != "got")
        ASSERT_EQ(server.execute({"EXISTS", key_of("it")}).number(), 1);
    EXPECT_EQ(other.execute("give"), "gave");
}

// A peer that sleeps until its own kind signals finds our release when its ttl is over.
TEST_P(Holders, OurReleaseIsSeenByAPeerThatWaits) {
    auto locks = own_client();
    auto other = other_library();
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    other.send("wait it 3000 20000");
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_EQ(other.read_reply(), "got");
    EXPECT_EQ(other.execute("give"), "gave");
}

}  // namespace
