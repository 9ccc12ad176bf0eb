// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The names of user locks, and the servers whose user locks and locked rows are not those of all.
#include "mysql/session_connector.hpp"

#include <pawl/error.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace pawl::mysql {
namespace {

std::optional<errc> refusal_of(std::string_view name) {
    try {
        static_cast<void>(user_lock_name(name));
        return std::nullopt;
    } catch (const error& failed) {
        return failed.reason();
    }
}

TEST(MySqlUserLock, OfLowerCaseIsTheNameItself) {
    for (const std::string name : {"orders", "a b", "0", "straße", "日本", "a:b/c"})
        EXPECT_EQ(user_lock_name(name), name);
    EXPECT_EQ(user_lock_name(std::string(64, 'x')), std::string(64, 'x'));
}

TEST(MySqlUserLock, OfOtherNamesHasTheHashOfDistributedLock) {
    EXPECT_EQ(user_lock_name("Orders"), "orders7col6v7a2vpxbxbpw2bcg5rzsgfwgenc");
    const auto of_long_name = user_lock_name(std::string(65, 'x'));
    EXPECT_EQ(of_long_name.size(), 64U);
    EXPECT_TRUE(of_long_name.starts_with(std::string(32, 'x')));
    EXPECT_NE(of_long_name, user_lock_name(std::string(66, 'x')));
}

TEST(MySqlUserLock, OfWhatServersConfuseIsRefused) {
    EXPECT_EQ(refusal_of("Ä"), errc::bad_name);
    EXPECT_EQ(refusal_of("\xF0\x9F\x94\x92"), errc::bad_name);
    EXPECT_EQ(refusal_of("\xFF\xFE"), errc::bad_name);
    EXPECT_EQ(refusal_of("a\xC3"), errc::bad_name);
    EXPECT_EQ(refusal_of("\xC0\xAF"), errc::bad_name);
    EXPECT_EQ(refusal_of("\xED\xA0\x80"), errc::bad_name);
}

class MySqlNodes : public testing::Test {
protected:
    std::string refusal(const server_variables& answer, lock_kind kind, bool one_node = false) {
        options settings;
        settings.kind = kind;
        settings.one_node = one_node;
        try {
            check_nodes(answer, settings, {"MariaDB at db:3306", "pawl"});
            return {};
        } catch (const error& failed) {
            reason = failed.reason();
            return failed.what();
        }
    }
    errc reason{};
};

TEST_F(MySqlNodes, OfAClusterAreRefused) {
    const server_variables galera{{"wsrep_on", "ON"}};
    const server_variables group{{"group_replication_group_name", "a-b"}};
    EXPECT_EQ(
        refusal(galera, lock_kind::session),
        "MariaDB at db:3306 is a node of a cluster, whose nodes do not know each other's user "
        "locks; leave out mode=session, or add one_node=yes if all clients use this node "
        "only.");
    EXPECT_EQ(reason, errc::unsupported);
    EXPECT_EQ(refusal(group, lock_kind::row),
              "MariaDB at db:3306 is a node of a cluster, whose nodes do not know each other's "
              "locked rows; leave out mode=row, or add one_node=yes if all clients use this node "
              "only.");
    EXPECT_EQ(refusal(galera, lock_kind::session, true), "");
    EXPECT_EQ(refusal({{"wsrep_on", "OFF"}}, lock_kind::session), "");
}

TEST_F(MySqlNodes, ThatAcceptNoWritesMayAcceptThemLater) {
    EXPECT_NE(refusal({{"read_only", "ON"}}, lock_kind::session), "");
    EXPECT_EQ(reason, errc::unavailable);
}

}  // namespace
}  // namespace pawl::mysql
