// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The rules that decide an attempt. Each has a model in models/redlock, in which leaving the rule
// out gives a token twice.
#include <redis/redlock/ballot.hpp>

#include <gtest/gtest.h>

namespace {

using pawl::redlock::ballot;
using pawl::redlock::majority_of;
using pawl::redlock::member_mark;
using pawl::redlock::membership_state;

// What the nodes of a set of three know when it has begun.
const std::vector<member_mark> first_marks{{1, "a"}, {1, "b"}, {1, "c"}};

// A node that has never forgotten anything.
membership_state healthy(std::size_t node) {
    return {.incarnation = 1, .vector = first_marks, .nonce = first_marks[node].nonce};
}
// The same, which has heard of a later memory of another node.
membership_state healthy(std::size_t node, std::size_t other, const member_mark& heard) {
    auto result = healthy(node);
    result.vector[other] = heard;
    return result;
}

// The second server has joined again, and now has the address of the first one, which lives on.
TEST(Ballot, AServerOfAnotherNodeDoesNotCount) {
    auto second = healthy(1, 1, {2, "b2"});
    second.incarnation = 2;
    second.nonce = "b2";
    ballot votes(3);
    votes.count_grant(0, second, {7});
    votes.count_grant(2, healthy(2), {7});
    EXPECT_FALSE(votes.is_won());
    EXPECT_EQ(votes.outdated_nodes(), std::vector<std::size_t>{0});
}

TEST(Ballot, TwoMajoritiesHaveANodeInCommon) {
    EXPECT_EQ(majority_of(3), 2U);
    EXPECT_EQ(majority_of(5), 3U);
    EXPECT_EQ(majority_of(7), 4U);
}

TEST(Ballot, IsWonByAMajorityWithTheLargestCounter) {
    ballot votes(3);
    votes.count_grant(0, healthy(0), {7});
    EXPECT_FALSE(votes.is_won());
    votes.count_grant(1, healthy(1), {7});
    EXPECT_TRUE(votes.is_won());
    EXPECT_EQ(votes.tokens(), std::vector<std::int64_t>{7});
}

// The node with 9 alone does not make 9 a token: the others may have been in other majorities.
TEST(Ballot, DifferentCountersMustBeConfirmed) {
    ballot votes(3);
    votes.count_grant(0, healthy(0), {7});
    votes.count_grant(1, healthy(1), {9});
    EXPECT_FALSE(votes.is_won());
    EXPECT_TRUE(votes.has_granted_majority());
    votes.fix_tokens();
    EXPECT_TRUE(votes.is_below_tokens(0));
    votes.count_confirmation(0, healthy(0));
    EXPECT_TRUE(votes.is_won());
    EXPECT_EQ(votes.tokens(), std::vector<std::int64_t>{9});
}

// Confirmations have been sent with 9. A larger token now would not be the one that they raised.
TEST(Ballot, ALateCounterDoesNotChangeTheTokens) {
    ballot votes(5);
    votes.count_grant(0, healthy(0), {7});
    votes.count_grant(1, healthy(1), {9});
    votes.count_grant(2, healthy(2), {9});
    votes.fix_tokens();
    votes.count_grant(3, healthy(0), {12});
    EXPECT_EQ(votes.tokens(), std::vector<std::int64_t>{9});
    EXPECT_FALSE(votes.is_below_tokens(3));
    EXPECT_FALSE(votes.agrees(3));
    EXPECT_FALSE(votes.is_won());
}

TEST(Ballot, IsLostWhenNoMajorityIsLeft) {
    ballot votes(5);
    votes.count_refusal(0);
    votes.count_refusal(1);
    EXPECT_FALSE(votes.is_lost());
    votes.count_loss(2);
    EXPECT_TRUE(votes.is_lost());
}

// Node 0 granted, forgot it, and joined again. Node 1 has heard of its second life, so the first
// one does not count.
TEST(Ballot, ANodeThatHasForgottenItsGrantDoesNotCount) {
    ballot votes(3);
    votes.count_grant(0, healthy(0), {7});
    votes.count_grant(1, healthy(1, 0, {2, "a2"}), {7});
    EXPECT_FALSE(votes.is_won());
    EXPECT_EQ(votes.outdated_nodes(), std::vector<std::size_t>{0});
    votes.count_grant(2, healthy(2), {7});
    EXPECT_TRUE(votes.is_won());
}

// Nodes 0 and 1 are outdated, each by the word of the other: both are judged before either is
// dropped.
TEST(Ballot, OutdatedNodesAreJudgedBeforeTheyAreDropped) {
    ballot votes(3);
    votes.count_grant(0, healthy(0, 1, {2, "b2"}), {7});
    votes.count_grant(1, healthy(1, 0, {2, "a2"}), {7});
    votes.count_grant(2, healthy(2), {7});
    EXPECT_FALSE(votes.is_won());
    EXPECT_EQ(votes.outdated_nodes(), (std::vector<std::size_t>{0, 1}));
}

//   two servers answer to the name of node 0: the second one has joined the set, as incarnation 2
//   an old client raised the first one to incarnation 2 | it is another memory, and does not count
TEST(Ballot, AnIncarnationOfAnotherMemoryDoesNotCount) {
    ballot votes(3);
    auto first = healthy(0);
    first.incarnation = 2;
    votes.count_grant(0, first, {7});
    votes.count_grant(1, healthy(1, 0, {2, "a2"}), {7});
    EXPECT_FALSE(votes.is_won());
}

//   two clients repair the same loss of node 0, and mark the same memory with 2 and with 3
TEST(Ballot, AMemoryWithTwoMarksCounts) {
    ballot votes(3);
    auto joined = healthy(0, 0, {2, "a2"});
    joined.incarnation = 2;
    joined.nonce = "a2";
    votes.count_grant(0, joined, {7});
    votes.count_grant(1, healthy(1, 0, {3, "a2"}), {7});
    EXPECT_TRUE(votes.is_won());
}

// One node agrees on each name, and so a majority on neither.
TEST(Ballot, ANodeAgreesOnlyIfItAgreesOnEveryName) {
    ballot votes(3);
    votes.count_grant(0, healthy(0), {7, 4});
    votes.count_grant(1, healthy(1), {6, 5});
    votes.count_grant(2, healthy(2), {7, 5});
    EXPECT_EQ(votes.tokens(), (std::vector<std::int64_t>{7, 5}));
    EXPECT_FALSE(votes.is_won());
    votes.fix_tokens();
    EXPECT_TRUE(votes.is_below_tokens(0));
    votes.count_confirmation(0, healthy(0));
    EXPECT_TRUE(votes.is_won());
}

}  // namespace
