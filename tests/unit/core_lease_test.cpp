// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One hold and its times, with a manual clock.
#include "core/lease/lease.hpp"
#include "manual_time.hpp"
#include "redis/native/waiters.hpp"

#include <pawl/options.hpp>

#include <boost/asio/io_context.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <memory>

namespace pawl {
namespace {

using namespace std::chrono_literals;

std::shared_ptr<core::lease> held_for(manual_time& time, duration ttl,
                                      duration max_hold = forever) {
    claim requested;
    requested.ttl = ttl;
    auto lease = std::make_shared<core::lease>(nullptr, time, requested, max_hold);
    lease->record_grant({.deadline = time.now() + ttl});
    return lease;
}

TEST(Lease, IsLostAtItsDeadlineForWhoeverAsks) {
    manual_time time;
    const auto lease = held_for(time, 10s);
    EXPECT_EQ(lease->state(), lock_state::held);
    time.advance(10s);
    EXPECT_EQ(lease->state(), lock_state::lost);
    EXPECT_EQ(lease->why_lost(), loss_reason::expired);
}

TEST(Lease, ARenewalThatEndsTooLateIsALoss) {
    manual_time time;
    const auto lease = held_for(time, 10s);
    time.advance(10s);
    EXPECT_FALSE(lease->extend(time.now() + 10s));
    EXPECT_EQ(lease->state(), lock_state::lost);
    EXPECT_TRUE(lease->lost().stop_requested());
}

TEST(Lease, LossIsForEver) {
    manual_time time;
    const auto lease = held_for(time, 10s);
    EXPECT_TRUE(lease->lose(loss_reason::forced));
    EXPECT_FALSE(lease->lose(loss_reason::expired));
    EXPECT_FALSE(lease->extend(time.now() + 10s));
    EXPECT_FALSE(lease->mark_released());
    EXPECT_EQ(lease->why_lost(), loss_reason::forced);
}

//   1. The event loop stands still, with the reply to a renewal in its socket. 2. The watchdog
//   reports the loss, shortly before the deadline. 3. The loop reads the reply, before the
//   deadline.
TEST(Lease, ARenewalAfterTheReportOfItsLossMovesNoDeadline) {
    manual_time time;
    const auto lease = held_for(time, 10s);
    const auto deadline = lease->deadline();
    EXPECT_TRUE(lease->lose(loss_reason::expired));
    EXPECT_FALSE(lease->extend(time.now() + 20s));
    EXPECT_EQ(lease->deadline(), deadline);
    EXPECT_EQ(lease->granted_hold().grant.deadline, deadline);
}

TEST(Lease, GivenBackCannotBeLost) {
    manual_time time;
    const auto lease = held_for(time, 10s);
    EXPECT_TRUE(lease->mark_released());
    EXPECT_FALSE(lease->lose(loss_reason::expired));
    time.advance(20s);
    EXPECT_EQ(lease->state(), lock_state::released);
    EXPECT_FALSE(lease->lost().stop_requested());
}

TEST(Lease, RenewedInTimeIsHeldAgain) {
    manual_time time;
    const auto lease = held_for(time, 10s);
    EXPECT_TRUE(lease->mark_at_risk());
    EXPECT_EQ(lease->state(), lock_state::at_risk);
    time.advance(8s);
    EXPECT_TRUE(lease->extend(time.now() + 10s));
    EXPECT_EQ(lease->state(), lock_state::held);
    time.advance(9s);
    EXPECT_EQ(lease->state(), lock_state::held);
}

TEST(Lease, NeverOutlivesMaxHold) {
    manual_time time;
    const auto lease = held_for(time, 10s, 12s);
    time.advance(5s);
    EXPECT_TRUE(lease->extend(time.now() + 10s));
    EXPECT_EQ(lease->deadline(), time_point(112s));
    time.advance(7s);
    EXPECT_EQ(lease->state(), lock_state::lost);
    EXPECT_EQ(lease->why_lost(), loss_reason::max_hold);
}

// B has requested at 100 s by its own clock, which was 1000 ms by the server's.
class PushedGrant : public ::testing::Test {
protected:
    PushedGrant() {
        waiter_.record = std::make_shared<redis::native::owner_record>(redis::keys(), "client",
                                                                       "owner", ";client");
        waiter_.ttl = 10s;
        waiter_.claim_window = 1200ms;
        waiter_.sent_at = time_point(100s);
        waiter_.reply_server_ms = 1000;
    }

