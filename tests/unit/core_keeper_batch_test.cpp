// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Renewals that share a request are settled one by one.
#include "keeper_fixture.hpp"

#include <algorithm>
#include <array>

namespace pawl {
namespace {

using namespace std::chrono_literals;

class KeeperOfBatches : public KeeperTest {
protected:
    KeeperOfBatches() {
        for (std::size_t i = 1; i < leases_.size(); ++i)
            leases_[i] = keep_lease("owner " + std::to_string(i));
        advance(ttl / 3);
        EXPECT_EQ(backend_.open_requests(), 1U);
        EXPECT_EQ(backend_.owners_in(0).size(), leases_.size());
    }
    ~KeeperOfBatches() override {
        for (const auto& each : leases_)
            keeper_.drop(each);
    }
    // The lease of a renewal in the first request.
    [[nodiscard]] std::shared_ptr<core::lease> lease_of(const std::string& owner) const {
        return *std::ranges::find_if(
            leases_, [&](const auto& each) { return each->granted_hold().claim.owner == owner; });
    }

    std::array<std::shared_ptr<core::lease>, 4> leases_{lease_};
    const time_point first_deadline_ = lease_->deadline();
};

// 1. One request renews the locks of two servers. 2. One server answers, and the other is dead.
// The locks of the first server must be extended although the request never ends.
TEST_F(KeeperOfBatches, ASettledRenewalDoesNotWaitForTheOthers) {
    const auto owners = backend_.owners_in(0);
    settle_in(0, 0, reply_kind::accepted);
    settle_in(0, 2, reply_kind::accepted);
    const auto extended = time_.now() + ttl - drift(ttl);
    for (std::size_t i = 0; i < owners.size(); ++i)
        EXPECT_EQ(lease_of(owners[i])->deadline(), i % 2 == 0 ? extended : first_deadline_);
    // The next rhythm of the answered ones begins, and the request of the others is still open.
    advance(ttl / 3);
    ASSERT_EQ(backend_.open_requests(), 2U);
    EXPECT_EQ(backend_.owners_in(1), (std::vector{owners[0], owners[2]}));
    settle_in(1, 0, reply_kind::accepted);
    settle_in(1, 1, reply_kind::accepted);
    // The others are lost by their own deadline, and only they.
    advance(ttl / 3);
    EXPECT_EQ(losses_, 2);
    for (std::size_t i = 0; i < owners.size(); ++i)
        EXPECT_EQ(lease_of(owners[i])->why_lost(),
                  i % 2 == 0 ? loss_reason::none : loss_reason::expired);
}

TEST_F(KeeperOfBatches, ARefusedRenewalIsALossAtOnceAndAnUnknownOneIsRepeated) {
    const auto owners = backend_.owners_in(0);
    settle_in(0, 0, reply_kind::refused);
    EXPECT_EQ(lease_of(owners[0])->why_lost(), loss_reason::taken_over);
    settle_in(0, 1, reply_kind::no_reply);
    EXPECT_EQ(backend_.open_requests(), 1U) << "not a loop without pauses";
    advance(ttl / 20);
    ASSERT_EQ(backend_.open_requests(), 2U);
    EXPECT_EQ(backend_.owners_in(1), std::vector{owners[1]}) << "the others have an open request";
    settle_in(1, 0, reply_kind::accepted);
    EXPECT_EQ(lease_of(owners[1])->deadline(), time_.now() + ttl - drift(ttl));
    EXPECT_EQ(losses_, 1);
}

// A request that ends leaves no renewal unanswered.
TEST_F(KeeperOfBatches, RenewalsThatAreNotSettledAreRepeatedAfterTheEndOfTheRequest) {
    const auto owners = backend_.owners_in(0);
    settle_in(0, 0, reply_kind::accepted);
    answer_next(reply_kind::no_memory);  // the backend throws
    EXPECT_EQ(backend_.open_requests(), 0U);
    advance(ttl / 20);
    ASSERT_EQ(backend_.open_requests(), 1U);
    EXPECT_EQ(backend_.owners_in(0), (std::vector{owners[1], owners[2], owners[3]}));
    answer_next(reply_kind::accepted);
    EXPECT_EQ(losses_, 0);
}

// 1. A renewal is settled. 2. The hold is renewed again, in another request. 3. The first request
// gives another outcome. It is about an older state of the hold, and must change nothing.
TEST_F(KeeperOfBatches, OnlyTheFirstOutcomeCounts) {
    const auto owners = backend_.owners_in(0);
    const auto first = lease_of(owners[0]);
    settle_in(0, 0, reply_kind::accepted);
    settle_in(0, 0, reply_kind::refused);
    EXPECT_EQ(first->state(), lock_state::held);
    settle_in(0, 1, reply_kind::accepted);
    settle_in(0, 2, reply_kind::accepted);
    settle_in(0, 3, reply_kind::accepted);
    advance(ttl / 3);
    ASSERT_EQ(backend_.open_requests(), 2U);
    const auto requests = request_count();
    settle_in(0, 0, reply_kind::refused);
    settle_in(0, 1, reply_kind::no_reply);
    answer_next(reply_kind::refused);
    EXPECT_EQ(first->state(), lock_state::held);
    advance(ttl / 20);
    EXPECT_EQ(request_count(), requests) << "one request about a hold at a time";
    EXPECT_EQ(losses_, 0);
    answer_next(reply_kind::accepted);
}

TEST_F(KeeperOfBatches, AnAnswerAfterTheDeadlineIsALossAndAnAnswerAfterTheReleaseIsNone) {
    const auto owners = backend_.owners_in(0);
    ASSERT_TRUE(keeper_.drop(lease_of(owners[0])));
    settle_in(0, 0, reply_kind::refused);
    EXPECT_EQ(losses_, 0);
    EXPECT_EQ(lease_of(owners[0])->why_lost(), loss_reason::none);
    advance(ttl);
    EXPECT_EQ(losses_, 3);
    settle_in(0, 1, reply_kind::accepted);
    EXPECT_EQ(lease_of(owners[1])->state(), lock_state::lost);
    EXPECT_EQ(losses_, 3);
}

// A dead server keeps its renewals' request open, and no second request about them begins. So at
// most one request for each hold is open, however long the server is silent.
TEST_F(KeeperOfBatches, ASilentServerHasOneOpenRequestForEachHold) {
    const auto owners = backend_.owners_in(0);
    for (int i = 0; i < 10; ++i) {
        for (std::size_t request = 0; request < backend_.open_requests(); ++request) {
            const auto in_request = backend_.owners_in(request);
            const auto live = std::ranges::find(in_request, owners[0]);
            if (live != in_request.end())
                settle_in(request, static_cast<std::size_t>(live - in_request.begin()),
                          reply_kind::accepted);
        }
        // The live one's requests end; only the first has renewals that are not settled.
        while (backend_.open_requests() > 1)
            backend_.end_last();
        run_ready();
        advance(ttl / 20);
        EXPECT_LE(backend_.open_requests(), 2U);
    }
    EXPECT_EQ(lease_of(owners[0])->state(), lock_state::held);
}

}  // namespace
}  // namespace pawl
