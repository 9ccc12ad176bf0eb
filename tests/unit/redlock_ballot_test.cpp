// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The rules that decide an attempt. Each has a model in models/redlock, in which leaving the rule
// out gives a token twice.
#include <redis/quorum/ballot.hpp>

#include <gtest/gtest.h>

namespace {

using pawl::redlock::ballot;
using pawl::redlock::majority_of;
using pawl::redlock::membership_state;

// A node that has never forgotten anything, of three.
membership_state healthy() { return {.incarnation = 1, .vector = {1, 1, 1}, .nonce = "n"}; }

TEST(Ballot, TwoMajoritiesHaveANodeInCommon) {
    EXPECT_EQ(majority_of(3), 2U);
    EXPECT_EQ(majority_of(5), 3U);
    EXPECT_EQ(majority_of(7), 4U);
}

TEST(Ballot, IsWonByAMajorityWithTheLargestCounter) {
    ballot votes(3);
    votes.count_grant(0, healthy(), {7});
    EXPECT_FALSE(votes.is_won());
    votes.count_grant(1, healthy(), {7});
    EXPECT_TRUE(votes.is_won());
    EXPECT_EQ(votes.tokens(), std::vector<std::int64_t>{7});
}

// The node with 9 alone does not make 9 a token: the others may have been in other majorities.
TEST(Ballot, DifferentCountersMustBeConfirmed) {
    ballot votes(3);
    votes.count_grant(0, healthy(), {7});
    votes.count_grant(1, healthy(), {9});
    EXPECT_FALSE(votes.is_won());
    EXPECT_TRUE(votes.has_granted_majority());
    votes.fix_tokens();
    EXPECT_TRUE(votes.is_below_tokens(0));
    votes.count_confirmation(0, healthy());
    EXPECT_TRUE(votes.is_won());
    EXPECT_EQ(votes.tokens(), std::vector<std::int64_t>{9});
}

// Confirmations have been sent with 9. A larger token now would not be the one that they raised.
TEST(Ballot, ALateCounterDoesNotChangeTheTokens) {
    ballot votes(5);
    votes.count_grant(0, healthy(), {7});
    votes.count_grant(1, healthy(), {9});
    votes.count_grant(2, healthy(), {9});
    votes.fix_tokens();
    votes.count_grant(3, healthy(), {12});
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
    votes.count_grant(0, healthy(), {7});
    votes.count_grant(1, {.incarnation = 1, .vector = {2, 1, 1}, .nonce = "n"}, {7});
    EXPECT_FALSE(votes.is_won());
    EXPECT_EQ(votes.outdated_nodes(), std::vector<std::size_t>{0});
    votes.count_grant(2, healthy(), {7});
    EXPECT_TRUE(votes.is_won());
}

// Nodes 0 and 1 are outdated, each by the word of the other: both are judged before either is
// dropped.
TEST(Ballot, OutdatedNodesAreJudgedBeforeTheyAreDropped) {
    ballot votes(3);
    votes.count_grant(0, {.incarnation = 1, .vector = {1, 2, 1}, .nonce = "n"}, {7});
    votes.count_grant(1, {.incarnation = 1, .vector = {2, 1, 1}, .nonce = "n"}, {7});
    votes.count_grant(2, healthy(), {7});
    EXPECT_FALSE(votes.is_won());
    EXPECT_EQ(votes.outdated_nodes(), (std::vector<std::size_t>{0, 1}));
}

// One node agrees on each name, and so a majority on neither.
TEST(Ballot, ANodeAgreesOnlyIfItAgreesOnEveryName) {
    ballot votes(3);
    votes.count_grant(0, healthy(), {7, 4});
    votes.count_grant(1, healthy(), {6, 5});
    votes.count_grant(2, healthy(), {7, 5});
    EXPECT_EQ(votes.tokens(), (std::vector<std::int64_t>{7, 5}));
    EXPECT_FALSE(votes.is_won());
    votes.fix_tokens();
    EXPECT_TRUE(votes.is_below_tokens(0));
    votes.count_confirmation(0, healthy());
    EXPECT_TRUE(votes.is_won());
}

}  // namespace
