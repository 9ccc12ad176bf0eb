// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A service that may have lost holds: all of them are renewed at once, but in a bounded number of
// requests.
#include "keeper_fixture.hpp"

namespace pawl {
namespace {

using namespace std::chrono_literals;

class KeeperWithDoubt : public KeeperTest {
protected:
    ~KeeperWithDoubt() override {
        for (const auto& each : more_)
            keeper_.drop(each);
    }
    void keep_more(int count) {
        for (int i = 0; i < count; ++i)
            more_.push_back(keep_lease("owner " + std::to_string(i)));
    }
    void confirm_all() {
        keeper_.confirm_all();
        run_ready();
    }

    std::vector<std::shared_ptr<core::lease>> more_;
};

TEST_F(KeeperWithDoubt, EveryHoldIsRenewedAtOnceInFullBatches) {
    backend_.largest_batch = 4;
    keep_more(9);
    advance(1s);
    confirm_all();
    ASSERT_EQ(backend_.open_requests(), 3U);
    EXPECT_EQ(backend_.owners_in(0).size(), 4U);
    EXPECT_EQ(backend_.owners_in(2).size(), 2U);
    answer_next(reply_kind::accepted);
    answer_next(reply_kind::refused);
    EXPECT_EQ(losses_, 4) << "a refusal is a loss at once";
    answer_next(reply_kind::accepted);
    advance(ttl / 6 - 2s);
    EXPECT_EQ(request_count(), 3U) << "the rhythm goes on from the confirmation";
}

// 1. A renewal is in flight. 2. The service loses its data. The renewal may have been executed
// before the loss, so its answer confirms nothing.
TEST_F(KeeperWithDoubt, AHoldWithARenewalInFlightIsRenewedAfterTheAnswer) {
    advance(ttl / 3);
    ASSERT_EQ(request_count(), 1U);
    confirm_all();
    EXPECT_EQ(request_count(), 1U) << "one request about a hold at a time";
    answer_next(reply_kind::accepted);
    ASSERT_EQ(request_count(), 2U);
    answer_next(reply_kind::refused);
    EXPECT_EQ(lease_->why_lost(), loss_reason::taken_over);
}

// The same, and the caller waits for a renewal of its own, which must have an answer of its own.
TEST_F(KeeperWithDoubt, ARenewalOnDemandIsNotAnsweredByAFailure) {
    const auto operation = renew();
    confirm_all();
    answer_next(reply_kind::no_reply);
    EXPECT_FALSE(operation->is_over);
    while (backend_.has_requests())
        answer_next(reply_kind::accepted);
    advance(ttl / 20);
    while (backend_.has_requests())
        answer_next(reply_kind::accepted);
    EXPECT_TRUE(operation->is_over);
    EXPECT_EQ(operation->failed, std::nullopt);
}

// Without an answer, the pauses begin short, since the hold may be gone, and double.
TEST_F(KeeperWithDoubt, AnUnansweredConfirmationIsRepeatedWithGrowingPauses) {
    confirm_all();
    answer_next(reply_kind::no_reply);
    EXPECT_EQ(request_count(), 1U) << "not a loop without pauses";
    for (const auto pause : {250ms, 500ms, 1000ms, 2000ms, 3000ms, 3000ms}) {
        const auto before = request_count();
        advance(pause - 1ms);
        EXPECT_EQ(request_count(), before);
        advance(1ms);
        ASSERT_EQ(request_count(), before + 1) << "after " << pause.count() << " ms";
        answer_next(reply_kind::no_reply);
    }
    advance(3s);
    answer_next(reply_kind::refused);
    EXPECT_EQ(losses_, 1);
}

// The bound: however often a loss is possible, a hold is renewed at most once in the interval for
// it, and the last doubt is not forgotten.
TEST_F(KeeperWithDoubt, RepeatedDoubtsAreAnsweredByOneRoundInTheInterval) {
    backend_.largest_batch = 4;
    keep_more(7);
    constexpr auto interval = core::lease_keeper::min_confirmation_interval;
    for (int i = 0; i < 100; ++i) {
        confirm_all();
        while (backend_.has_requests())
            answer_next(reply_kind::accepted);
        advance(interval / 10);
    }
    // 8 holds in batches of 4: 2 requests at the start of each of 10 intervals.
    while (backend_.has_requests())
        answer_next(reply_kind::accepted);
    EXPECT_GE(request_count(), 20U);
    EXPECT_LE(request_count(), 22U);
    const auto before = request_count();
    confirm_all();
    advance(interval);
    EXPECT_EQ(request_count(), before + 2) << "the last doubt is answered, too";
    while (backend_.has_requests())
        answer_next(reply_kind::accepted);
    advance(interval);
    EXPECT_EQ(request_count(), before + 2) << "and only once";
}

// A hold that ends by `max_hold` is not renewed any more, but it may be lost before that.
TEST_F(KeeperWithDoubt, AHoldInItsLastTtlIsConfirmedToo) {
    const claim requested{.name = "short", .owner = "short", .ttl = ttl};
    core::lease_keeper::reservation reservation(
        keeper_, std::make_shared<core::lease>(nullptr, time_, requested, ttl / 2));
    auto granted = reservation.keep({.deadline = time_.now() + ttl - drift(ttl)});
    more_.push_back(std::exchange(granted.held_lease, nullptr));
    keeper_.drop(lease_);
    confirm_all();
    ASSERT_EQ(backend_.open_requests(), 1U);
    EXPECT_EQ(backend_.owners_in(0), std::vector<std::string>{"short"});
    answer_next(reply_kind::refused);
    EXPECT_EQ(more_.front()->why_lost(), loss_reason::taken_over);
}

TEST_F(KeeperWithDoubt, AReleasedHoldIsNotConfirmed) {
    ASSERT_TRUE(keeper_.drop(lease_));
    confirm_all();
    advance(ttl);
    EXPECT_EQ(request_count(), 0U);
}

}  // namespace
}  // namespace pawl
