// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Which answers of the nodes extend a hold, and until when.
#include <redis/redlock/renewal_tally.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

namespace {

using namespace std::chrono_literals;
using outcome = pawl::spi::renewal::outcome;
using pawl::time_point;
using pawl::redlock::membership_state;
using pawl::redlock::renewal_tally;

constexpr time_point start{1h};

membership_state node_of_five(std::size_t node) {
    membership_state result{.incarnation = 1, .nonce = std::to_string(node)};
    for (std::size_t other = 0; other < 5; ++other)
        result.vector.push_back({1, std::to_string(other)});
    return result;
}

renewal_tally::answer answer(outcome result, membership_state member, time_point sent_at = start) {
    return {result, sent_at, std::make_shared<const membership_state>(std::move(member))};
}

TEST(RenewalTally, AMajorityExtends) {
    renewal_tally tally(3);
    tally.count(2, answer(outcome::extended, node_of_five(2)));
    EXPECT_EQ(tally.result().outcome, outcome::unknown);
    tally.count(1, answer(outcome::unknown, node_of_five(1)));
    EXPECT_EQ(tally.result().outcome, outcome::unknown);
    EXPECT_FALSE(tally.has_extended(1));
    tally.count(0, answer(outcome::extended, node_of_five(0)));
    EXPECT_EQ(tally.result().outcome, outcome::extended);
    EXPECT_FALSE(tally.has_outdated());
}

TEST(RenewalTally, TooManyRefuse) {
    renewal_tally tally(5);
    tally.count(0, answer(outcome::refused, node_of_five(0)));
    tally.count(1, answer(outcome::refused, node_of_five(1)));
    tally.count(1, answer(outcome::refused, node_of_five(1)));
    EXPECT_EQ(tally.result().outcome, outcome::unknown);
    tally.count(2, answer(outcome::refused, node_of_five(2)));
    EXPECT_EQ(tally.result().outcome, outcome::refused);
}

//   node 0 extends the hold for a request of the first moment, node 1 for one that was sent a
//   second later, node 2 for one two seconds later
//   nodes 0 and 1 may end it a ttl after the first request, nodes 1 and 2 not before a second more
TEST(RenewalTally, TheOldestRequestThatCountsSaysUntilWhen) {
    renewal_tally tally(3);
    tally.count(0, answer(outcome::extended, node_of_five(0), start));
    tally.count(1, answer(outcome::extended, node_of_five(1), start + 1s));
    EXPECT_EQ(tally.result().sent_at, start);
    tally.count(2, answer(outcome::extended, node_of_five(2), start + 2s));
    EXPECT_EQ(tally.result().sent_at, start + 1s);
}

//   node 0 extends the hold | it is restarted, and refuses the next request
TEST(RenewalTally, TheLastAnswerOfANodeCounts) {
    renewal_tally tally(3);
    tally.count(0, answer(outcome::extended, node_of_five(0)));
    tally.count(0, answer(outcome::refused, node_of_five(0), start + 1s));
    tally.count(1, answer(outcome::extended, node_of_five(1), start + 1s));
    EXPECT_EQ(tally.result().outcome, outcome::unknown);
}

//   node 0 is a master that its Sentinels have replaced; the client is cut off with it
//   the new master joined the set: nodes 1 and 2 have heard of its second incarnation
//   the new master and node 2 grant the lock to another client
//   the holder renews at nodes 0 and 1 | that must not extend its hold
TEST(RenewalTally, ANodeThatAnotherOneKnowsToHaveForgottenDoesNotCount) {
    auto second = node_of_five(1);
    second.vector[0] = {2, "later"};
    renewal_tally tally(3);
    tally.count(0, answer(outcome::extended, node_of_five(0)));
    tally.count(1, answer(outcome::extended, second));
    EXPECT_EQ(tally.result().outcome, outcome::unknown);
    EXPECT_TRUE(tally.has_outdated());
    tally.count(2, answer(outcome::extended, node_of_five(2)));
    EXPECT_EQ(tally.result().outcome, outcome::extended);
}

}  // namespace
