// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Which call of an order comes next, after answers, faults and deaths.
#include "call_queue.hpp"

#include <gtest/gtest.h>

namespace real::orders {
namespace {

using namespace std::chrono_literals;

// Every second order of such a plan has a fault; with the seed 0, order 0 is the first.
class OrderCalls : public testing::Test {
protected:
    order_call next() {
        auto call = calls.next(now);
        EXPECT_TRUE(call);
        return call.value_or(order_call{});
    }
    void expect_no_call() { EXPECT_FALSE(calls.next(now)); }
    void end(const order_call& call) { calls.on_answer(call, true, true, now); }
    void fail(const order_call& call) { calls.on_answer(call, false, false, now); }

    const call_queue::clock::time_point now = call_queue::clock::now();
    const fault_plan plan{story::creation, 1, 0};
    call_queue calls{1, plan};
};

TEST_F(OrderCalls, ComeWithTheFaultOfTheFirstOne) {
    const auto first = next();
    EXPECT_TRUE(first.fault);
    expect_no_call();
    calls.on_hit(first);
    const auto second = next(), third = next();
    EXPECT_FALSE(second.fault || third.fault);
    expect_no_call();
    end(second);
    EXPECT_TRUE(calls.is_told(0));
    EXPECT_FALSE(calls.is_over());
    end(third);
    EXPECT_TRUE(calls.is_last_call(0));
    end(first);
    EXPECT_TRUE(calls.is_over());
    EXPECT_EQ(calls.told(), 1U);
}

TEST_F(OrderCalls, OfADeadWorkerAreDeliveredAgainWithTheFaultThatItDidNotMeet) {
    const auto first = next();
    calls.on_death(first);
    const auto again = next();
    EXPECT_TRUE(again.fault);
    calls.on_hit(again);
    calls.on_death(again);
    for (int i = 0; i < 3; ++i) {
        const auto call = next();
        EXPECT_FALSE(call.fault);
        end(call);
    }
    EXPECT_TRUE(calls.is_over());
}

TEST_F(OrderCalls, AreRepeatedAfterAPauseUntilSomeCallerKnows) {
    const auto first = next();
    calls.on_hit(first);
    const auto second = next(), third = next();
    fail(first);
    const auto again = next();  // the first repetition is at once
    fail(again);
    expect_no_call();
    const auto later = calls.next(now + 1s);
    ASSERT_TRUE(later);
    end(second);
    end(third);
    fail(*later);
    EXPECT_TRUE(calls.is_over()) << "the order is done";
}

TEST_F(OrderCalls, EndWhenNobodyIsToCallAgain) {
    auto first = next();
    first.fault->index = fault_cases.size() - 1;
    ASSERT_TRUE(first.fault->kind().is_abandoned);
    calls.on_hit(first);
    calls.on_death(first);
    EXPECT_TRUE(calls.is_over());
    EXPECT_EQ(calls.told(), 0U);
}

TEST_F(OrderCalls, OfTheOthersComeIfTheFirstMeetsNoFault) {
    end(next());
    EXPECT_FALSE(calls.is_over());
    end(next());
    end(next());
    EXPECT_TRUE(calls.is_over());
}

}  // namespace
}  // namespace real::orders
