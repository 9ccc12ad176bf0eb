// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The steps of `once` in transactions that the program begins and commits itself.
#include "once_fixture.hpp"

#include <pawl/guard/transaction.hpp>

namespace guard_tests {
namespace {

using namespace std::string_literals;

class OnceOwnTransaction : public once_test {
protected:
    // The effect of a claim, and its end as the last statement. False: it was rolled back.
    bool write_and_finish(const guard::attempt& claimed) {
        guard::transaction effect(first->view());
        first->view().execute({"INSERT INTO effects(id) VALUES(1)"});
        if (!first->finish(claimed, "made"s, {})) return false;
        effect.commit();
        return true;
    }
};

TEST_P(OnceOwnTransaction, CommitsTheEffectWithItsRecord) {
    const auto claimed = first->claim("order/7", {});
    ASSERT_TRUE(claimed);
    EXPECT_TRUE(write_and_finish(*claimed.attempt));
    const auto again = other->once("order/7", {}, writes(*other, "again"));
    EXPECT_EQ(again.state, once_state::replayed);
    EXPECT_EQ(again.value, "made");
    EXPECT_EQ(effects(), 1);
}

// Interleaving: the claim's lease ends, another caller takes over and commits; then the first one
// writes, and finds at its end that it must roll back.
TEST_P(OnceOwnTransaction, RollsBackALateEffect) {
    const auto late = first->claim("order/7", {});
    ASSERT_TRUE(late);
    end_leases();
    EXPECT_EQ(other->once("order/7", {.wait = 0s}, writes(*other, "other")).state,
              once_state::done);
    EXPECT_FALSE(write_and_finish(*late.attempt));
    EXPECT_EQ(effects(), 1);
}

TEST_P(OnceOwnTransaction, GivesUpIfTheEndAsksForALaterTry) {
    const auto claimed = first->claim("order/7", {});
    ASSERT_TRUE(claimed);
    EXPECT_TRUE(first->finish(*claimed.attempt, guard::retry_after{1h}, {}));
    const auto early = other->claim("order/7", {.wait = 0s});
    EXPECT_FALSE(early);
    EXPECT_GT(early.known.retry_in, 30min);
    EXPECT_TRUE(first->give_up(*claimed.attempt)) << "without a pause";
    const auto next = other->claim("order/7", {.wait = 0s});
    ASSERT_TRUE(next);
    EXPECT_EQ(next.attempt->number(), 2U);
    EXPECT_FALSE(next.attempt->lost().stop_possible()) << "there is no lock";
}

EVERY_DATABASE_AND_API(OnceOwnTransaction);

}  // namespace
}  // namespace guard_tests
