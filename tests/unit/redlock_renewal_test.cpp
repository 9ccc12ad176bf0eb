// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Which answers of one round extend a hold.
#include <redis/quorum/renewal_tally.hpp>

#include <gtest/gtest.h>

namespace {

using outcome = pawl::renewal::outcome;
using pawl::redlock::membership_state;
using pawl::redlock::renewal_tally;

std::vector<membership_state> healthy(std::size_t nodes) {
    std::vector<membership_state> result(nodes);
    for (std::size_t i = 0; i < nodes; ++i) {
        result[i].incarnation = 1;
        result[i].nonce = std::to_string(i);
        for (std::size_t j = 0; j < nodes; ++j)
            result[i].vector.push_back({1, std::to_string(j)});
    }
    return result;
}

TEST(RenewalTally, AMajorityExtends) {
    const auto members = healthy(3);
    renewal_tally tally;
    EXPECT_EQ(tally.count(members, 2, outcome::extended), outcome::unknown);
    EXPECT_EQ(tally.count(members, 1, outcome::unknown), outcome::unknown);
    EXPECT_EQ(tally.count(members, 0, outcome::extended), outcome::extended);
    EXPECT_FALSE(tally.has_outdated());
}

TEST(RenewalTally, TooManyRefuse) {
    const auto members = healthy(5);
    renewal_tally tally;
    EXPECT_EQ(tally.count(members, 0, outcome::refused), outcome::unknown);
    EXPECT_EQ(tally.count(members, 1, outcome::refused), outcome::unknown);
    EXPECT_EQ(tally.count(members, 2, outcome::refused), outcome::refused);
}

//   node 0 is a master that its Sentinels have replaced; the client is cut off with it
//   the new master joined the set: nodes 1 and 2 have heard of its second incarnation
//   the new master and node 2 grant the lock to another client
//   the holder renews at nodes 0 and 1 | that must not extend its hold
TEST(RenewalTally, ANodeThatAnotherOneKnowsToHaveForgottenDoesNotCount) {
    auto members = healthy(3);
    members[1].vector[0] = {2, "later"};
    renewal_tally tally;
    EXPECT_EQ(tally.count(members, 0, outcome::extended), outcome::unknown);
    EXPECT_EQ(tally.count(members, 1, outcome::extended), outcome::unknown);
    EXPECT_TRUE(tally.has_outdated());
    EXPECT_EQ(tally.count(members, 2, outcome::extended), outcome::extended);
}

}  // namespace
