// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Which server the Sentinels elect, from what each of them says.
#include <redis/sentinel/vote.hpp>

#include <gtest/gtest.h>

#include <deque>
#include <vector>

namespace pawl::redis {
namespace {

class SentinelVote : public ::testing::Test {
protected:
    // The Sentinel `id` names the server at `port`, and knows these others.
    void says(const std::string& id, std::uint16_t port, std::uint64_t epoch,
              const std::vector<std::string>& others) {
        sentinel_view& view = all_.emplace_back();
        view.id = id;
        view.master.server.host = "host";
        view.master.server.port = port;
        view.master.epoch = epoch;
        for (const auto& each : others)
            view.peers.push_back({each, {}});
        views_.push_back(&view);
    }
    // The port of the elected master; 0: none.
    [[nodiscard]] unsigned elected(std::size_t configured = 3) const {
        const auto master = elected_master(views_, configured);
        return master ? master->server.port : 0U;
    }

    std::deque<sentinel_view> all_;
    std::vector<const sentinel_view*> views_;
};

TEST_F(SentinelVote, NeedsAMajorityOfTheConfiguredOnes) {
    says("a", 1, 1, {});
    EXPECT_EQ(elected(), 0U) << "one of three";
    says("b", 1, 1, {});
    EXPECT_EQ(elected(), 1U) << "two of three";
}

TEST_F(SentinelVote, NeedsAMajorityOfTheKnownOnes) {
    says("a", 1, 1, {"b", "c"});
    EXPECT_EQ(elected(1), 0U) << "the URL names one of three";
    says("b", 1, 1, {"a", "c"});
    EXPECT_EQ(elected(1), 1U);
}

//   a: was isolated before the failover, and names the old master | b and c: name the new one
TEST_F(SentinelVote, IgnoresOneThatIsStale) {
    says("a", 1, 1, {"b", "c"});
    says("b", 2, 2, {"a", "c"});
    EXPECT_EQ(elected(), 0U) << "in the middle of the switch";
    says("c", 2, 2, {"a", "b"});
    EXPECT_EQ(elected(), 2U);
}

// The old master of one epoch, and the same server as a new master: its tokens differ.
TEST_F(SentinelVote, IsAboutTheEpochToo) {
    says("a", 1, 1, {});
    says("b", 1, 3, {});
    EXPECT_EQ(elected(), 0U);
    says("c", 1, 3, {});
    EXPECT_EQ(elected(), 1U);
}

// The third one lists members that the others do not know. They do not count.
TEST_F(SentinelVote, IsNotBlockedByOneThatInventsMembers) {
    says("a", 1, 1, {"b", "c"});
    says("b", 1, 1, {"a", "c"});
    says("c", 9, 9, {"a", "b", "d", "e", "f", "g"});
    EXPECT_EQ(members(views_).size(), 3U);
    EXPECT_EQ(elected(), 1U);
}

// Two addresses in the URL lead to one Sentinel: one vote.
TEST_F(SentinelVote, CountsASentinelAtTwoAddressesOnce) {
    says("a", 1, 1, {"b", "c"});
    says("a", 1, 1, {"b", "c"});
    EXPECT_EQ(elected(), 0U);
}

// It answered at one address before it learned of the failover, and at the other one afterwards.
TEST_F(SentinelVote, CountsTheNewerAnswerOfASentinel) {
    says("a", 1, 1, {"b", "c"});
    says("a", 2, 2, {"b", "c"});
    says("b", 2, 2, {"a", "c"});
    says("c", 1, 1, {"a", "b"});
    EXPECT_EQ(elected(), 2U);
}

TEST_F(SentinelVote, OfAnEvenNumberNeedsMoreThanHalf) {
    says("a", 1, 1, {"b", "c", "d"});
    says("b", 1, 1, {"a", "c", "d"});
    says("c", 2, 2, {"a", "b", "d"});
    says("d", 2, 2, {"a", "b", "c"});
    EXPECT_EQ(elected(), 0U);
}

}  // namespace
}  // namespace pawl::redis
