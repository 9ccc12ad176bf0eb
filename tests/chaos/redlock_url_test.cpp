// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Sets that are named wrongly, or have servers that must not be in one.
#include "redlock_fixture.hpp"

#include <support/cluster_group.hpp>
#include <support/fault_proxy.hpp>
#include <support/sentinel_group.hpp>

#include <gmock/gmock.h>

namespace {

using namespace chaos;
using testing::HasSubstr;

class RedlockUrl : public redlock_fixture {
protected:
    static std::string at(const support::redis_server& server) {
        return "127.0.0.1:" + std::to_string(server.port());
    }
};

TEST_F(RedlockUrl, TheNumberOfNodesIsOdd) {
    for (const auto* hosts : {"a", "a,b", "a,b,c,d", "a,b,c,d,e,f"}) {
        const auto failed = failure_at("redlock://" + std::string(hosts));
        ASSERT_TRUE(failed.has_value()) << hosts;
        EXPECT_EQ(failed->reason, errc::bad_option) << failed;
        EXPECT_THAT(failed->sentence, HasSubstr("3, 5 or 7"));
    }
    const auto failed = failure_at("redlock://a,b,c,d,e,f,g,h,i");
    ASSERT_TRUE(failed.has_value());
    EXPECT_THAT(failed->sentence, HasSubstr("3, 5 or 7"));
}

TEST_F(RedlockUrl, AnEmptyListIsRefused) {
    for (const auto* url : {"redlock://", "redlock:///0", "redlock://@/0"}) {
        const auto failed = failure_at(url);
        ASSERT_TRUE(failed.has_value()) << url;
        EXPECT_THAT(failed->sentence, HasSubstr("names no node; give 3, 5 or 7"));
    }
}

TEST_F(RedlockUrl, OptionsThatDoNotFitAreRefused) {
    const std::pair<std::string, std::string> wrong[] = {
        {"redlock://a,b,a", "is named twice"},
        {"redlock://a,b,c?ttl_max=5", "100ms to 1h"},
        {"redlock://a,b,c?ttl_max=", "ttl_max"},
        {"redlock://a,b,c?layout=redisson", "native layout"},
        {"redlock://a,b,c?scripts=no", "needs scripts"},
        {"redlock://a,b,c?colour=red", "unknown"},
    };
    for (const auto& [url, part] : wrong) {
        const auto failed = failure_at(url);
        ASSERT_TRUE(failed.has_value()) << url;
        EXPECT_THAT(failed->sentence, HasSubstr(part)) << url;
    }
}

TEST_F(RedlockUrl, ATtlAboveTheLongestIsRefused) {
    redlock_group group;
    redlock_group::begin_set(group.url("?ttl_max=1000"));
    client locks = client_at(group.url("?ttl_max=1000"));
    try {
        (void)locks.try_acquire("it", {.ttl = 2s});
        ADD_FAILURE() << "granted";
    } catch (const pawl::error& e) {
        EXPECT_EQ(e.reason(), errc::bad_option) << e.what();
    }
}

// One process with two names would have two votes. Waiting does not help, so nobody waits.
TEST_F(RedlockUrl, OneServerUnderTwoNamesIsRefused) {
    redlock_group group;
    const auto port = std::to_string(group.node(0).port());
    const auto names =
        "redlock://127.0.0.1:" + port + ",localhost:" + port + "," + group.name_of(1);
    for (const auto& url : {names, names + "?fenced=no"}) {
        client locks = client_at(url);
        try {
            (void)locks.acquire("it", {.ttl = 1s});
            ADD_FAILURE() << "granted";
        } catch (const pawl::error& e) {
            EXPECT_EQ(e.reason(), errc::bad_option) << e.what();
            EXPECT_THAT(e.what(), HasSubstr("is the same server as"));
        }
    }
}

//   a set works | the name of one node leads to another node's server for a while
//   the two others are a majority, and a client that waits goes on
TEST_F(RedlockUrl, ASetThatWorksOutlivesANameThatLeadsToAnotherNode) {
    redlock_group group;
    support::fault_proxy name({group.node(0).port(), {}});
    const auto url = "redlock://127.0.0.1:" + std::to_string(name.port()) + "," + group.name_of(1) +
                     "," + group.name_of(2) + "?ttl_max=1000";
    redlock_group::begin_set(url);
    name.lead_to({group.node(1).port(), {}});
    EXPECT_TRUE(client_at(url).acquire("it", {.ttl = 1s, .wait = patience}).owns_lock());
}

TEST_F(RedlockUrl, ListsThatDifferAreRefused) {
    redlock_group group(5);
    const auto first = group.url();
    redlock_group::begin_set(first);
    (void)client_at(first).acquire("it", {.ttl = 1s}).release();
    const auto three =
        "redlock://" + group.name_of(0) + "," + group.name_of(1) + "," + group.name_of(2);
    for (const auto& other : {three, first + "?ttl_max=30000"}) {
        const auto failed = failure_at(other);
        ASSERT_TRUE(failed.has_value()) << other;
        EXPECT_EQ(failed->reason, errc::other_set);
        EXPECT_THAT(failed->sentence, HasSubstr("belongs to another set, redlock://"));
        EXPECT_THAT(failed->sentence, HasSubstr(" with ttl_max=60000: all clients"));
        EXPECT_THAT(failed->sentence, HasSubstr(other == three ? "this client has ttl_max=60000"
                                                               : "this client has ttl_max=30000"));
        EXPECT_THROW((void)client_at(other).acquire("it", {.ttl = 1s}), pawl::error)
            << "a wait for what does not change";
    }
    std::string reversed = "redlock://";
    for (std::size_t i = 5; i-- > 0;)
        reversed += group.name_of(i) + (i == 0 ? "" : ",");
    EXPECT_FALSE(failure_at(reversed).has_value()) << "the order does not matter";
}

TEST_F(RedlockUrl, ServersThatAreNotIndependentAreNamed) {
    redlock_group group;
    support::redis_server replica(
        {.config = {"replicaof 127.0.0.1 " + std::to_string(group.node(0).port())}});
    const auto two = group.name_of(0) + "," + group.name_of(1) + ",";
    auto failed = failure_at("redlock://" + two + at(replica));
    ASSERT_TRUE(failed.has_value());
    EXPECT_THAT(failed->sentence,
                HasSubstr(at(replica) + ": is a replica; each node must be a server of its own"));

    support::redis_server node({.cluster = true});
    node.serve_all_slots();
    failed = failure_at("redlock://" + two + at(node));
    ASSERT_TRUE(failed.has_value());
    EXPECT_THAT(failed->sentence,
                HasSubstr(at(node) + ": is a node of a cluster, and cannot be a node of Redlock"));

    support::sentinel_group sentinels({.sentinels = 1});
    failed = failure_at("redlock://" + two + at(sentinels.sentinel(0)));
    ASSERT_TRUE(failed.has_value());
    EXPECT_THAT(failed->sentence, HasSubstr(": is a Sentinel; write MASTER-NAME=HOST:PORT"));
}

// The others have a majority. Without one, the sentence says which node refused.
TEST_F(RedlockUrl, ANodeWithAnotherPasswordIsNamed) {
    redlock_group group;
    redlock_group::begin_set(group.url());
    (void)group.node(1).execute({"CONFIG", "SET", "requirepass", "secret"});
    client locks = client_at(group.url());
    EXPECT_TRUE(locks.try_acquire("it", {.ttl = 1s}).owns_lock());
    (void)group.node(2).execute({"CONFIG", "SET", "requirepass", "secret"});
    const auto failed = failure_at(group.url());
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::refused);
    EXPECT_THAT(failed->sentence, HasSubstr("password"));
    EXPECT_THAT(failed->sentence, HasSubstr(group.name_of(1)));
}

}  // namespace
