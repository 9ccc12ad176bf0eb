// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "redis/redlock/round_owners.hpp"

#include <gtest/gtest.h>

#include <string>

namespace pawl::redlock {
namespace {

TEST(RoundOwners, OfTheFirstRoundAreTheClaims) {
    round_owners owners;
    owners.add(round_owners::prepare("first", "first"));
    EXPECT_EQ(owners.claimed_as("first"), "first");
    EXPECT_EQ(owners.claimed_as("unknown"), "unknown");
}

TEST(RoundOwners, AreKnownUntilTheHoldEnds) {
    round_owners owners;
    owners.add(round_owners::prepare("third", "first"));
    EXPECT_EQ(owners.claimed_as("third"), "first");
    owners.forget("first");
    EXPECT_EQ(owners.claimed_as("third"), "third");
}

TEST(RoundOwners, AreForgottenFromTheOldest) {
    round_owners owners(2);
    for (const std::string each : {"a", "b", "c"})
        owners.add(round_owners::prepare(each + " written", each));
    EXPECT_EQ(owners.claimed_as("a written"), "a written");
    EXPECT_EQ(owners.claimed_as("b written"), "b");
    EXPECT_EQ(owners.claimed_as("c written"), "c");
}

}  // namespace
}  // namespace pawl::redlock
