// A value that is chosen on one side and told to the other: there the hold is extended and ended.
#include "libraries.hpp"
#include "scene.hpp"

namespace {

using namespace plain;
using pawl::release_result;
using support::eventually;

using Values = scene;
INSTANTIATE_TEST_SUITE_P(Plain, Values, testing::ValuesIn(those_with_values()),
                         [](const auto& what) { return what.param.name; });

TEST_P(Values, ChosenByUsAreExtendedAndReleasedByAPeer) {
    auto locks = ours();
    auto other = theirs();
    auto lock = locks.acquire_as("it", "ticket-1", {.ttl = long_ttl, .wait = patience});
    EXPECT_EQ(value_of("it"), "ticket-1");
    EXPECT_EQ(other.ask("take_as it 60000 ticket-2"), "busy");
    EXPECT_EQ(other.ask("adopt it 60000 ticket-2"), "busy");
    ASSERT_EQ(other.ask("adopt it" + an_hour + " ticket-1"), "got");
    EXPECT_GT(locks.inspect("it").held_by->remaining, 50min);
    EXPECT_EQ(other.ask("give"), "gave");
    EXPECT_EQ(value_of("it"), "");
    EXPECT_EQ(lock.release(), release_result::expired);
}

TEST_P(Values, ChosenByAPeerAreAdoptedAndReleasedByUs) {
    auto locks = ours();
    auto other = theirs();
    ASSERT_EQ(other.ask("take_as it 20000 ticket-1"), "got");
    EXPECT_EQ(value_of("it"), "ticket-1");
    EXPECT_FALSE(locks.adopt("it", "ticket-2", {.ttl = long_ttl}).owns_lock());
    auto lock = locks.adopt("it", "ticket-1", {.ttl = long_ttl});
    ASSERT_TRUE(lock);
    EXPECT_TRUE(lock.token());
    EXPECT_GT(locks.inspect("it").held_by->remaining, 50s);
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_EQ(value_of("it"), "");
    EXPECT_EQ(other.ask("give"), "lost");
}

// Its taker is killed; what we adopted is renewed for as long as we want it.
TEST_P(Values, OfAKilledPeerAreKeptAlive) {
    auto locks = ours();
    auto other = theirs(), third = theirs();
    ASSERT_EQ(other.ask("take_as it 20000 ticket-1"), "got");
    auto lock = locks.adopt("it", "ticket-1", {.ttl = 1s});
    other.kill9();
    const auto then = pawl::boot_clock::now() + 3s;
    EXPECT_TRUE(eventually([&] { return lock.safe_until() > then; }, patience));
    EXPECT_EQ(third.ask("take it 1000"), "busy");
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_EQ(third.ask("take it 1000"), "got");
}

}  // namespace
