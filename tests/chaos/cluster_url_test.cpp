// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// URLs of clusters that are wrong, or lead to nodes with a wrong configuration; and the log.
#include "cluster_fixture.hpp"

#include <support/resp.hpp>
#include <support/sentinel_group.hpp>

#include <gmock/gmock.h>

#include <unistd.h>

namespace {

using namespace chaos;

class ClusterUrl : public cluster_fixture {};

TEST_F(ClusterUrl, WrongServersAreNamed) {
    cluster_group group;
    support::redis_server server;
    const auto at = [](support::redis_server& which) {
        return "127.0.0.1:" + std::to_string(which.port());
    };
    auto failed = failure_at("redis+cluster://" + at(server));
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::unsupported) << failed;
    EXPECT_THAT(failed->sentence, testing::HasSubstr("is no node of a cluster; write redis://"));

    failed = failure_at("redis://" + at(group.node(0)));
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::unsupported) << failed;
    EXPECT_THAT(failed->sentence, testing::HasSubstr("write redis+cluster://"));

    support::sentinel_group sentinels({.sentinels = 1});
    failed = failure_at("redis+cluster://" + at(sentinels.sentinel(0)));
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::unsupported) << failed;
    EXPECT_THAT(failed->sentence, testing::HasSubstr("is a Sentinel"));

    failed = failure_at("redis+cluster://127.0.0.1:1");
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::unreachable) << failed;

    failed = failure_at(group.url("/1"));
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::bad_url) << failed;
    EXPECT_THAT(failed->sentence, testing::HasSubstr("only database 0"));
}

TEST_F(ClusterUrl, ANodeOfNoClusterIsNamed) {
    support::redis_server alone({.cluster = true});
    const auto failed = failure_at(
        "redis+cluster://127.0.0.1:" + std::to_string(alone.port()) + "?connect_timeout=1000", 0s);
    ASSERT_TRUE(failed.has_value());
    EXPECT_THAT(failed->sentence, testing::HasSubstr("knows no node with slots; join it"));
}

// The cluster announces an address that leads to nobody.
TEST_F(ClusterUrl, AnAnnouncedAddressThatCannotBeReachedIsNamed) {
    cluster_group group;
    (void)group.node(1).execute({"CONFIG", "SET", "cluster-announce-ip", "127.255.1.2"});
    const auto node = std::to_string(group.node(1).port());
    ASSERT_TRUE(eventually([&] {
        return group.node(0).execute({"CLUSTER", "NODES"}).text.find("127.255.1.2:" + node) !=
               std::string::npos;
    }));
    client locks = client_at("redis+cluster://127.0.0.1:" + std::to_string(group.node(0).port()) +
                             "?connect_timeout=1000");
    (void)locks.acquire(group.name_on(0), {.ttl = 2s, .wait = patience}).release();
    try {
        (void)locks.try_acquire(group.name_on(1), {.ttl = 2s});
        ADD_FAILURE() << "granted by nobody";
    } catch (const pawl::error& e) {
        EXPECT_EQ(e.reason(), errc::unreachable) << e.what();
        EXPECT_THAT(e.what(), testing::AllOf(testing::HasSubstr("127.255.1.2:" + node),
                                             testing::HasSubstr("cluster-announce-ip")));
    }
}

// One after the other, their timeouts of 1 s would use up the time to connect.
TEST_F(ClusterUrl, SeedsThatDoNotAnswerDelayTheOthersLittle) {
    cluster_group group;
    std::string silent;
    std::vector<int> listeners;
    for (int i = 0; i < 6; ++i) {
        std::uint16_t port = 0;
        listeners.push_back(support::listen_on(port));
        silent += "127.0.0.1:" + std::to_string(port) + ",";
    }
    auto url = group.url("?connect_timeout=5000");
    url.insert(url.find("//") + 2, silent);
    EXPECT_FALSE(failure_at(url, 4s).has_value()) << client_log.text();
    for (const int each : listeners)
        ::close(each);
}

TEST_F(ClusterUrl, TheLogHasEachChangeOfTheMapOnce) {
    cluster_group group;
    client locks = client_at(group.url());
    const auto name = group.name_on(0);
    (void)locks.acquire(name, {.ttl = 2s}).release();
    slot_move(group, group.slot_of(key_of(name)), 1).run();
    (void)locks.acquire(name, {.ttl = 2s, .wait = patience}).release();
    (void)locks.acquire(group.name_on(2), {.ttl = 2s, .wait = patience}).release();
    const auto text = client_log.text();
    const auto count = [&](const std::string& part) {
        std::size_t result = 0;
        for (auto i = text.find(part); i != std::string::npos; i = text.find(part, i + 1))
            ++result;
        return result;
    };
    EXPECT_EQ(count("found the nodes: "), 1U) << text;
    EXPECT_EQ(count("slots have moved: 127.0.0.1:" + std::to_string(group.node(1).port()) +
                    " has 1 slot"),
              1U)
        << text;
}

TEST_F(ClusterUrl, ANodeWithAnotherPasswordIsNamed) {
    cluster_group group({.password = "loud"});
    auto failed = failure_at("redis+cluster://127.0.0.1:" + std::to_string(group.node(0).port()));
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::refused) << failed;
    auto url = group.url();
    url.insert(url.find("//") + 2, ":loud@");
    client locks = client_at(url);
    EXPECT_TRUE(locks.acquire(group.name_on(1), {.ttl = 2s, .wait = patience}).owns_lock());
    (void)group.node(2).execute({"CONFIG", "SET", "requirepass", "other"});
    client fresh = client_at(url);
    EXPECT_TRUE(fresh.acquire(group.name_on(1), {.ttl = 2s, .wait = patience}).owns_lock());
    try {
        (void)fresh.acquire(group.name_on(2), {.ttl = 2s, .wait = patience});
        ADD_FAILURE() << "granted in spite of the password";
    } catch (const pawl::error& e) {
        EXPECT_EQ(e.reason(), errc::refused) << e.what();
        EXPECT_THAT(e.what(), testing::HasSubstr(std::to_string(group.node(2).port())));
        EXPECT_THAT(e.what(), testing::HasSubstr("set the same user at all nodes"));
    }
}

}  // namespace
