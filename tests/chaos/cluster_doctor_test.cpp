// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What `pawl doctor` reports about clusters, also about those with missing nodes.
#include "redis_fixture.hpp"

#include <support/cluster_group.hpp>

#include <gmock/gmock.h>

#include <sstream>

namespace {

using namespace chaos;
using support::cluster_group;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ClusterDoctor : public testing::Test {
protected:
    // A line for each finding: GRADE TOPIC @NODE: FACT | ADVICE
    [[nodiscard]] std::string rows_of(const std::string& url) {
        client locks(pawl::from_url(url));
        report = locks.examine();
        std::string rows;
        for (const auto& each : report.findings)
            rows += std::string(each.level == pawl::finding::grade::bad ? "bad " : "") +
                    each.topic + " @" + each.node + ": " + each.fact + " | " + each.advice + "\n";
        return rows;
    }
    [[nodiscard]] static std::string at(cluster_group& group, std::size_t node) {
        return "127.0.0.1:" + std::to_string(group.node(node).port());
    }
    [[nodiscard]] static auto count(const std::string& rows, const std::string& begin) {
        std::istringstream lines(rows);
        std::ptrdiff_t result = 0;
        for (std::string line; std::getline(lines, line);)
            result += line.starts_with(begin) ? 1 : 0;
        return result;
    }

    pawl::examination report;
};

// Slot 0 is the dead node's, so the first question of the report is about it.
TEST_F(ClusterDoctor, ReportsTheOtherNodesWhenOneIsDead) {
    cluster_group group({.node_timeout = 60s, .full_coverage = false});
    group.node(0).kill9();
    const auto rows = rows_of(group.url("?connect_timeout=2000&reply_timeout=2000"));
    EXPECT_THAT(rows, HasSubstr("bad server @" + at(group, 0) + ": The node " + at(group, 0) +
                                " could not be reached"));
    for (const std::size_t node : {1, 2})
        EXPECT_EQ(count(rows, "server @" + at(group, node) + ": redis"), 1) << rows;
    EXPECT_THAT(report.guarantees.backend, HasSubstr("in a cluster"));
    EXPECT_EQ(report.nodes.size(), 3U);
}

TEST_F(ClusterDoctor, ReportsTheOtherNodesWhenOneRefuses) {
    cluster_group group({.password = "loud"});
    (void)group.node(2).execute({"CONFIG", "SET", "requirepass", "other"});
    auto url = group.url();
    url.insert(url.find("//") + 2, ":loud@");
    const auto rows = rows_of(url);
    EXPECT_THAT(rows, AllOf(HasSubstr("bad server @" + at(group, 2) + ": the node " + at(group, 2)),
                            HasSubstr("set the same user at all nodes")));
    EXPECT_EQ(count(rows, "server @" + at(group, 1) + ": redis"), 1) << rows;
}

// Clients use the cluster of the host that answers first.
TEST_F(ClusterDoctor, FindsAHostOfAnotherCluster) {
    cluster_group group, other;
    const auto rows = rows_of("redis+cluster://" + at(group, 0) + "," + at(other, 0));
    EXPECT_EQ(count(rows, "bad hosts @"), 1) << rows;
    EXPECT_THAT(rows, HasSubstr(" belongs to another cluster | two clients with this URL may"));
}

TEST_F(ClusterDoctor, FailsWhenNoNodeAnswers) {
    cluster_group group;
    for (std::size_t node = 0; node < 3; ++node)
        group.node(node).kill9();
    EXPECT_THROW((void)rows_of(group.url("?connect_timeout=1000")), pawl::error);
}

TEST_F(ClusterDoctor, HasEachRowOnceForEachNode) {
    cluster_group group({.node_timeout = 60s});
    const auto rows = rows_of(group.url());
    for (std::size_t node = 0; node < 3; ++node) {
        const auto name = " @" + at(group, node) + ": ";
        EXPECT_EQ(count(rows, "replicas" + name), 1) << rows;
        EXPECT_THAT(rows, AllOf(HasSubstr("replicas" + name + "none | nothing replaces this node"),
                                HasSubstr("cluster-node-timeout" + name +
                                          "60000 ms | a failover after a crash ends every hold "
                                          "whose ttl is below about 182 s"),
                                HasSubstr("cluster-require-full-coverage" + name +
                                          "yes | while one slot has no node, all nodes refuse")));
    }
    EXPECT_THAT(rows, Not(HasSubstr("min-replicas-to-write")));
}

TEST_F(ClusterDoctor, AdvisesOnMastersThatNeedNoReplica) {
    cluster_group group({.replicas = 1, .full_coverage = false});
    (void)group.node(1).execute({"CONFIG", "SET", "min-replicas-to-write", "1"});
    const auto rows = rows_of(group.url());
    EXPECT_THAT(rows,
                AllOf(HasSubstr("min-replicas-to-write @" + at(group, 0) +
                                ": 0 | a master that is cut off from its replicas"),
                      HasSubstr("min-replicas-to-write @" + at(group, 1) + ": 1 | \n"),
                      HasSubstr("cluster-require-full-coverage @" + at(group, 0) + ": no | \n")));
    for (std::size_t node = 0; node < 3; ++node)
        EXPECT_EQ(count(rows, "replicas @" + at(group, node) + ": "), 1) << rows;
}

TEST_F(ClusterDoctor, ShowsTheEpochOfEachMaster) {
    cluster_group group({.node_timeout = 60s});
    const auto rows = rows_of(group.url());
    for (std::size_t node = 0; node < 3; ++node)
        EXPECT_THAT(rows, HasSubstr("config epoch @" + at(group, node) + ": " +
                                    std::to_string(group.epoch(node)) + " | \n"));
}

// The advice is the same for all of them.
TEST_F(ClusterDoctor, FindsNodesThatServeWithoutAPassword) {
    cluster_group group({.password = "loud"});
    (void)group.node(1).execute({"ACL", "SETUSER", "locks", "on", ">quiet", "~*", "&*", "+@all"});
    for (const std::size_t node : {0, 2}) {
        (void)group.node(node).execute(
            {"ACL", "SETUSER", "locks", "on", ">quiet", "~*", "&*", "+@all"});
        (void)group.node(node).execute({"ACL", "SETUSER", "default", "nopass"});
    }
    auto url = group.url();
    url.insert(url.find("//") + 2, "locks:quiet@");
    const auto rows = rows_of(url);
    for (const std::size_t node : {0, 2})
        EXPECT_THAT(rows, HasSubstr("default user @" + at(group, node) +
                                    ": works without a password | any client that reaches"));
    EXPECT_THAT(rows, HasSubstr("default user @" + at(group, 1) + ": off, or has a password | \n"));
}

// Redis 7 has no SET with IFEQ. A node that stands still must not delay the report for ever.
TEST_F(ClusterDoctor, SaysOfEachNodeWhetherItNeedsScripts) {
    cluster_group group({.node_timeout = 60s});
    group.node(2).freeze();
    const auto rows = rows_of(group.url("?scripts=no&connect_timeout=1000&reply_timeout=1000"));
    group.node(2).thaw();
    for (const std::size_t node : {0, 1})
        EXPECT_THAT(rows, HasSubstr("bad SET with IFEQ @" + at(group, node) + ": not understood"));
    EXPECT_THAT(rows, HasSubstr("bad server @" + at(group, 2)));
    EXPECT_THAT(report.guarantees.holder_crash, HasSubstr("does not apply"));
}

}  // namespace
