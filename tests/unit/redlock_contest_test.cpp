// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The holder of a lock of Redlock that nodes have refused, and the attempt that keeps its nodes.
#include <redis/redlock/contest.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

using pawl::redlock::contest;
using pawl::redlock::precedence;
using pawl::redlock::rank_of;

const std::string early = "1111111111111111aaaaaaaaaaaaaaaa";
const std::string middle = "5555555555555555aaaaaaaaaaaaaaaa";
const std::string late = "9999999999999999aaaaaaaaaaaaaaaa";

TEST(Contest, OnlyOneHolderAtAMajorityHasTheLock) {
    contest rivals(middle, false, 3);
    rivals.count_refusal(0, {early});
    rivals.count_refusal(1, {late});
    EXPECT_FALSE(rivals.is_held_at(2));
    EXPECT_EQ(rivals.count_holders(), 2U);
    rivals.count_refusal(2, {late});
    EXPECT_TRUE(rivals.is_held_at(2));
}

// The same try, but its first attempt has given its nodes back by now.
TEST(Contest, TwoAttemptsOfOneTryAreTwoHolders) {
    contest rivals(middle, false, 3);
    rivals.count_refusal(0, {late});
    rivals.count_refusal(1, {rank_of(late) + "bbbbbbbbbbbbbbbb"});
    EXPECT_FALSE(rivals.is_held_at(2));
}

//   of a set, one client has the first lock at node 0, another one has the second at nodes 1 and 2
TEST(Contest, EachLockOfASetIsCountedAlone) {
    contest rivals(middle, false, 3);
    rivals.count_refusal(0, {early, ""});
    rivals.count_refusal(1, {"", early});
    EXPECT_FALSE(rivals.is_held_at(2));
    rivals.count_refusal(2, {"", early});
    EXPECT_TRUE(rivals.is_held_at(2));
}

TEST(Contest, TheFirstRankKeepsItsNodes) {
    const precedence known;
    contest of_early(early, false, 3), of_late(late, false, 3);
    of_early.count_refusal(0, {late});
    of_early.count_refusal(1, {middle});
    EXPECT_EQ(of_early.first_rank(known), std::nullopt);
    of_late.count_refusal(0, {middle});
    of_late.count_refusal(1, {early});
    EXPECT_EQ(of_late.first_rank(known), rank_of(early));
    of_late.forget(1);
    EXPECT_EQ(of_late.first_rank(known), rank_of(middle));
}

// A dead client's rest does not keep a majority from the others for ever.
TEST(Contest, ARankThatDoesNotWinIsTakenForDead) {
    precedence known;
    contest rivals(middle, false, 3);
    rivals.count_refusal(0, {early});
    int given_way = 0;
    for (auto first = rivals.first_rank(known); first; first = rivals.first_rank(known)) {
        known.give_way_to(*first);
        ASSERT_LE(++given_way, 10);
    }
    EXPECT_GT(given_way, 1);
}

// A try that waits for days meets any number of others.
TEST(Contest, TheRanksThatATryHasGivenWayToAreForgotten) {
    precedence known;
    for (int i = 0; i < 4; ++i)
        known.give_way_to(rank_of(early));
    EXPECT_FALSE(known.respects(rank_of(early)));
    for (int i = 0; i < 300; ++i)
        known.give_way_to("rank " + std::to_string(i));
    EXPECT_TRUE(known.respects(rank_of(early)));
}

TEST(Contest, WritersComeBeforeReadersAndOtherLibrariesGiveWayThemselves) {
    const precedence known;
    contest writer(late, false, 3), reader(early, true, 3);
    writer.count_refusal(0, {"readers"});
    writer.count_refusal(1, {"other 7d5f"});
    EXPECT_EQ(writer.first_rank(known), std::nullopt);
    reader.count_refusal(0, {"readers"});
    EXPECT_EQ(reader.first_rank(known), std::nullopt);
    reader.count_refusal(1, {late});
    EXPECT_EQ(reader.first_rank(known), rank_of(late));
}

}  // namespace
