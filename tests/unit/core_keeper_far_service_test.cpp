// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A service whose answers take longer than a third of the ttl: renewals are sent at their rhythm
// although earlier ones have no answer yet.
#include "keeper_fixture.hpp"

#include <deque>

namespace pawl {
namespace {

using namespace std::chrono_literals;

class KeeperOfAFarService : public KeeperTest {
protected:
    KeeperOfAFarService() { backend_.most_unanswered = 4; }
    // From the present time on, each request is answered after `round_trip`.
    void run_with_round_trip(duration round_trip, duration how_long) {
        const auto end = time_.now() + how_long;
        for (std::size_t seen = request_count(); time_.now() < end; advance(100ms)) {
            for (; seen < request_count(); ++seen)
                answers_at_.push_back(time_.now() + round_trip);
            most_open_ = std::max(most_open_, backend_.open_requests());
            while (!answers_at_.empty() && answers_at_.front() <= time_.now()) {
                answers_at_.pop_front();
                answer_next(reply_kind::accepted);
            }
        }
    }

    std::deque<time_point> answers_at_;
    std::size_t most_open_ = 0;
};

//   renewal 1 at ttl/3 | renewal 2 at 2/3 of the ttl, while 1 has no answer | the answer to 1 comes
//   just before the deadline, and extends it to a ttl after the sending of 1 | the answer to 2
//   extends it further
TEST_F(KeeperOfAFarService, AnAnswerCountsFromItsOwnRequest) {
    const auto begin = time_.now();
    advance(ttl / 3);
    ASSERT_EQ(backend_.open_requests(), 1U);
    advance(ttl / 3);
    ASSERT_EQ(backend_.open_requests(), 2U);
    EXPECT_EQ(lease_->state(), lock_state::at_risk);
    advance(ttl / 4);
    answer_next(reply_kind::accepted);
    EXPECT_EQ(lease_->deadline(), begin + ttl / 3 + ttl - drift(ttl));
    answer_next(reply_kind::accepted);
    EXPECT_EQ(lease_->deadline(), begin + 2 * (ttl / 3) + ttl - drift(ttl));
    EXPECT_EQ(lease_->state(), lock_state::held);
}

// The round trip rises to 0.64 of the ttl while the lock is held. Two renewals are under way at a
// time, and none is sent beside the rhythm.
TEST_F(KeeperOfAFarService, AHoldSurvivesRoundTripsOfNearlyTwoThirdsOfTheTtl) {
    run_with_round_trip(0ms, ttl / 2);
    const auto before = request_count();
    run_with_round_trip(ttl * 64 / 100, 10 * ttl);
    EXPECT_NE(lease_->state(), lock_state::lost);
    EXPECT_EQ(losses_, 0);
    EXPECT_EQ(most_open_, 2U);
    EXPECT_LE(request_count() - before, 30U);
    EXPECT_GE(request_count() - before, 29U);
}

// With the bound of a service that answers at once (SQLite, memory), nothing has changed.
TEST_F(KeeperOfAFarService, WithABoundOfOneTheNextRenewalWaitsForTheAnswer) {
    backend_.most_unanswered = 1;
    advance(ttl / 3);
    ASSERT_EQ(backend_.open_requests(), 1U);
    advance(ttl / 3);
    EXPECT_EQ(backend_.open_requests(), 1U);
    answer_next(reply_kind::accepted);
    EXPECT_EQ(backend_.open_requests(), 1U) << "the next one is due now";
}

//   renewals 1 and 2 are under way | 2 is answered first, over another connection | the answer to 1
//   must not shorten the lease
TEST_F(KeeperOfAFarService, TheAnswerToAnOlderRenewalShortensNothing) {
    advance(ttl / 3);
    advance(ttl / 3);
    const auto sent_at = time_.now();
    advance(1s);
    settle_in(1, 0, reply_kind::accepted);
    ASSERT_EQ(lease_->deadline(), sent_at + ttl - drift(ttl));
    advance(1s);
    settle_in(0, 0, reply_kind::accepted);
    EXPECT_EQ(lease_->deadline(), sent_at + ttl - drift(ttl));
    EXPECT_EQ(lease_->state(), lock_state::held);
    advance(sent_at + ttl / 3 - time_.now());
    EXPECT_EQ(request_count(), 3U) << "the rhythm goes on from the newest renewal";
}

//   renewals 1 and 2 are under way | the service refuses one of them, whatever it says to the other
TEST_F(KeeperOfAFarService, ARefusalOfAnyRoundIsALoss) {
    for (const std::size_t refused : {0U, 1U}) {
        const auto held_lease = keep_lease("refused " + std::to_string(refused));
        keeper_.drop(lease_);
        losses_ = 0;
        advance(ttl / 3);
        advance(ttl / 3);
        ASSERT_EQ(backend_.open_requests(), 2U);
        settle_in(1 - refused, 0, reply_kind::accepted);
        settle_in(refused, 0, reply_kind::refused);
        EXPECT_EQ(held_lease->why_lost(), loss_reason::taken_over);
        EXPECT_EQ(losses_, 1);
        while (backend_.has_requests())
            answer_next(reply_kind::no_reply);
        EXPECT_EQ(losses_, 1);
    }
}

//   renewals 1 and 2 are under way | the lock is released: no renewal is sent any more | a refusal
//   of 2, which came to the service after the release, is no loss
TEST_F(KeeperOfAFarService, NothingFollowsTheReleaseAndItsLateAnswersAreIgnored) {
    advance(ttl / 3);
    advance(ttl / 3);
    ASSERT_EQ(backend_.open_requests(), 2U);
    ASSERT_TRUE(keeper_.drop(lease_));
    ASSERT_TRUE(lease_->mark_released());
    const auto deadline = lease_->deadline();
    answer_next(reply_kind::accepted);
    answer_next(reply_kind::refused);
    EXPECT_EQ(lease_->state(), lock_state::released);
    EXPECT_EQ(lease_->deadline(), deadline);
    EXPECT_EQ(losses_, 0);
    advance(2 * ttl);
    EXPECT_EQ(request_count(), 2U);
}

//   the service is silent for longer than the lease | renewals are sent up to the bound | the hold
//   ends at its deadline | the service answers all of them: too late
TEST_F(KeeperOfAFarService, ASilenceThatIsLongerThanTheLeaseEndsTheHold) {
    for (const std::size_t bound : {1U, 2U, 4U}) {
        backend_.most_unanswered = bound;
        const auto held_lease = keep_lease("bound " + std::to_string(bound));
        keeper_.drop(lease_);
        losses_ = 0;
        for (int i = 0; i < 20; ++i)
            advance(ttl / 20);
        EXPECT_EQ(backend_.open_requests(), std::min<std::size_t>(bound, 2));
        EXPECT_EQ(held_lease->why_lost(), loss_reason::expired);
        while (backend_.has_requests())
            answer_next(reply_kind::accepted);
        EXPECT_EQ(held_lease->state(), lock_state::lost);
        EXPECT_EQ(losses_, 1);
    }
}

// However many renewals the caller requests: no more than the bound are under way, and each call is
// answered by a request that was sent after it.
TEST_F(KeeperOfAFarService, RenewalsOnDemandKeepTheBound) {
    std::vector<std::shared_ptr<async_result>> operations;
    for (int i = 0; i < 6; ++i)
        operations.push_back(renew());
    EXPECT_EQ(backend_.open_requests(), 4U);
    for (std::size_t i = 0; i < operations.size(); ++i) {
        EXPECT_FALSE(operations[i]->is_over);
        answer_next(reply_kind::accepted);
        EXPECT_TRUE(operations[i]->is_over);
        EXPECT_LE(backend_.open_requests(), 4U);
    }
    EXPECT_EQ(request_count(), 6U);
}

TEST_F(KeeperOfAFarService, ARenewalOnDemandDoesNotWaitForTheOneInFlight) {
    advance(ttl / 3);
    ASSERT_EQ(request_count(), 1U);
    const auto operation = renew();
    EXPECT_EQ(request_count(), 2U);
    answer_next(reply_kind::accepted);
    EXPECT_FALSE(operation->is_over) << "that one was sent before the call";
    answer_next(reply_kind::accepted);
    EXPECT_TRUE(operation->is_over);
}

//   renewals 1 and 2 are under way, and a downgrade is requested | it waits for both answers, since
//   a refusal that comes after the downgrade would look like a loss | no other renewal is sent
//   meanwhile, because the downgrade would wait for ever
TEST_F(KeeperOfAFarService, ADowngradeWaitsForAllRenewalsInFlightAndNoOtherBegins) {
    advance(ttl / 4);
    const auto demanded = renew();
    advance(ttl / 12);
    const auto another = renew();
    const auto operation = downgrade();
    advance(ttl / 3);
    EXPECT_EQ(backend_.operations, (std::vector<std::string>{"renew", "renew"}));
    const auto late = renew();
    answer_next(reply_kind::accepted);
    EXPECT_EQ(request_count(), 2U);
    answer_next(reply_kind::accepted);
    EXPECT_EQ(backend_.operations.back(), "downgrade");
    advance(ttl / 10);
    EXPECT_EQ(request_count(), 3U);
    answer_next(reply_kind::accepted);
    EXPECT_TRUE(operation->is_over);
    EXPECT_EQ(operation->failed, std::nullopt);
    EXPECT_EQ(lease_->granted_hold().claim.mode, lock_mode::shared);
    EXPECT_EQ(backend_.operations.back(), "renew") << "the caller's last one has waited";
    while (backend_.has_requests())
        answer_next(reply_kind::accepted);
    EXPECT_TRUE(late->is_over);
    EXPECT_EQ(losses_, 0);
}

TEST_F(KeeperOfAFarService, ADowngradeThatWaitsEndsWithTheRelease) {
    advance(ttl / 3);
    const auto operation = downgrade();
    ASSERT_TRUE(keeper_.drop(lease_));
    run_ready();
    EXPECT_EQ(operation->failed, errc::lost);
    answer_next(reply_kind::accepted);
    EXPECT_EQ(request_count(), 1U);
}

//   renewals 1 and 2 are under way | 1 fails: 2 may still be answered, so nothing is repeated | 2
//   fails, too, and is repeated after a pause
TEST_F(KeeperOfAFarService, OnlyTheNewestRenewalIsRepeated) {
    advance(ttl / 3);
    advance(ttl / 3);
    answer_next(reply_kind::no_reply);
    advance(ttl / 20);
    EXPECT_EQ(request_count(), 2U);
    answer_next(reply_kind::no_reply);
    EXPECT_EQ(request_count(), 2U) << "not a loop without pauses";
    advance(ttl / 20);
    ASSERT_EQ(request_count(), 3U);
    answer_next(reply_kind::accepted);
    EXPECT_EQ(lease_->state(), lock_state::held);
}

//   renewal 2 fails and is to be repeated after a pause | the answer to 1 comes: it neither puts
//   the repetition off nor takes its pause away
TEST_F(KeeperOfAFarService, TheAnswerToAnOlderRenewalLeavesTheRepetition) {
    advance(ttl / 3);
    advance(ttl / 3);
    settle_in(1, 0, reply_kind::no_reply);
    settle_in(0, 0, reply_kind::accepted);
    run_ready();
    EXPECT_EQ(request_count(), 2U);
    advance(ttl / 20);
    EXPECT_EQ(request_count(), 3U);
}

// A backend waits for an answer as long as it can count: until the deadline, or until the deadline
// that the renewals before it can make.
TEST_F(KeeperOfAFarService, ARenewalIsUsefulUntilTheDeadlineOfTheOnesBeforeIt) {
    const auto begin = time_.now();
    advance(ttl / 3);
    EXPECT_EQ(backend_.useful_until_of(0), lease_->deadline());
    advance(ttl / 3);
    EXPECT_EQ(backend_.useful_until_of(1), begin + ttl / 3 + ttl - drift(ttl));
    answer_next(reply_kind::no_reply);
    answer_next(reply_kind::no_reply);
    advance(ttl / 20);
    EXPECT_EQ(backend_.useful_until_of(0), lease_->deadline()) << "nothing else is under way";
}

// A service that may have lost holds is asked at once, since the answer to the renewal in flight
// proves nothing.
TEST_F(KeeperOfAFarService, ADoubtDoesNotWaitForTheRenewalInFlight) {
    advance(ttl / 3);
    keeper_.confirm_all();
    run_ready();
    ASSERT_EQ(request_count(), 2U);
    answer_next(reply_kind::accepted);
    EXPECT_EQ(losses_, 0);
    answer_next(reply_kind::refused);
    EXPECT_EQ(losses_, 1);
}

// The newest request is the doubt's, and has no answer | an older one is answered | the doubt is
// still repeated with its own short pauses.
TEST_F(KeeperOfAFarService, AnOlderAnswerDoesNotSettleADoubt) {
    advance(ttl / 3);
    keeper_.confirm_all();
    run_ready();
    settle_in(1, 0, reply_kind::no_reply);
    settle_in(0, 0, reply_kind::accepted);
    advance(250ms);
    EXPECT_EQ(request_count(), 3U);
}

}  // namespace
}  // namespace pawl
