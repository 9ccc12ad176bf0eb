// One hold and its time, in a time that the test moves.
#include "core/lease.hpp"
#include "hand_time.hpp"
#include "redis/waiters.hpp"

#include <pawl/options.hpp>

#include <boost/asio/io_context.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace pawl {
namespace {

using namespace std::chrono_literals;

std::shared_ptr<core::lease> held_for(hand_moved& time, duration lease,
                                      duration max_hold = forever) {
    claim what;
    what.ttl = lease;
    auto one = std::make_shared<core::lease>(nullptr, time, what, max_hold);
    one->begin("owner", {.deadline = time.now() + lease});
    return one;
}

TEST(Lease, IsLostAtItsDeadlineForWhoeverAsks) {
    hand_moved time;
    const auto one = held_for(time, 10s);
    EXPECT_EQ(one->state(), lock_state::held);
    time.move(10s);
    EXPECT_EQ(one->state(), lock_state::lost);
    EXPECT_EQ(one->why(), loss_reason::expired);
}

TEST(Lease, ARenewalThatEndsTooLateIsALoss) {
    hand_moved time;
    const auto one = held_for(time, 10s);
    time.move(10s);
    EXPECT_FALSE(one->extend(time.now() + 10s));
    EXPECT_EQ(one->state(), lock_state::lost);
    EXPECT_TRUE(one->lost().stop_requested());
}

TEST(Lease, LossIsForEver) {
    hand_moved time;
    const auto one = held_for(time, 10s);
    EXPECT_TRUE(one->lose(loss_reason::forced));
    EXPECT_FALSE(one->lose(loss_reason::expired));
    EXPECT_FALSE(one->extend(time.now() + 10s));
    EXPECT_FALSE(one->give_back());
    EXPECT_EQ(one->why(), loss_reason::forced);
}

TEST(Lease, GivenBackCannotBeLost) {
    hand_moved time;
    const auto one = held_for(time, 10s);
    EXPECT_TRUE(one->give_back());
    EXPECT_FALSE(one->lose(loss_reason::expired));
    time.move(20s);
    EXPECT_EQ(one->state(), lock_state::released);
    EXPECT_FALSE(one->lost().stop_requested());
}

TEST(Lease, RenewedInTimeIsHeldAgain) {
    hand_moved time;
    const auto one = held_for(time, 10s);
    EXPECT_TRUE(one->mark_at_risk());
    EXPECT_EQ(one->state(), lock_state::at_risk);
    time.move(8s);
    EXPECT_TRUE(one->extend(time.now() + 10s));
    EXPECT_EQ(one->state(), lock_state::held);
    time.move(9s);
    EXPECT_EQ(one->state(), lock_state::held);
}

TEST(Lease, NeverOutlivesMaxHold) {
    hand_moved time;
    const auto one = held_for(time, 10s, 12s);
    time.move(5s);
    EXPECT_TRUE(one->extend(time.now() + 10s));
    EXPECT_EQ(one->deadline(), time_point(112s));
    time.move(7s);
    EXPECT_EQ(one->state(), lock_state::lost);
    EXPECT_EQ(one->why(), loss_reason::max_hold);
}

// B has asked at 100 s by its own clock, which was 1000 ms by the server's.
class PushedGrant : public ::testing::Test {
protected:
    PushedGrant() {
        one_.window = 1200ms;
        one_.asked = time_point(100s);
        one_.asked_server_ms = 1000;
    }

    boost::asio::io_context context_;
    hand_moved time_;
    redis::waiter one_{time_, context_.get_executor()};
};

// A holds; B enqueues; the server gives it to B at 1500 and the message takes 3 s. Counting from
// the receipt would make B believe 3 s too long.
TEST_F(PushedGrant, CountsFromTheEarliestInstantItCanHaveBeenMade) {
    const auto given = redis::pushed_grant(one_, "7", 1500, time_point(103'500ms));
    const duration between = 499ms;
    EXPECT_EQ(given.deadline, time_point(100s) + between - between / 100 + 1200ms - drift(1200ms));
    EXPECT_EQ(given.token, fencing_token(7));
    EXPECT_TRUE(given.confirm);
}

// The server refuses for a long time, so that B's last look that was answered is 2.4 s ago, and B's
// clock is a little slow: where the server counted 2400 ms, B counts 2390. The lease must not be
// believed for 10 ms more than the server keeps it.
TEST_F(PushedGrant, AllowsForAClockThatIsSlowSinceTheLastLook) {
    const auto granted = time_point(100s) + 2390ms;
    const auto given = redis::pushed_grant(one_, "7", 3400, granted + 5ms);
    EXPECT_LE(given.deadline, granted + 1200ms - drift(1200ms));
    EXPECT_GT(given.deadline, granted + 1200ms - drift(1200ms) - 50ms);
}

// The server's clock is a little faster than ours: the receipt bounds it.
TEST_F(PushedGrant, IsNeverLaterThanItsReceipt) {
    const auto given = redis::pushed_grant(one_, "7", 2013, time_point(101s));
    EXPECT_EQ(given.deadline, time_point(101s) + 1200ms - drift(1200ms));
}

// A server that answers with any numbers.
TEST_F(PushedGrant, TrustsNoClockOutOfThisWorld) {
    for (const auto said : {std::numeric_limits<std::int64_t>::max(),
                            std::numeric_limits<std::int64_t>::min(), std::int64_t{-1}}) {
        const auto given = redis::pushed_grant(one_, "7", said, time_point(101s));
        EXPECT_LE(given.deadline, time_point(100s) + 1200ms - drift(1200ms)) << said;
        one_.asked_server_ms = said;
        EXPECT_LE(redis::pushed_grant(one_, "7", 1500, time_point(101s)).deadline,
                  time_point(100s) + 1200ms - drift(1200ms));
        one_.asked_server_ms = 1000;
    }
}

// The server's clock was set forward by an hour, and the message took 300 ms: if the receipt were
// taken for the grant, the lease would be believed for 300 ms too long.
TEST_F(PushedGrant, TrustsNoClockThatWasSet) {
    const auto given = redis::pushed_grant(one_, "7", 3'601'000, time_point(101s));
    EXPECT_EQ(given.deadline, time_point(100s) + 1200ms - drift(1200ms));
}

}  // namespace
}  // namespace pawl