    boost::asio::io_context context_;
    manual_time time_;
    redis::native::waiter waiter_{time_, context_.get_executor()};
};

// In a crowd, the window is up to nine times as long: longer than B's ttl | B renews, the server
// sets the end to one ttl later, and the answer is lost | B must not believe until the end of the
// window.
TEST_F(PushedGrant, LastsForNoLongerThanATtl) {
    waiter_.ttl = waiter_.claim_window = 500ms;
    const auto pushed =
        redis::native::pushed_grant(waiter_, "7", 1001, 9 * waiter_.claim_window, time_point(100s));
    EXPECT_EQ(pushed.deadline, time_point(100s) + 500ms - drift(500ms));
}

// A holds; B enqueues; the server grants it to B at 1500 and the message takes 3 s. Counting from
// the receipt would make B believe 3 s too long.
TEST_F(PushedGrant, CountsFromTheEarliestInstantItCanHaveBeenMade) {
    const auto pushed = redis::native::pushed_grant(waiter_, "7", 1500, waiter_.claim_window,
                                                    time_point(103'500ms));
    const duration between = 499ms;
    EXPECT_EQ(pushed.deadline, time_point(100s) + between - between / 100 + 1200ms - drift(1200ms));
    EXPECT_EQ(pushed.token, fencing_token(7));
    EXPECT_TRUE(pushed.needs_renewal);
}

// The server refuses for a long time, so that B's last answered refresh is 2.4 s ago, and B's clock
// is a little slow: where the server counted 2400 ms, B counts 2390. The lease must not be believed
// for 10 ms more than the server keeps it.
TEST_F(PushedGrant, AllowsForAClockThatIsSlowSinceTheLastLook) {
    const auto granted_at = time_point(100s) + 2390ms;
    const auto pushed =
        redis::native::pushed_grant(waiter_, "7", 3400, waiter_.claim_window, granted_at + 5ms);
    EXPECT_LE(pushed.deadline, granted_at + 1200ms - drift(1200ms));
    EXPECT_GT(pushed.deadline, granted_at + 1200ms - drift(1200ms) - 50ms);
}

// The server's clock is a little faster than ours: the receipt bounds it.
TEST_F(PushedGrant, IsNeverLaterThanItsReceipt) {
    const auto pushed =
        redis::native::pushed_grant(waiter_, "7", 2013, waiter_.claim_window, time_point(101s));
    EXPECT_EQ(pushed.deadline, time_point(101s) + 1200ms - drift(1200ms));
}

// A server that replies with any numbers.
TEST_F(PushedGrant, TrustsNoClockOutOfThisWorld) {
    for (const auto reported_ms : {std::numeric_limits<std::int64_t>::max(),
                                   std::numeric_limits<std::int64_t>::min(), std::int64_t{-1}}) {
        const auto pushed = redis::native::pushed_grant(waiter_, "7", reported_ms,
                                                        waiter_.claim_window, time_point(101s));
        EXPECT_LE(pushed.deadline, time_point(100s) + 1200ms - drift(1200ms)) << reported_ms;
        waiter_.reply_server_ms = reported_ms;
        EXPECT_LE(
            redis::native::pushed_grant(waiter_, "7", 1500, waiter_.claim_window, time_point(101s))
                .deadline,
            time_point(100s) + 1200ms - drift(1200ms));
        waiter_.reply_server_ms = 1000;
    }
}

// The server's clock was set forward by an hour, and the message took 300 ms: if the receipt were
// taken for the grant, the lease would be believed for 300 ms too long.
TEST_F(PushedGrant, TrustsNoClockThatWasSet) {
    const auto pushed = redis::native::pushed_grant(waiter_, "7", 3'601'000, waiter_.claim_window,
                                                    time_point(101s));
    EXPECT_EQ(pushed.deadline, time_point(100s) + 1200ms - drift(1200ms));
}

}  // namespace
}  // namespace pawl
