// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What nodes know of each other's memories.
#include <redis/redlock/membership.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

namespace {

using namespace pawl::redlock;

membership_state state_of(const std::string& vector, std::int64_t incarnation,
                          const std::string& nonce) {
    return {.incarnation = incarnation, .vector = parse_marks(vector), .nonce = nonce};
}

TEST(Membership, MarksHaveATextForm) {
    const auto marks = parse_marks("1:a0 12:b1.7 3:c2");
    ASSERT_EQ(marks.size(), 3U);
    EXPECT_EQ(marks[1].incarnation, 12);
    EXPECT_EQ(marks[1].nonce, "b1.7");
    EXPECT_EQ(text_of(marks), "1:a0 12:b1.7 3:c2");
}

TEST(Membership, WhatIsNoMarkIsNotSound) {
    const std::string good = "1:a 1:b 1:c";
    EXPECT_TRUE(is_sound(state_of(good, 1, "a"), 7, 3));
    for (const std::string vector :
         {"", "1 1 1", "1:a 1:b", "1:a 1:b 1:", "1:a 1:b x:c", "1:a 1:b 99999999999999:c",
          "1:a 1:b 0:c", "1:a 1:b -1:c", "1:a 1:b 1:c 1:d"})
        EXPECT_FALSE(is_sound(state_of(vector, 1, "a"), 7, 3)) << vector;
    EXPECT_FALSE(is_sound(state_of(good, 0, "a"), 7, 3));
    EXPECT_FALSE(is_sound(state_of(good, 1, ""), 7, 3));
    EXPECT_FALSE(is_sound(state_of(good, 1, "a"), absurd_token, 3));
    EXPECT_FALSE(is_sound(state_of(good, 1, "a"), -1, 3));
}

TEST(Membership, OneMemoryIsNeverLaterThanItself) {
    const auto other = state_of("5:a 1:b 1:c", 1, "b");
    EXPECT_FALSE(has_heard_of_later(other, 0, state_of("", 2, "a")));
    EXPECT_TRUE(has_heard_of_later(other, 0, state_of("", 5, "a2")));
    EXPECT_TRUE(has_heard_of_later(other, 0, state_of("", 4, "a2")));
    EXPECT_FALSE(has_heard_of_later(other, 0, state_of("", 6, "a2")));
    EXPECT_FALSE(has_heard_of_later(other, 3, state_of("", 6, "a2")));
}

// The address of a node has passed to the server of another one.
TEST(Membership, AServerOfAnotherNodeDoesNotPassForThisOne) {
    const auto second = state_of("1:a 2:b 1:c", 2, "b");
    EXPECT_FALSE(is_of_another_node(second, 1));
    EXPECT_TRUE(is_of_another_node(second, 0));
    EXPECT_FALSE(has_heard_of_later(state_of("1:a 2:b 1:c", 1, "c"), 0, second))
        << "its incarnation is above that of the node whose address it has";
}

// Two clients with different servers behind one name: one of the marks has reached each node.
TEST(Membership, TwoMemoriesOfOneIncarnationAreBothOutdated) {
    auto marks = parse_marks("2:x 1:b 4:c");
    merge_marks(marks, parse_marks("2:y 3:b2 1:c1"));
    EXPECT_EQ(text_of(marks), "2:- 3:b2 4:c");
    const membership_state merged{.incarnation = 4, .vector = marks, .nonce = "c"};
    EXPECT_TRUE(has_heard_of_later(merged, 0, state_of("", 2, "x")));
    EXPECT_TRUE(has_heard_of_later(merged, 0, state_of("", 2, "y")));
}

TEST(Membership, ANewIncarnationIsAboveThoseOfOtherMemories) {
    const auto other = state_of("5:a 1:b 1:c", 1, "b");
    EXPECT_EQ(next_incarnation(other, 0, "a"), 5);
    EXPECT_EQ(next_incarnation(other, 0, "a2"), 6);
    EXPECT_EQ(next_incarnation(other, 7, "a2"), 1);
}

TEST(Membership, ANonceTellsTheEpochOfItsMaster) {
    EXPECT_EQ(make_nonce("0123", 0), "0123");
    EXPECT_EQ(make_nonce("0123", 17), "0123.17");
    EXPECT_EQ(epoch_of("0123"), 0U);
    EXPECT_EQ(epoch_of("0123.17"), 17U);
}

TEST(Membership, NoClockGivesAnAbsurdToken) {
    for (const auto us :
         {std::int64_t{0}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::min(),
          std::numeric_limits<std::int64_t>::max()}) {
        EXPECT_GE(token_of_clock(us), 0) << us;
        EXPECT_LT(token_of_clock(us), absurd_token) << us;
    }
}

TEST(Membership, TheFurthestClockDiffersMostFromTheMedian) {
    using namespace std::chrono_literals;
    const auto of_three = furthest_clock({10s, 3610s, 12s});
    EXPECT_EQ(of_three.node, 1U);
    EXPECT_EQ(of_three.ahead, 3598s);
    const auto behind = furthest_clock({7s, -90s, 8s, 9s, 10s});
    EXPECT_EQ(behind.node, 1U);
    EXPECT_EQ(behind.ahead, -98s);
    EXPECT_EQ(furthest_clock({5s, 5s, 5s}).ahead, 0s);
}

TEST(Membership, AClockIsSoundFor100YearsFrom1970) {
    EXPECT_TRUE(is_sound_clock(0));
    EXPECT_TRUE(is_sound_clock(1'800'000'000'000'000));
    EXPECT_FALSE(is_sound_clock(-1));
    EXPECT_FALSE(is_sound_clock(3'155'760'000'000'000));
    EXPECT_FALSE(is_sound_clock(std::numeric_limits<std::int64_t>::max()));
}

TEST(Membership, TokensTellTheTimeBetweenThem) {
    const auto first = token_of_clock(1'800'000'000'000'000);
    const auto second = token_of_clock(1'800'000'090'000'000);
    EXPECT_EQ(time_between(first, second).count(), 90);
    EXPECT_EQ(time_between(second, first).count(), -90);
    EXPECT_EQ(time_between(first, first).count(), 0);
}

}  // namespace
