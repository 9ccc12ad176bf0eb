// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The steps of one claim that waits at a store, without a store.
#include "core/store/waiting_attempt.hpp"

#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;
using pawl::time_point;
using pawl::core::attempt_result;
using pawl::core::waiting_attempt;
using step = waiting_attempt::step;

class WaitingAttempt : public testing::Test {
protected:
    static constexpr time_point now{1h};
    static constexpr time_point give_up_at = now + 10s;

    static attempt_result granted() { return {attempt_result::kind::granted, now + 30s}; }
    static attempt_result queued(bool is_first) {
        return {attempt_result::kind::waiting, now + 5s, {}, false, is_first};
    }

    waiting_attempt attempt{give_up_at};
};

TEST_F(WaitingAttempt, ARequestIsGrantedAtOnce) {
    EXPECT_EQ(attempt.next(now), step::request);
    attempt.on_result(granted());
    EXPECT_EQ(attempt.next(now), step::end);
    ASSERT_NE(attempt.granted(), nullptr);
    EXPECT_EQ(attempt.granted()->expires, now + 30s);
    EXPECT_FALSE(attempt.was_queued());
}

// Also if the time is over: the first request is always made.
TEST_F(WaitingAttempt, ARequestWithoutAWaitEndsWithoutAPlace) {
    EXPECT_EQ(attempt.next(give_up_at), step::request);
    attempt.on_result({});
    EXPECT_EQ(attempt.next(now), step::end);
    EXPECT_EQ(attempt.granted(), nullptr);
}

TEST_F(WaitingAttempt, OnlyTheFirstWaiterWaitsForTheEndOfALease) {
    attempt.on_result(queued(false));
    EXPECT_EQ(attempt.next(now), step::wait);
    EXPECT_EQ(attempt.wakes_at(), give_up_at);
    EXPECT_EQ(attempt.wakes_at(now + 1s), now + 1s);
    attempt.on_result(queued(true));
    EXPECT_EQ(attempt.wakes_at(), now + 5s);
    EXPECT_EQ(attempt.wakes_at(now + 1s), now + 1s);
}

TEST_F(WaitingAttempt, AWaiterRefreshesAfterEachWait) {
    attempt.on_result(queued(false));
    attempt.on_wakeup();
    EXPECT_EQ(attempt.next(now), step::refresh);
    attempt.on_result(queued(true));
    EXPECT_EQ(attempt.next(now), step::wait);
    attempt.on_wakeup();
    attempt.on_result(granted());
    EXPECT_EQ(attempt.next(now), step::end);
    EXPECT_TRUE(attempt.was_queued());
}

TEST_F(WaitingAttempt, ANotificationWithTheGrantNeedsNoRefresh) {
    attempt.on_result(queued(false));
    attempt.on_result(granted());
    EXPECT_EQ(attempt.next(now), step::end);
    EXPECT_NE(attempt.granted(), nullptr);
}

// The wait may end at the very time of the grant.
TEST_F(WaitingAttempt, AWaiterWhoseTimeIsOverRefreshesOnceMoreAndLeaves) {
    attempt.on_result(queued(true));
    attempt.on_wakeup();
    EXPECT_EQ(attempt.next(give_up_at), step::refresh);
    attempt.on_result(queued(true));
    EXPECT_EQ(attempt.next(give_up_at), step::leave);
    attempt.on_result({});
    EXPECT_EQ(attempt.next(give_up_at), step::end);
    EXPECT_EQ(attempt.granted(), nullptr);
}

TEST_F(WaitingAttempt, AGrantThatCameWhileItLeftIsKept) {
    attempt.on_result(queued(true));
    EXPECT_EQ(attempt.next(give_up_at), step::leave);
    EXPECT_FALSE(attempt.is_cancelled());
    attempt.on_result(granted());
    EXPECT_EQ(attempt.next(give_up_at), step::end);
    EXPECT_NE(attempt.granted(), nullptr);
}

TEST_F(WaitingAttempt, ACancelledAttemptRequestsNothingOrLeaves) {
    auto before = attempt;
    before.cancel();
    EXPECT_EQ(before.next(now), step::end);
    for (const bool is_awake : {false, true}) {
        waiting_attempt waiting(give_up_at);
        waiting.on_result(queued(false));
        if (is_awake) waiting.on_wakeup();
        waiting.cancel();
        EXPECT_EQ(waiting.next(now), step::leave);
        waiting.on_result({});
        EXPECT_EQ(waiting.next(now), step::end);
    }
}

// The caller was cancelled during the request that got the lock.
TEST_F(WaitingAttempt, TheGrantOfACancelledAttemptIsPassedOn) {
    attempt.on_result(granted());
    attempt.cancel();
    EXPECT_EQ(attempt.next(now), step::leave);
    attempt.on_result({});
    EXPECT_EQ(attempt.next(now), step::end);
    EXPECT_EQ(attempt.granted(), nullptr);
}

TEST_F(WaitingAttempt, AFailedRequestEndsAndLeavesNothingToUndo) {
    for (const bool is_transient : {false, true}) {
        waiting_attempt requesting(give_up_at);
        EXPECT_FALSE(requesting.on_failure(is_transient));
        EXPECT_EQ(requesting.next(now), step::end);
    }
}

// Else a first waiter would refresh without a pause when the lease that it waits for has ended.
TEST_F(WaitingAttempt, ARefreshThatFailsForAMomentIsRepeatedAfterAPause) {
    attempt.on_result(queued(true));
    attempt.on_wakeup();
    EXPECT_FALSE(attempt.on_failure(true));
    EXPECT_EQ(attempt.next(now), step::wait);
    EXPECT_EQ(attempt.wakes_at(now + 6s), now + 6s);
}

TEST_F(WaitingAttempt, AWaiterThatFailsForGoodMustBeUndone) {
    attempt.on_result(queued(false));
    attempt.on_wakeup();
    EXPECT_TRUE(attempt.on_failure(false));
    EXPECT_EQ(attempt.next(now), step::end);
    EXPECT_EQ(attempt.granted(), nullptr);
}

}  // namespace
