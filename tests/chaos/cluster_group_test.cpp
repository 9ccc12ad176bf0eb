// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The clusters of the tests: slots really move, and replicas are really promoted.
#include <support/cluster_group.hpp>
#include <support/eventually.hpp>

#include <gmock/gmock.h>

namespace {

using support::cluster_group;
using testing::StartsWith;

std::string get(cluster_group& group, std::size_t node, const std::string& key) {
    return group.node(node).execute({"GET", key}).text;
}

TEST(ClusterGroup, ASlotMovesKeyByKey) {
    cluster_group group;
    const auto slot = group.slot_of("{it}");
    const auto from = group.owner_of(slot), to = (from + 1) % 3;
    for (const auto* key : {"{it}a", "{it}b"})
        ASSERT_EQ(group.node(from).execute({"SET", key, "x"}).text, "OK");
    support::slot_move move(group, slot, to);
    move.begin();
    EXPECT_EQ(get(group, from, "{it}a"), "x");
    EXPECT_THAT(get(group, from, "{it}c"), StartsWith("ASK"));
    move.move_key("{it}a");
    EXPECT_THAT(get(group, from, "{it}a"), StartsWith("ASK"));
    EXPECT_THAT(get(group, to, "{it}a"), StartsWith("MOVED"));
    EXPECT_EQ(get(group, from, "{it}b"), "x");
    const support::command_words both{"MGET", "{it}a", "{it}b"};
    EXPECT_THAT(group.node(from).execute(both).text, StartsWith("TRYAGAIN"));
    (void)group.node(to).execute({"ASKING"});
    EXPECT_THAT(group.node(to).execute(both).text, StartsWith("TRYAGAIN"));
    EXPECT_EQ(group.owner_of(slot), from);
    move.move_all_keys();
    move.finish();
    ASSERT_TRUE(group.is_agreed());
    EXPECT_EQ(group.owner_of(slot), to);
    EXPECT_EQ(get(group, to, "{it}b"), "x");
    EXPECT_THAT(get(group, from, "{it}b"), StartsWith("MOVED"));
    EXPECT_GT(group.epoch(to), 3U) << "the new owner has no epoch of its own";
}

TEST(ClusterGroup, AMoveCanBeCancelled) {
    cluster_group group({.password = "secret", .tls = true});
    const auto slot = group.slot_of("{it}");
    const auto from = group.owner_of(slot), to = (from + 1) % 3;
    ASSERT_EQ(group.node(from).execute({"SET", "{it}a", "x"}).text, "OK");
    support::slot_move move(group, slot, to);
    move.begin();
    EXPECT_TRUE(move.move_key());
    EXPECT_FALSE(move.move_key());
    move.cancel();
    EXPECT_EQ(group.node_of("{it}a"), from);
    EXPECT_EQ(group.node(from).execute({"EXISTS", "{it}a"}).text, "0");
    EXPECT_EQ(group.node(to).execute({"CLUSTER", "COUNTKEYSINSLOT", std::to_string(slot)}).text,
              "1");
}

TEST(ClusterGroup, AReplicaTakesOverWithANewEpoch) {
    cluster_group group({.replicas = 1});
    const auto owner = group.node_of("it");
    ASSERT_EQ(group.node(owner).execute({"SET", "it", "x"}).text, "OK");
    ASSERT_TRUE(group.is_replicated(owner));
    const auto replica = group.replica_of(owner);
    const auto epoch = group.epoch(owner);
    group.take_over(replica);
    ASSERT_TRUE(group.is_promoted(replica));
    ASSERT_TRUE(group.is_agreed());
    EXPECT_EQ(group.node_of("it"), replica);
    EXPECT_GT(group.epoch(replica), epoch);
    EXPECT_EQ(get(group, replica, "it"), "x");
    EXPECT_THAT(get(group, owner, "it"), StartsWith("MOVED"));

    group.begin_failover(owner);
    ASSERT_TRUE(group.is_promoted(owner));
    EXPECT_EQ(group.node_of("it"), owner);
}

TEST(ClusterGroup, AReplicaReplacesADeadMasterForGood) {
    cluster_group group({.replicas = 1});
    const auto replica = group.replica_of(0);
    group.node(0).kill9();
    ASSERT_TRUE(group.is_promoted(replica));
    ASSERT_TRUE(group.is_agreed());
    EXPECT_EQ(group.owner_of(0), replica);
    group.node(0).start();
    ASSERT_TRUE(group.is_agreed());
    EXPECT_EQ(group.owner_of(0, 0), replica);
}

// Without full coverage, the other nodes serve their slots.
TEST(ClusterGroup, ADeadNodeStopsTheOthersOnlyWithFullCoverage) {
    for (const bool full : {true, false}) {
        cluster_group group({.full_coverage = full});
        const auto name = group.name_on(1);
        group.node(0).freeze();
        const auto is_failed = [&] {
            for (const auto& each : group.views(1))
                if (each.has_flag("fail")) return true;
            return false;
        };
        ASSERT_TRUE(support::eventually(is_failed));
        if (full)
            EXPECT_THAT(get(group, 1, "pawl:{" + name + "}"), StartsWith("CLUSTERDOWN"));
        else
            EXPECT_EQ(get(group, 1, "pawl:{" + name + "}"), "");
        group.node(0).thaw();
        EXPECT_TRUE(group.is_agreed());
    }
}

}  // namespace
