// One hold and its time, in a time that the test moves.
#include "core/lease.hpp"
#include "redis/waiters.hpp"

#include <pawl/options.hpp>

#include <boost/asio/io_context.hpp>

#include <gtest/gtest.h>

namespace pawl {
namespace {

using namespace std::chrono_literals;

class hand_moved final : public runtime {
public:
    time_point now() const noexcept override { return now_; }
    std::chrono::system_clock::time_point wall() const noexcept override { return {}; }
    std::unique_ptr<timer> make_timer(const boost::asio::any_io_executor& on) override {
        return real_runtime().make_timer(on);
    }
    void random(std::span<std::byte> fill) override {
        std::fill(fill.begin(), fill.end(), std::byte{});
    }
    bool passes_by_itself() const noexcept override { return false; }

    time_point now_{100s};
};

std::shared_ptr<core::lease> held_for(hand_moved& time, duration lease,
                                      duration max_hold = forever) {
    hold what;
    what.claim.ttl = lease;
    what.grant.deadline = time.now() + lease;
    return std::make_shared<core::lease>(nullptr, time, what, time.now(), max_hold);
}

TEST(Lease, IsLostAtItsDeadlineForWhoeverAsks) {
    hand_moved time;
    const auto one = held_for(time, 10s);
    EXPECT_EQ(one->state(), lock_state::held);
    time.now_ += 10s;
    EXPECT_EQ(one->state(), lock_state::lost);
    EXPECT_EQ(one->why(), loss_reason::expired);
}

TEST(Lease, ARenewalThatEndsTooLateIsALoss) {
    hand_moved time;
    const auto one = held_for(time, 10s);
    time.now_ += 10s;
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
    time.now_ += 20s;
    EXPECT_EQ(one->state(), lock_state::released);
    EXPECT_FALSE(one->lost().stop_requested());
}

TEST(Lease, RenewedInTimeIsHeldAgain) {
    hand_moved time;
    const auto one = held_for(time, 10s);
    EXPECT_TRUE(one->mark_at_risk());
    EXPECT_EQ(one->state(), lock_state::at_risk);
    time.now_ += 8s;
    EXPECT_TRUE(one->extend(time.now() + 10s));
    EXPECT_EQ(one->state(), lock_state::held);
    time.now_ += 9s;
    EXPECT_EQ(one->state(), lock_state::held);
}

TEST(Lease, NeverOutlivesMaxHold) {
    hand_moved time;
    const auto one = held_for(time, 10s, 12s);
    time.now_ += 5s;
    EXPECT_TRUE(one->extend(time.now() + 10s));
    EXPECT_EQ(one->deadline(), time_point(112s));
    time.now_ += 7s;
    EXPECT_EQ(one->state(), lock_state::lost);
    EXPECT_EQ(one->why(), loss_reason::max_hold);
}

// A holds; B enqueues at server time 1000 (asked at 100 s by B's clock); the server gives it to B
// at 1500 and the message takes 3 s. Counting from the receipt would make B believe 3 s too long.
TEST(PushedGrant, CountsFromTheEarliestInstantItCanHaveBeenMade) {
    boost::asio::io_context context;
    hand_moved time;
    redis::waiter one(time, context.get_executor());
    one.window = 1200ms;
    one.asked = time_point(100s);
    one.asked_server_ms = 1000;
    const auto given = redis::pushed_grant(one, "7", 1500, time_point(103'500ms));
    EXPECT_EQ(given.deadline, time_point(100s) + 499ms + 1200ms - drift(1200ms));
    EXPECT_EQ(given.token, fencing_token(7));
    EXPECT_TRUE(given.confirm);
}

// The server's clock is a little faster than ours: the receipt bounds it.
TEST(PushedGrant, IsNeverLaterThanItsReceipt) {
    boost::asio::io_context context;
    hand_moved time;
    redis::waiter one(time, context.get_executor());
    one.window = 1200ms;
    one.asked = time_point(100s);
    one.asked_server_ms = 1000;
    const auto given = redis::pushed_grant(one, "7", 2006, time_point(101s));
    EXPECT_EQ(given.deadline, time_point(101s) + 1200ms - drift(1200ms));
}

// The server's clock was set forward by an hour, and the message took 300 ms: if the receipt were
// taken for the grant, the lease would be believed for 300 ms too long.
TEST(PushedGrant, TrustsNoClockThatWasSet) {
    boost::asio::io_context context;
    hand_moved time;
    redis::waiter one(time, context.get_executor());
    one.window = 1200ms;
    one.asked = time_point(100s);
    one.asked_server_ms = 1000;
    const auto given = redis::pushed_grant(one, "7", 3'601'000, time_point(101s));
    EXPECT_EQ(given.deadline, time_point(100s) + 1200ms - drift(1200ms));
}

}  // namespace
}  // namespace pawl
