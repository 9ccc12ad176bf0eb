// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Waits in any unit.
#include <pawl/detail/wait_time.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace {

using namespace std::chrono_literals;
using pawl::wait_time;
using pawl::wait_time_until;
using seconds_as_double = std::chrono::duration<double>;

TEST(WaitTime, IsRoundedUp) {
    EXPECT_EQ(wait_time(1ns), 1ns);
    EXPECT_EQ(wait_time(90min), 90min);
    EXPECT_EQ(wait_time(24h * 36500), 24h * 36500);
    EXPECT_EQ(wait_time(seconds_as_double(0.5)), 500ms);
    EXPECT_EQ(wait_time(seconds_as_double(1e-12)), 1ns);
    EXPECT_EQ(wait_time(std::chrono::duration<int, std::pico>(1001)), 2ns);
}

TEST(WaitTime, TooLongIsForEver) {
    EXPECT_EQ(wait_time(pawl::forever), pawl::forever);
    EXPECT_EQ(wait_time(std::chrono::hours::max()), pawl::forever);
    EXPECT_EQ(wait_time(seconds_as_double(1e12)), pawl::forever);
    EXPECT_EQ(wait_time(seconds_as_double(std::numeric_limits<double>::infinity())), pawl::forever);
}

TEST(WaitTime, NegativeOrNoNumberIsNone) {
    EXPECT_EQ(wait_time(0s), 0ns);
    EXPECT_EQ(wait_time(-1ns), 0ns);
    EXPECT_EQ(wait_time(std::chrono::hours::min()), 0ns);
    EXPECT_EQ(wait_time(seconds_as_double(-1e30)), 0ns);
    EXPECT_EQ(wait_time(seconds_as_double(std::numeric_limits<double>::quiet_NaN())), 0ns);
}

TEST(WaitTime, OfAPointInTime) {
    using system = std::chrono::system_clock;
    using in_hours = std::chrono::time_point<system, std::chrono::hours>;
    EXPECT_EQ(wait_time_until(in_hours::max()), pawl::forever);
    EXPECT_EQ(wait_time_until(in_hours::min()), 0ns);
    EXPECT_EQ(wait_time_until(system::time_point::min()), 0ns);
    EXPECT_EQ(wait_time_until(system::now() - 1s), 0ns);
    const auto soon = wait_time_until(system::now() + 1h);
    EXPECT_GT(soon, 0ns);
    EXPECT_LE(soon, 1h);
}

}  // namespace
