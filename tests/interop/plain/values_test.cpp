// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A value that is chosen on one side and told to the other: the other side extends and ends the
// hold.
#include "libraries.hpp"
#include "library_fixture.hpp"

namespace {

using namespace plain;
using pawl::release_result;
using support::eventually;

using Values = library_fixture;
INSTANTIATE_TEST_SUITE_P(Plain, Values, testing::ValuesIn(libraries_with_values()),
                         [](const auto& parameter) { return parameter.param.name; });

TEST_P(Values, ChosenByUsAreExtendedAndReleasedByAPeer) {
    auto locks = own_client();
    auto other = other_library();
    auto lock = locks.acquire_as("it", "ticket-1", {.ttl = long_ttl, .wait = patience});
    EXPECT_EQ(value_of("it"), "ticket-1");
    EXPECT_EQ(other.execute("take_as it 60000 ticket-2"), "busy");
    EXPECT_EQ(other.execute("adopt it 60000 ticket-2"), "busy");
    ASSERT_EQ(other.execute("adopt it" + an_hour + " ticket-1"), "got");
    EXPECT_GT(locks.inspect("it").held_by->remaining, 50min);
    EXPECT_EQ(other.execute("give"), "gave");
    EXPECT_EQ(value_of("it"), "");
    EXPECT_EQ(lock.release(), release_result::expired);
}

TEST_P(Values, ChosenByAPeerAreAdoptedAndReleasedByUs) {
    auto locks = own_client();
    auto other = other_library();
    ASSERT_EQ(other.execute("take_as it 20000 ticket-1"), "got");
    EXPECT_EQ(value_of("it"), "ticket-1");
    EXPECT_FALSE(locks.adopt("it", "ticket-2", {.ttl = long_ttl}).owns_lock());
    auto lock = locks.adopt("it", "ticket-1", {.ttl = long_ttl});
    ASSERT_TRUE(lock);
    EXPECT_TRUE(lock.token());
    EXPECT_GT(locks.inspect("it").held_by->remaining, 50s);
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_EQ(value_of("it"), "");
    EXPECT_EQ(other.execute("give"), "lost");
}

// The process that acquired it is killed; the adopted hold is renewed for as long as wanted.
TEST_P(Values, OfAKilledPeerAreKeptAlive) {
    auto locks = own_client();
    auto other = other_library(), third = other_library();
    ASSERT_EQ(other.execute("take_as it 20000 ticket-1"), "got");
    auto lock = locks.adopt("it", "ticket-1", {.ttl = 1s});
    other.kill9();
    const auto after_several_ttls = pawl::boot_clock::now() + 3s;
    EXPECT_TRUE(eventually([&] { return lock.safe_until() > after_several_ttls; }, patience));
    EXPECT_EQ(third.execute("take it 1000"), "busy");
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_EQ(third.execute("take it 1000"), "got");
}

}  // namespace
