// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include <redis/cluster/seed_list.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pawl::redis {
namespace {

net::endpoint host(const std::string& name) { return {name, 6379}; }
seed node(const std::string& name) { return {host(name + ".example"), name}; }
bool nobody_is_known(const std::string&) { return false; }

std::vector<std::string> ask(seed_list& seeds, int count) {
    std::vector<std::string> hosts;
    for (int i = 0; i < count; ++i)
        hosts.push_back(seeds.next(nobody_is_known).server.host);
    return hosts;
}

using names = std::vector<std::string>;

TEST(ClusterSeedList, HostsTakeTurnsUntilNodesAreKnown) {
    seed_list seeds({host("h1"), host("h2")}, 8);
    EXPECT_EQ(ask(seeds, 3), (names{"h1", "h2", "h1"}));
    EXPECT_EQ(seeds.size(), 2U);
}

TEST(ClusterSeedList, NodesAndHostsAlternate) {
    seed_list seeds({host("h1")}, 8);
    seeds.update({node("a"), node("b")});
    EXPECT_EQ(ask(seeds, 5), (names{"h1", "a.example", "h1", "b.example", "h1"}));
    EXPECT_EQ(ask(seeds, 2), (names{"a.example", "h1"}));
}

// Otherwise a node with an old view, which answers each time, would keep the client from the
// others.
TEST(ClusterSeedList, ANewViewDoesNotBeginTheRoundAgain) {
    seed_list seeds({host("h1")}, 8);
    seeds.update({node("a"), node("b")});
    EXPECT_EQ(ask(seeds, 2), (names{"h1", "a.example"}));
    seeds.update({node("a"), node("b")});
    EXPECT_EQ(ask(seeds, 2), (names{"h1", "b.example"}));
}

TEST(ClusterSeedList, ANodeThatIsListedNoLongerStays) {
    seed_list seeds({host("h1")}, 8);
    seeds.update({node("a"), node("b")});
    seeds.update({node("b")});
    EXPECT_EQ(ask(seeds, 4), (names{"h1", "b.example", "h1", "a.example"}));
}

TEST(ClusterSeedList, TheNewAddressOfANodeReplacesTheEarlierOne) {
    seed_list seeds({host("h1")}, 8);
    seeds.update({node("a")});
    seeds.update({{host("elsewhere"), "a"}});
    EXPECT_EQ(seeds.size(), 2U);
    EXPECT_EQ(ask(seeds, 2), (names{"h1", "elsewhere"}));
}

TEST(ClusterSeedList, BeyondTheBoundTheLongestUnlistedNodesAreForgotten) {
    seed_list seeds({host("h1")}, 2);
    seeds.update({node("a"), node("b")});
    seeds.update({node("c")});
    EXPECT_EQ(ask(seeds, 6), (names{"h1", "c.example", "h1", "a.example", "h1", "c.example"}));
}

TEST(ClusterSeedList, KnownNodesAreLeftOut) {
    seed_list seeds({host("h1")}, 8);
    seeds.update({node("a"), node("b")});
    const auto knows_a = [](const std::string& id) { return id == "a"; };
    EXPECT_EQ(seeds.next(knows_a).server.host, "h1");
    EXPECT_EQ(seeds.next(knows_a).node_id, "b");
    const auto knows_all = [](const std::string&) { return true; };
    EXPECT_EQ(seeds.next(knows_all).server.host, "h1");
    EXPECT_EQ(seeds.next(knows_all).server.host, "h1");
}

}  // namespace
}  // namespace pawl::redis
