// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Renewals and downgrades on demand.
#include "failing_memory.hpp"
#include "keeper_fixture.hpp"

namespace pawl {
namespace {

using namespace std::chrono_literals;

class KeeperOnDemand : public KeeperTest {};

TEST_F(KeeperOnDemand, RenewsAtOnceAndTheRhythmGoesOnFromThere) {
    advance(15s);
    EXPECT_EQ(request_count(), 0U);
    const auto operation = renew();
    EXPECT_EQ(request_count(), 1U);
    EXPECT_FALSE(operation->is_over);
    answer_next(reply_kind::accepted);
    EXPECT_TRUE(operation->is_over);
    EXPECT_EQ(operation->failed, std::nullopt);
    EXPECT_EQ(lease_->deadline(), time_.now() + ttl - drift(ttl));
    advance(ttl / 3 - ttl / 6 - 1s);
    EXPECT_EQ(request_count(), 1U) << "the renewal planned before is not sent";
    advance(ttl / 6 + 1s);
    EXPECT_EQ(request_count(), 2U);
}

// The keeper's own renewal may have been sent long before the caller's: only a request that is sent
// after the call proves that the hold lasts a ttl from the call.
TEST_F(KeeperOnDemand, RenewalInFlightIsNoAnswer) {
    advance(ttl / 3);
    ASSERT_EQ(request_count(), 1U);
    advance(5s);
    const auto operation = renew();
    EXPECT_EQ(request_count(), 1U) << "one request about a hold at a time";
    answer_next(reply_kind::accepted);
    EXPECT_EQ(request_count(), 2U);
    EXPECT_FALSE(operation->is_over);
    answer_next(reply_kind::accepted);
    EXPECT_TRUE(operation->is_over);
    EXPECT_EQ(lease_->deadline(), time_.now() + ttl - drift(ttl));
}

// In the same instant, so that the reply does not move the deadline: it is a success all the same.
TEST_F(KeeperOnDemand, SeveralWhoAskAreAllAnswered) {
    const auto first = renew(), second = renew(), third = renew();
    for (std::size_t sent = 1; sent <= 3; ++sent) {
        EXPECT_EQ(request_count(), sent);
        answer_next(reply_kind::accepted);
    }
    EXPECT_TRUE(first->is_over && second->is_over && third->is_over);
}

// Whatever ends a request: the lease does not wait for its reply for ever.
TEST_F(KeeperOnDemand, ARenewalThatFailsFromWithinIsAskedAgain) {
    advance(ttl / 3);
    ASSERT_EQ(request_count(), 1U);
    answer_next(reply_kind::no_memory);
    EXPECT_EQ(request_count(), 1U) << "not a loop without pauses";
    advance(ttl / 20);
    ASSERT_EQ(request_count(), 2U);
    answer_next(reply_kind::accepted);
    EXPECT_EQ(lease_->deadline(), time_.now() + ttl - drift(ttl));
    EXPECT_EQ(losses_, 0);
}

TEST_F(KeeperOnDemand, ADowngradeThatFailsFromWithinIsSaidAndTheHoldIsRenewed) {
    const auto operation = downgrade();
    ASSERT_EQ(request_count(), 1U);
    answer_next(reply_kind::no_memory);
    EXPECT_EQ(operation->failed, errc::exhausted);
    advance(ttl / 20);
    ASSERT_EQ(request_count(), 2U);
    answer_next(reply_kind::accepted);
    EXPECT_EQ(lease_->state(), lock_state::held);
}

TEST_F(KeeperOnDemand, ARenewalWithoutAnAnswerIsAskedAgainAfterAPause) {
    const auto operation = renew();
    answer_next(reply_kind::no_reply);
    EXPECT_EQ(request_count(), 1U) << "not a loop without pauses";
    advance(ttl / 20);
    EXPECT_GE(request_count(), 2U);
    EXPECT_FALSE(operation->is_over);
    answer_next(reply_kind::accepted);
    if (!operation->is_over) answer_next(reply_kind::accepted);  // the keeper's own was first
    EXPECT_TRUE(operation->is_over);
    EXPECT_EQ(operation->failed, std::nullopt);
    EXPECT_EQ(losses_, 0);
}

// A lock that was handed over is ours for a window that is shorter than a twentieth of the ttl. One
// lost reply, or a server that is busy for a moment, must not cost it.
TEST_F(KeeperOnDemand, AHandOffIsConfirmedAgainWithinItsWindow) {
    constexpr auto window = 1200ms;
    const claim requested{.name = "passed on", .owner = "successor", .ttl = ttl};
    core::lease_keeper::reservation reservation(
        keeper_, std::make_shared<core::lease>(nullptr, time_, requested, forever));
    auto granted = reservation.keep({.deadline = time_.now() + window,
                                     .stored_value = "window's value",
                                     .needs_renewal = true});
    const auto passed = std::exchange(granted.held_lease, nullptr);
    std::size_t repetitions = 0;
    for (auto remaining = window; remaining > 100ms; remaining -= 10ms) {
        advance(10ms);
        if (!backend_.has_requests()) continue;
        ++repetitions;
        answer_next(reply_kind::no_reply);
    }
    EXPECT_GE(repetitions, 5U);
    EXPECT_LE(repetitions, 15U);
    ASSERT_EQ(passed->state(), lock_state::at_risk);
    for (int i = 0; i < 6 && !backend_.has_requests(); ++i)
        advance(10ms);
    ASSERT_TRUE(backend_.has_requests()) << "no renewal in the last moments of the window";
    answer_next(reply_kind::accepted);
    EXPECT_EQ(passed->deadline(), time_.now() + ttl - drift(ttl));
    EXPECT_EQ(losses_, 0);
    // From now on it is a lease like any other.
    const auto before = request_count();
    advance(ttl / 3);
    ASSERT_GT(request_count(), before);
    while (backend_.has_requests())
        answer_next(reply_kind::no_reply);
    const auto questions_before = request_count();
    advance(ttl / 40);
    EXPECT_EQ(request_count(), questions_before);
    keeper_.drop(passed);
}

//   1. The service grants the lock. 2. It is released by force: the report reaches the client. 3.
//   The grant reaches the keeper: the hold is lost already.
TEST_F(KeeperOnDemand, ALossThatOvertakesItsGrantIsReported) {
    const claim requested{.name = "forced", .owner = "forced owner", .ttl = ttl};
    core::lease_keeper::reservation reservation(
        keeper_, std::make_shared<core::lease>(nullptr, time_, requested, forever));
    keeper_.handle_pushed_loss("forced owner", loss_reason::forced);
    EXPECT_EQ(losses_, 0);
    auto granted = reservation.keep(
        {.deadline = time_.now() + ttl - drift(ttl), .stored_value = "forced value"});
    const auto forced = std::exchange(granted.held_lease, nullptr);
    run_ready();
    EXPECT_EQ(losses_, 1);
    EXPECT_EQ(forced->state(), lock_state::lost);
    EXPECT_EQ(forced->why_lost(), loss_reason::forced);
    EXPECT_EQ(request_count(), 0U);
}

//   1. The first attempt finds the lock taken, so the core repeats it under another owner. 2. The
//   service grants that attempt. 3. The lock is released by force: the report reaches the client
//   before the grant. 4. The grant reaches the keeper: the hold is lost already.
TEST_F(KeeperOnDemand, ALossThatOvertakesTheGrantOfALaterAttemptIsReported) {
    const claim requested{.name = "forced", .owner = "first owner", .ttl = ttl};
    core::lease_keeper::reservation reservation(
        keeper_, std::make_shared<core::lease>(nullptr, time_, requested, forever));
    reservation.begin_attempt("second owner", true);
    EXPECT_EQ(reservation.requested().owner, "second owner");
    EXPECT_TRUE(reservation.requested().was_taken);
    keeper_.handle_pushed_loss("second owner", loss_reason::forced);
    auto granted = reservation.keep(
        {.deadline = time_.now() + ttl - drift(ttl), .stored_value = "forced value"});
    const auto forced = std::exchange(granted.held_lease, nullptr);
    run_ready();
    EXPECT_EQ(losses_, 1);
    EXPECT_EQ(forced->why_lost(), loss_reason::forced);
}

// Anybody may publish reports. Those about unknown owners have no effect.
TEST_F(KeeperOnDemand, ReportsAboutUnknownOwnersAreIgnored) {
    const claim requested{.name = "forced", .owner = "first owner", .ttl = ttl};
    keeper_.handle_pushed_loss("first owner", loss_reason::forced);
    core::lease_keeper::reservation reservation(
        keeper_, std::make_shared<core::lease>(nullptr, time_, requested, forever));
    for (int i = 0; i < 1000; ++i)
        keeper_.handle_pushed_loss(std::to_string(i), loss_reason::forced);
    auto granted = reservation.keep(
        {.deadline = time_.now() + ttl - drift(ttl), .stored_value = "first value"});
    const auto held_lease = std::exchange(granted.held_lease, nullptr);
    run_ready();
    EXPECT_EQ(losses_, 0);
    EXPECT_EQ(held_lease->state(), lock_state::held);
    keeper_.drop(held_lease);
}

// The report is about an attempt that was repeated under another owner, and that one was granted.
TEST_F(KeeperOnDemand, ALossOfAnEarlierAttemptIsNone) {
    const claim requested{.name = "again", .owner = "first owner", .ttl = ttl};
    core::lease_keeper::reservation reservation(
        keeper_, std::make_shared<core::lease>(nullptr, time_, requested, forever));
    keeper_.handle_pushed_loss("first owner", loss_reason::forced);
    reservation.begin_attempt("second owner", false);
    keeper_.handle_pushed_loss("first owner", loss_reason::forced);
    auto granted = reservation.keep(
        {.deadline = time_.now() + ttl - drift(ttl), .stored_value = "second value"});
    const auto held_lease = std::exchange(granted.held_lease, nullptr);
    run_ready();
    EXPECT_EQ(losses_, 0);
    EXPECT_EQ(held_lease->state(), lock_state::held);
    keeper_.drop(held_lease);
}

TEST_F(KeeperOnDemand, ARefusedRenewalIsALoss) {
    const auto operation = renew();
    answer_next(reply_kind::refused);
    EXPECT_EQ(operation->failed, errc::lost);
    EXPECT_EQ(lease_->why_lost(), loss_reason::taken_over);
    EXPECT_EQ(losses_, 1);
}

TEST_F(KeeperOnDemand, ARenewalThatIsAnsweredTooLateIsALoss) {
    const auto operation = renew();
    advance(ttl);
    EXPECT_EQ(lease_->why_lost(), loss_reason::expired);
    answer_next(reply_kind::accepted);
    EXPECT_EQ(operation->failed, errc::lost);
    EXPECT_EQ(lease_->state(), lock_state::lost);
    EXPECT_EQ(losses_, 1);
}

TEST_F(KeeperOnDemand, ARenewalOfWhatIsGivenBackMeanwhileFails) {
    const auto operation = renew(), later_operation = renew();
    ASSERT_TRUE(keeper_.drop(lease_));
    run_ready();
    EXPECT_EQ(later_operation->failed, errc::lost) << "a waiter need not wait for the reply";
    answer_next(reply_kind::accepted);
    EXPECT_EQ(operation->failed, errc::lost);
    EXPECT_EQ(request_count(), 1U);
    EXPECT_EQ(losses_, 0) << "a released lock is not lost";
}

TEST_F(KeeperOnDemand, ADowngradeMakesItSharedAndLastsATtlMore) {
    advance(15s);
    const auto operation = downgrade();
    EXPECT_EQ(lease_->granted_hold().claim.mode, lock_mode::exclusive)
        << "before the service has replied";
    answer_next(reply_kind::accepted);
    EXPECT_TRUE(operation->is_over);
    EXPECT_EQ(operation->failed, std::nullopt);
    EXPECT_EQ(lease_->granted_hold().claim.mode, lock_mode::shared);
    EXPECT_EQ(lease_->granted_hold().grant.stored_value, "shared value");
    EXPECT_EQ(lease_->deadline(), time_.now() + ttl - drift(ttl));
    EXPECT_EQ(backend_.released, "") << "it is kept";
    advance(ttl / 3);
    EXPECT_EQ(backend_.operations.back(), "renew");
}

// A process that dies after the downgrade would keep writers out beyond its longest hold.
TEST_F(KeeperOnDemand, ADowngradeDoesNotExtendTheLongestHold) {
    const auto limited = keep_lease("limited", ttl);
    advance(ttl / 2);
    const auto operation = begin(keeper_.downgrade(limited));
    while (backend_.operations.back() != "downgrade")
        answer_next(reply_kind::accepted);
    EXPECT_LT(backend_.downgrade_ttl, ttl * 2 / 3);
    answer_next(reply_kind::accepted);
    EXPECT_TRUE(operation->is_over);
    EXPECT_EQ(operation->failed, std::nullopt);
}

// 1. A renewal is under way. 2. A downgrade is requested. If it were sent now, the renewal's reply,
// for the old stored value, could come after it and be read as a loss.
TEST_F(KeeperOnDemand, ADowngradeWaitsForTheRenewalInFlight) {
    advance(ttl / 3);
    const auto operation = downgrade();
    EXPECT_EQ(backend_.operations, std::vector<std::string>{"renew"});
    answer_next(reply_kind::accepted);
    EXPECT_EQ(backend_.operations.back(), "downgrade");
    answer_next(reply_kind::accepted);
    EXPECT_TRUE(operation->is_over);
    EXPECT_EQ(losses_, 0);
}

TEST_F(KeeperOnDemand, ADowngradeWithoutAnAnswerIsAskedAgainAndNoRenewalComesBetween) {
    advance(ttl / 3 - 1s);
    const auto operation = downgrade();
    answer_next(reply_kind::no_reply);
    EXPECT_EQ(request_count(), 1U) << "not a loop without pauses";
    advance(ttl / 20);
    EXPECT_EQ(backend_.operations, (std::vector<std::string>{"downgrade", "downgrade"}));
    answer_next(reply_kind::accepted);
    EXPECT_TRUE(operation->is_over);
    EXPECT_EQ(lease_->granted_hold().claim.mode, lock_mode::shared);
}

TEST_F(KeeperOnDemand, ARefusedDowngradeIsALoss) {
    const auto operation = downgrade();
    answer_next(reply_kind::refused);
    EXPECT_EQ(operation->failed, errc::lost);
    EXPECT_EQ(lease_->why_lost(), loss_reason::taken_over);
    EXPECT_EQ(lease_->granted_hold().claim.mode, lock_mode::exclusive);
}

TEST_F(KeeperOnDemand, ADowngradeThatIsNeverAnsweredEndsWithTheLease) {
    const auto operation = downgrade();
    advance(ttl);
    answer_next(reply_kind::no_reply);
    EXPECT_EQ(operation->failed, errc::lost);
    EXPECT_EQ(request_count(), 1U);
    EXPECT_EQ(losses_, 1);
}

// 1. A downgrade is under way. 2. The lock is released, with the stored value of the exclusive
// hold. 3. The service has made it shared by then: it must be released with its new stored value.
// The release in step 2 refers to the lease's hold, and may still be in flight.
TEST_F(KeeperOnDemand, ADowngradeOfWhatIsGivenBackMeanwhileIsUndone) {
    const auto operation = downgrade();
    ASSERT_TRUE(keeper_.drop(lease_));
    answer_next(reply_kind::accepted);
    EXPECT_EQ(lease_->granted_hold().grant.stored_value, "exclusive value");
    EXPECT_EQ(lease_->granted_hold().claim.mode, lock_mode::exclusive);
    EXPECT_EQ(backend_.released, "shared value");
    EXPECT_EQ(operation->failed, errc::lost);
}

// The same, and the downgrade's reply is lost: it is repeated, since the service may have the hold
// as a shared one until its ttl ends. Not for longer than that.
TEST_F(KeeperOnDemand, ADowngradeWhoseAnswerIsLostIsUndoneWhereTheHoldIsGivenBackMeanwhile) {
    const auto operation = downgrade();
    ASSERT_TRUE(keeper_.drop(lease_));
    answer_next(reply_kind::no_reply);
    EXPECT_FALSE(operation->is_over);
    advance(ttl / 20);
    EXPECT_EQ(backend_.operations, (std::vector<std::string>{"downgrade", "downgrade"}));
    answer_next(reply_kind::accepted);
    EXPECT_EQ(backend_.released, "shared value");
    EXPECT_EQ(operation->failed, errc::lost);
}

TEST_F(KeeperOnDemand, ADowngradeOfWhatIsGivenBackIsNotAskedForLongerThanTheLease) {
    const auto operation = downgrade();
    ASSERT_TRUE(keeper_.drop(lease_));
    for (int i = 0; i < 40 && !operation->is_over; ++i) {
        if (backend_.has_requests()) answer_next(reply_kind::no_reply);
        advance(ttl / 20);
    }
    EXPECT_EQ(operation->failed, errc::lost);
    EXPECT_LE(request_count(), 21U);
    EXPECT_EQ(backend_.released, "");
}

// Whichever allocation fails: no unsent request counts as under way, because the hold would not be
// renewed any more.
TEST_F(KeeperOnDemand, AQuestionThatCannotBeginLeavesTheHoldToItsRhythm) {
    for (const bool downgrades : {false, true}) {
        bool failed = true;
        for (long at = 0; failed; ++at) {
            ASSERT_LT(at, 500);
            failing_memory::fail_once_at(at);
            try {
                (void)(downgrades ? downgrade() : renew());
            } catch (const std::bad_alloc&) {}  // its start failed
            failed = failing_memory::stop_failing();
            run_ready();
            for (int i = 0; i < 12; ++i) {
                while (backend_.has_requests())
                    answer_next(reply_kind::accepted);
                advance(ttl / 20);
            }
            while (backend_.has_requests())
                answer_next(reply_kind::accepted);
            ASSERT_EQ(lease_->state(), lock_state::held) << "allocation " << at;
            ASSERT_GT(lease_->deadline(), time_.now() + ttl / 2) << "allocation " << at;
        }
    }
}

// The engine writes a line to the log before some renewals, and the callback of the log may end the
// hold.
TEST_F(KeeperOnDemand, AHoldThatEndsWithinTheHookOfItsRenewalIsNotRenewed) {
    const auto other = keep_lease("other");
    on_renewal_ = [this](const std::shared_ptr<core::lease>& renewed) {
        if (renewed == lease_) keeper_.drop(lease_);
    };
    advance(ttl / 3);
    ASSERT_EQ(request_count(), 1U);
    EXPECT_EQ(backend_.owners_in(0), std::vector<std::string>{"other"});
    answer_next(reply_kind::accepted);
    advance(ttl / 3);
    EXPECT_EQ(request_count(), 2U);
    EXPECT_EQ(losses_, 0);
}

}  // namespace
}  // namespace pawl
