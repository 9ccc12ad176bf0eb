// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Which servers are nodes of one cluster, and which are another server, from what they tell.
#include "mysql/server_variables.hpp"

#include <gtest/gtest.h>

namespace {

using pawl::mysql::identity_of;
using pawl::mysql::is_cluster;
using pawl::mysql::is_galera;
using pawl::mysql::server_variables;

TEST(MySqlVariables, AreReadWithNamesInLowerCase) {
    const auto all = pawl::mysql::variables_in({{"Uptime", "7"}, {"wsrep_on", std::nullopt}, {}});
    EXPECT_EQ(pawl::mysql::value_of(all, "uptime"), "7");
    EXPECT_EQ(pawl::mysql::value_of(all, "wsrep_on"), "");
}

TEST(MySqlVariables, AnUptimeMayBeNegative) {
    EXPECT_EQ(pawl::mysql::uptime_of({{"uptime", "7"}}), 7);
    EXPECT_EQ(pawl::mysql::uptime_of({{"uptime", "18446744073709548020"}}), -3596);
    EXPECT_EQ(pawl::mysql::uptime_of({}), 0);
}

TEST(MySqlVariables, NodesOfAGaleraClusterAreOneServer) {
    server_variables node{{"wsrep_on", "ON"},
                          {"wsrep_cluster_state_uuid", "5e6f"},
                          {"server_uid", "a"},
                          {"hostname", "db1"}};
    auto other = node;
    other["server_uid"] = "b";
    other["hostname"] = "db2";
    EXPECT_TRUE(is_galera(node));
    EXPECT_TRUE(is_cluster(node));
    EXPECT_EQ(identity_of(node), identity_of(other));
    other["wsrep_cluster_state_uuid"] = "another";
    EXPECT_NE(identity_of(node), identity_of(other));
}

TEST(MySqlVariables, MembersOfAReplicationGroupAreOneServer) {
    server_variables node{{"server_uuid", "a"}, {"group_replication_group_name", "aaaa-bbbb"}};
    auto other = node;
    other["server_uuid"] = "b";
    EXPECT_FALSE(is_galera(node));
    EXPECT_TRUE(is_cluster(node));
    EXPECT_EQ(identity_of(node), identity_of(other));
}

// MySQL has the variables of group replication as soon as the plug-in is there.
TEST(MySqlVariables, OtherServersAreDifferent) {
    const server_variables mysql{{"server_uuid", "a"}, {"group_replication_group_name", ""}};
    const server_variables mariadb{{"wsrep_on", "OFF"},
                                   {"server_uid", "a"},
                                   {"hostname", "db1"},
                                   {"datadir", "/data"},
                                   {"port", "3306"}};
    auto copy = mariadb;
    copy["datadir"] = "/copy";
    EXPECT_FALSE(is_cluster(mysql));
    EXPECT_FALSE(is_cluster(mariadb));
    EXPECT_EQ(identity_of(mysql), "a");
    EXPECT_NE(identity_of(mariadb), identity_of(copy));
    copy["datadir"] = std::string(4096, '/');
    EXPECT_EQ(identity_of(copy).size(), 255) << "longer than its column";
}

}  // namespace
