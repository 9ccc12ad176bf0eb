// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include <redis/cluster/node_list.hpp>
#include <redis/cluster/slot_map.hpp>

#include <gtest/gtest.h>

namespace pawl::redis {
namespace {

const std::string first_id(40, 'a'), second_id(40, 'b'), third_id(40, 'c');

TEST(ClusterNodeList, IsThatOfRedis7) {
    const auto nodes = parse_node_list(
        first_id +
        " 10.0.0.1:7001@17001,one.example myself,master - 0 0 12 connected 0-5459 5460 " +
        "[77->-" + second_id + "]\n" + second_id +
        " ::1:7002@17002 master,fail? - 1 2 3 disconnected 5461-16383\n" + third_id +
        " :7003@17003,,tls-port=0,shard-id=x slave " + first_id + " 0 1 12 connected\n");
    ASSERT_EQ(nodes.size(), 3U);
    EXPECT_EQ(nodes[0].host, "10.0.0.1");
    EXPECT_EQ(nodes[0].name, "one.example");
    EXPECT_EQ(nodes[0].port, 7001);
    EXPECT_TRUE(nodes[0].is_myself && nodes[0].is_master && !nodes[0].is_failing);
    EXPECT_EQ(nodes[0].epoch, 12U);
    EXPECT_EQ(nodes[0].slots,
              (std::vector<std::pair<unsigned, unsigned>>{{0, 5459}, {5460, 5460}}));
    EXPECT_EQ(nodes[1].host, "::1");
    EXPECT_EQ(nodes[1].port, 7002);
    EXPECT_TRUE(nodes[1].is_failing);
    EXPECT_EQ(nodes[2].host, "");
    EXPECT_EQ(nodes[2].name, "");
    EXPECT_FALSE(nodes[2].is_master);
    EXPECT_EQ(nodes[2].master_id, first_id);
}

TEST(ClusterNodeList, LeavesOutNodesThatCannotBeReached) {
    const auto nodes =
        parse_node_list(first_id + " :7001@17001 myself,master - 0 0 1 connected\n" + second_id +
                        " :0@0 master,noaddr - 0 0 2 disconnected 1\n" + third_id +
                        " 10.0.0.3:7003@17003 handshake - 0 0 0 connected\n");
    EXPECT_EQ(nodes.size(), 1U);
}

TEST(ClusterNodeList, IsEmptyForOtherTexts) {
    const auto line = first_id + " 10.0.0.1:7001@17001 myself,master - 0 0 1 connected ";
    EXPECT_EQ(parse_node_list(line + "0-16383").size(), 1U);
    for (const auto& wrong : {std::string(), std::string("OK"), line + "0-16384", line + "9-3",
                              line + "x", line + "0\n" + line + "1", line + "0-16383 0",
                              first_id + " 10.0.0.1 myself,master - 0 0 1 connected",
                              first_id + " 10.0.0.1:70001@1 myself,master - 0 0 1 connected",
                              first_id + " 10.0.0.1:7001@17001 master - 0 0 1 connected 1",
                              first_id + " 10.0.0.1:7001@17001 myself,master - 0 0 -1 connected"})
        EXPECT_TRUE(parse_node_list(wrong).empty()) << wrong;
}

TEST(SlotMap, BelievesTheViewWithTheHigherEpoch) {
    slot_map slots;
    EXPECT_EQ(slots.master_of(7), slot_map::nobody);
    EXPECT_TRUE(slots.assign(7, 0, 5));
    EXPECT_FALSE(slots.assign(7, 0, 6)) << "nothing new";
    EXPECT_FALSE(slots.assign(7, 1, 5)) << "an older view";
    EXPECT_EQ(slots.master_of(7), 0U);
    EXPECT_TRUE(slots.assign(7, 1, 6));
    EXPECT_EQ(slots.master_of(7), 1U);
    EXPECT_EQ(slots.master_of(8), slot_map::nobody);
}

// A node with another address has another number, and requests must not go to the earlier one.
TEST(SlotMap, LeavesNoSlotWithAnEarlierNumber) {
    slot_map slots;
    EXPECT_TRUE(slots.assign(7, 1, 5));
    EXPECT_TRUE(slots.assign(9, 2, 5));
    slots.renumber(1, 3);
    EXPECT_EQ(slots.master_of(7), 3U);
    EXPECT_EQ(slots.master_of(9), 2U);
    EXPECT_EQ(slots.master_of(8), slot_map::nobody);
    EXPECT_FALSE(slots.assign(7, 2, 4)) << "the view is as old as before";
}

TEST(SlotMap, BelievesEveryViewOfASlotThatWasGivenUp) {
    slot_map slots;
    EXPECT_TRUE(slots.assign(7, 0, 5));
    slots.give_up(7);
    EXPECT_EQ(slots.master_of(7), 0U);
    EXPECT_TRUE(slots.assign(7, 1, 2));
    EXPECT_EQ(slots.master_of(7), 1U);
}

}  // namespace
}  // namespace pawl::redis
