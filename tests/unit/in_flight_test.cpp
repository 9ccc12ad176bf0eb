// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "core/util/in_flight.hpp"
#include "manual_time.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <gtest/gtest.h>

#include <optional>

namespace pawl::core {
namespace {

using namespace std::chrono_literals;

boost::asio::awaitable<void> wait(in_flight& operations, time_point give_up_at, bool& has_ended) {
    while (operations.must_wait(give_up_at))
        co_await operations.wait_until(give_up_at);
    has_ended = true;
}

class InFlight : public ::testing::Test {
protected:
    void begin_wait() {
        boost::asio::co_spawn(loop_, wait(operations_, time_.now() + 1s, has_ended_),
                              boost::asio::detached);
        run();
    }
    void run() {
        loop_.restart();
        loop_.poll();
    }

    manual_time time_;
    boost::asio::io_context loop_;
    in_flight operations_{time_, loop_.get_executor()};
    bool has_ended_ = false;
};

TEST_F(InFlight, TheLastEndCompletesTheWait) {
    std::optional<in_flight::guard> first(std::in_place, operations_);
    std::optional<in_flight::guard> second(std::in_place, operations_);
    begin_wait();
    first.reset();
    run();
    EXPECT_FALSE(has_ended_);
    EXPECT_FALSE(operations_.empty());
    second.reset();
    run();
    EXPECT_TRUE(has_ended_);
    EXPECT_TRUE(operations_.empty());
}

TEST_F(InFlight, AnOperationThatBeginsAfterAnEarlierEndIsWaitedFor) {
    std::optional<in_flight::guard> earlier(std::in_place, operations_);
    earlier.reset();
    std::optional<in_flight::guard> present(std::in_place, operations_);
    begin_wait();
    EXPECT_FALSE(has_ended_);
    present.reset();
    run();
    EXPECT_TRUE(has_ended_);
}

// The end of the first operation has ended the pause of the waiter, which has not run since.
TEST_F(InFlight, AnOperationThatBeginsBeforeTheWaiterGoesOnIsWaitedFor) {
    std::optional<in_flight::guard> first(std::in_place, operations_);
    begin_wait();
    first.reset();
    std::optional<in_flight::guard> second(std::in_place, operations_);
    run();
    EXPECT_FALSE(has_ended_);
    second.reset();
    run();
    EXPECT_TRUE(has_ended_);
}

TEST_F(InFlight, TheWaitEndsAtItsTime) {
    const in_flight::guard operation(operations_);
    begin_wait();
    time_.advance(999ms);
    run();
    EXPECT_FALSE(has_ended_);
    time_.advance(1ms);
    run();
    EXPECT_TRUE(has_ended_);
}

TEST_F(InFlight, NothingInFlightIsNoWait) {
    begin_wait();
    EXPECT_TRUE(has_ended_);
}

}  // namespace
}  // namespace pawl::core
