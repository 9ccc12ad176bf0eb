// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A forced release that names the token of a holder takes the lock from no later holder.
#include "redis_fixture.hpp"

namespace {

using namespace chaos;
using pawl::lock_mode;
using pawl::lock_options;

class ForcedRelease : public testing::Test, protected redis_fixture {};

//   A: reads | the server restarts with its data: its run is another one
//   B: reads, and gets a token of its own | an operator, who has seen A's token, ends A's hold
TEST_F(ForcedRelease, OfAReaderEndsNoLaterReader) {
    constexpr lock_options reading{.ttl = 20s, .wait = patience, .mode = lock_mode::shared};
    client locks = direct_client(), others = direct_client(), operators = direct_client();
    auto first = locks.acquire("it", reading);
    // As the restart leaves it: the token of the present readers is of another run.
    (void)server.execute({"HSET", "pawl:{it}:d", "token", "1 another"});
    auto second = others.acquire("it", reading);
    ASSERT_GT(second.token(), first.token());
    EXPECT_FALSE(operators.force_release("it", pawl::fencing_token(first.token().value() - 1)));
    EXPECT_TRUE(operators.force_release("it", first.token()));
    ASSERT_TRUE(eventually([&] { return first.lost().stop_requested(); }));
    second.renew();
    EXPECT_EQ(second.state(), pawl::lock_state::held);
    EXPECT_FALSE(others.try_acquire("it", {.ttl = long_ttl}).owns_lock()) << "it is still read";
    EXPECT_EQ(second.release(), release_result::released);
    EXPECT_TRUE(others.try_acquire("it", {.ttl = long_ttl}).owns_lock());
}

TEST_F(ForcedRelease, OfTheLastReaderEndsAllOfThem) {
    constexpr lock_options reading{.ttl = 20s, .wait = patience, .mode = lock_mode::shared};
    client locks = direct_client(), others = direct_client();
    auto first = locks.acquire("it", reading);
    (void)server.execute({"HSET", "pawl:{it}:d", "token", "1 another"});
    auto second = others.acquire("it", reading);
    EXPECT_TRUE(others.force_release("it", second.token()));
    ASSERT_TRUE(eventually([&] { return first.lost().stop_requested(); }));
    ASSERT_TRUE(eventually([&] { return second.lost().stop_requested(); }));
    auto next = others.try_acquire("it", {.ttl = long_ttl});
    ASSERT_TRUE(next.owns_lock());
    EXPECT_GT(next.token(), second.token());
}

// Each holder of permits has a token of its own, and a waiter gets what the release frees.
TEST_F(ForcedRelease, OfAnEarlierPermitLeavesTheLaterOnes) {
    constexpr lock_options one_of_two{
        .ttl = 20s, .wait = patience, .mode = lock_mode::permits, .permits = 1, .total_permits = 2};
    client locks = direct_client(), others = direct_client();
    auto first = locks.acquire("it", one_of_two), second = locks.acquire("it", one_of_two);
    ASSERT_GT(second.token(), first.token());
    EXPECT_TRUE(others.force_release("it", first.token()));
    auto third = others.acquire("it", one_of_two);
    EXPECT_GT(third.token(), second.token());
    second.renew();
    EXPECT_EQ(second.release(), release_result::released);
}

}  // namespace
