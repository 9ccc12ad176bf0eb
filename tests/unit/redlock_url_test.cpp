// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// URLs of Redlock whose nodes may have Sentinels.
#include <pawl/error.hpp>
#include <pawl/redlock.hpp>
#include <pawl/service.hpp>

#include <redis/redlock/redlock_options.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <utility>

namespace pawl {
namespace {

std::string digest_of(const char* url) {
    return redlock::set_digest(redlock::in_order(redlock::parse(url)));
}

TEST(RedlockUrls, ANodeMayBeAMasterThatSentinelsName) {
    const auto settings = redlock::parse("redlocks://u:p@a,orders=s1+[::1]:7+s3:1,b:2/3?ca=/c");
    ASSERT_EQ(settings.nodes.size(), 3U);
    const auto& monitored = std::get<redis::sentinels>(settings.nodes.front());
    EXPECT_EQ(monitored.master_name, "orders");
    ASSERT_EQ(monitored.addresses.size(), 3U);
    EXPECT_EQ(monitored.addresses[0].port, 26379);
    EXPECT_EQ(monitored.addresses[1].host, "::1");
    EXPECT_EQ(settings.user + settings.password, "up");
    EXPECT_EQ(settings.database, 3U);
    EXPECT_TRUE(settings.tls.enabled);
    EXPECT_EQ(settings.tls.ca_file, "/c");
    EXPECT_TRUE(monitored.tls.enabled);
    EXPECT_EQ(std::get<redis::server>(settings.nodes[1]).host, "a");
    EXPECT_EQ(std::get<redis::server>(settings.nodes[2]).port, 2);
}

TEST(RedlockUrls, OptionsOfSentinelsAreForThoseOfAllNodes) {
    ASSERT_EQ(::setenv("PAWL_UNIT_SENTINELS", "secret", 1), 0);
    const auto settings = redlock::parse(
        "redlock://a,x=s1,y=s2?sentinel_user=eye&sentinel_password_env=PAWL_UNIT_SENTINELS");
    for (std::size_t i = 0; i < 2; ++i) {
        const auto& monitored = std::get<redis::sentinels>(settings.nodes[i]);
        EXPECT_EQ(monitored.user, "eye");
        EXPECT_EQ(monitored.password, "secret");
    }
}

TEST(RedlockUrls, AStructNamesTheSameNodes) {
    const redlock::options settings{
        .nodes = {redis::server{"b"},
                  redis::sentinels{.addresses = {{"s2", 1}, {"s1"}}, .master_name = "orders"},
                  redis::server{"a", 2}},
        .database = 1,
        .name_space = "shop"};
    EXPECT_EQ(redlock::at(settings).describe(),
              "redlock://a:2,b:6379,orders=s1:26379+s2:1/1?namespace=shop");
}

TEST(RedlockUrls, EachNodeHasWhatAllShare) {
    redlock::options settings{.nodes = {redis::server{"a"}}};
    settings.user = "u";
    settings.password = "p";
    settings.password_file = "/p";
    settings.credentials = [] { return login{"v", "q"}; };
    settings.database = 3;
    settings.tls.ca_file = "/c";
    settings.name_space = "shop";
    settings.key = "{name}";
    settings.layout = redis::key_layout::redisson;
    settings.connect_timeout = std::chrono::seconds(1);
    settings.reply_timeout = std::chrono::seconds(2);
    settings.token_retention = std::chrono::seconds(3);
    const auto node = redlock::options_of_node(settings, 0);
    EXPECT_EQ(std::get<redis::server>(node.where).host, "a");
    EXPECT_EQ(node.user + node.password + node.password_file, "up/p");
    EXPECT_EQ(node.credentials(), (login{"v", "q"}));
    EXPECT_EQ(node.database, 3U);
    EXPECT_EQ(node.tls.ca_file, "/c");
    EXPECT_EQ(node.name_space + node.key, "shop{name}");
    EXPECT_EQ(node.layout, redis::key_layout::redisson);
    EXPECT_EQ(node.connect_timeout, std::chrono::seconds(1));
    EXPECT_EQ(node.reply_timeout, std::chrono::seconds(2));
    EXPECT_EQ(node.token_retention, std::chrono::seconds(3));
}

TEST(RedlockUrls, AreShownInOneForm) {
    const std::pair<const char*, const char*> table[] = {
        {"redlock://u:p@b,a,c", "redlock://a:6379,b:6379,c:6379/0"},
        {"redlock://orders=s2:1+s1,b,a:2", "redlock://a:2,b:6379,orders=s1:26379+s2:1/0"},
        {"redlocks://x=s,y=s,z=[::1]:5/1?ttl_max=1000",
         "redlocks://x=s:26379,y=s:26379,z=[::1]:5/1?ttl_max=1000"}};
    for (const auto& [url, shown] : table) {
        EXPECT_EQ(from_url(url).describe(), shown);
        EXPECT_EQ(from_url(shown).describe(), shown);
    }
}

// The digest is what the nodes compare.
TEST(RedlockUrls, TheOrderOfNodesAndSentinelsDoesNotMatter) {
    const auto set = digest_of("redlock://a,b,orders=s1+s2");
    EXPECT_EQ(digest_of("redlock://orders=s2:26379+s1,b:6379,a"), set);
    EXPECT_NE(digest_of("redlock://a,b,orders=s1+s3"), set);
    EXPECT_NE(digest_of("redlock://a,b,other=s1+s2"), set);
}

TEST(RedlockUrls, MistakesAreAnsweredWithWhatToWrite) {
    const std::pair<const char*, const char*> table[] = {
        {"redlock://a,b,=s1", "without the name of a master"},
        {"redlock://a,b,orders=", "has an empty Sentinel"},
        {"redlock://a,b,orders=s1+", "has an empty Sentinel"},
        {"redlock://a,b,orders=s1+:7", "has an empty Sentinel"},
        {"redlock://a,b,orders=s1:x", "port is not a number"},
        {"redlock://a,orders=s1,orders=s1", "orders=s1:26379 is named twice"},
        {"redlock://a,b,orders=s1+s1", "The Sentinel s1:26379 of orders is named twice"},
        {"redlock://a,orders=s1+s2", "3, 5 or 7"},
        {"redis://orders=s1", "only redlock:// takes NAME=SENTINEL1+SENTINEL2"},
        {"redis+sentinel://a,orders=s1/orders", "only redlock:// takes NAME=SENTINEL1+SENTINEL2"},
        {"redlock://a,b,c?sentinel_user=x", "has no node with Sentinels"},
        {"redlock://a,b,c=s?sentinel_user=x", "sentinel_user has no password"},
        {"redlock://a,b,c?colour=red", "known are ttl_max, fenced, namespace"},
        {"redlock://a,b,c?ca=/c", "Only redlocks:// has TLS"},
        {"redlock://a,b,c?object=lock", "leave out object"},
        {"redlock://a,b,c?fenced=no&layout=redisson&object=readwrite", "leave out object"},
        {"redlock://a,b,c?layout=redisson", "Redlock with fencing needs the native layout"},
        {"redlock://a,b,c?scripts=no", "Redlock needs scripts; leave out scripts."},
        {"redlock://a,b,c?ttl_max=", "ttl_max= is empty"},
        {"redlock://a,b,c?ttl_max=10&ttl_max=20", "twice"},
        {"redlock://a,b,c/x", "'x' is not a database"},
        {"redlock://a, b,c", "contains a blank"}};
    for (const auto& [url, part] : table) {
        try {
            static_cast<void>(from_url(url));
            ADD_FAILURE() << url << " was accepted";
        } catch (const error& e) {
            EXPECT_NE(std::string(e.what()).find(part), std::string::npos)
                << url << ": " << e.what();
        }
    }
}

}  // namespace
}  // namespace pawl
