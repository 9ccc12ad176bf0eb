// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The loss watchdog reports a loss while the event loop stands still, for example in a handler that
// blocks. In these tests nobody runs the loop.
#include "../support/eventually.hpp"

#include <pawl/client.hpp>
#include <pawl/held_lock.hpp>
#include <pawl/memory.hpp>

#include <boost/asio/io_context.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <stop_token>
#include <thread>

namespace pawl {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using support::eventually;

class StuckLoop : public ::testing::Test {
protected:
    held_lock acquire(const std::string& name, duration ttl) {
        held_lock acquired;
        boost::system::error_code failure;
        bool is_done = false;
        locks_.async_acquire(name, {.ttl = ttl},
                             [&](const boost::system::error_code& ec, held_lock lock) {
                                 failure = ec;
                                 acquired = std::move(lock);
                                 is_done = true;
                             });
        while (!is_done)
            loop_.run_one();
        EXPECT_FALSE(failure) << failure.message();
        return acquired;
    }

    asio::io_context loop_;
    client locks_{loop_.get_executor(), memory::at()};
};

//   A: holds, and its loop stands still | the lease runs out | A's callback runs, on another thread
TEST_F(StuckLoop, DoesNotKeepALossFromItsCallback) {
    auto held = acquire("it", 500ms);
    std::atomic<int> calls = 0;
    std::atomic<bool> is_own_thread = false;
    const std::stop_callback on_loss(held.lost(), [&, test = std::this_thread::get_id()] {
        is_own_thread = std::this_thread::get_id() != test;
        ++calls;
    });
    ASSERT_TRUE(eventually([&] { return calls == 1; }));
    EXPECT_TRUE(is_own_thread);
    EXPECT_EQ(held.state(), lock_state::lost);
    EXPECT_EQ(held.why_lost(), loss_reason::expired);

    // The loop goes on: the same loss completes the wait for it, and is not reported again.
    std::optional<loss_reason> reason;
    std::optional<release_result> released;
    held.async_wait_lost([&](const boost::system::error_code& ec, loss_reason why) {
        EXPECT_FALSE(ec) << ec.message();
        reason = why;
    });
    held.async_release([&](release_result result) { released = result; });
    while (!reason || !released)
        loop_.run_one();
    EXPECT_EQ(reason, loss_reason::expired);
    EXPECT_EQ(released, release_result::expired);
    EXPECT_EQ(calls, 1);
}

//   A: holds three locks, releases the second, and its loop stands still | the leases of the others
//   run out, the last one first
TEST_F(StuckLoop, ReportsEachHoldThatHasNotEnded) {
    auto late = acquire("late", 4s);
    auto ended = acquire("ended", 2s);
    auto early = acquire("early", 3s);
    std::atomic<bool> ended_reported = false, early_reported = false, late_reported = false;
    const std::stop_callback on_end(ended.lost(), [&] { ended_reported = true; });
    const std::stop_callback on_early(early.lost(), [&] { early_reported = true; });
    const std::stop_callback on_late(late.lost(), [&] { late_reported = true; });
    std::optional<release_result> released;
    ended.async_release([&](release_result result) { released = result; });
    while (!released)
        loop_.run_one();
    EXPECT_EQ(released, release_result::released);
    ASSERT_TRUE(eventually([&] { return early_reported.load(); }));
    ASSERT_TRUE(eventually([&] { return late_reported.load(); }));
    EXPECT_FALSE(ended_reported) << "a released hold was reported as lost";
}

// A hold with a long lease is watched first. Its report time must not hide the nearer one.
TEST_F(StuckLoop, ReportsTheNearestLossFirst) {
    auto long_hold = acquire("long", 60s);
    auto short_hold = acquire("short", 300ms);
    std::atomic<bool> is_reported = false;
    const std::stop_callback on_loss(short_hold.lost(), [&] { is_reported = true; });
    EXPECT_TRUE(eventually([&] { return is_reported.load(); }));
    EXPECT_EQ(long_hold.state(), lock_state::held);
}

}  // namespace
}  // namespace pawl
