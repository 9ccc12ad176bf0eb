// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What operators do with a set that is in use: docs/backends/redlock.md, "Operating a set".
#include "redlock_fixture.hpp"

#include <support/fault_proxy.hpp>

#include <pawl/redlock.hpp>

#include <gmock/gmock.h>

#include <algorithm>

namespace {

using namespace chaos;
using testing::HasSubstr;

class RedlockOperation : public redlock_fixture {
protected:
    static std::string url_of(redlock_group& group, const std::vector<std::size_t>& nodes) {
        std::string text = "redlock://";
        for (const auto each : nodes)
            text += (text.back() == '/' ? "" : ",") + group.name_of(each);
        return text + "?ttl_max=1000";
    }
    static std::size_t votes_of(const std::string& url, bool rejoin = false) {
        const auto nodes = rejoin ? redlock_group::rejoin(url) : redlock_group::examine(url);
        return static_cast<std::size_t>(
            std::ranges::count(nodes, true, &pawl::redlock::node_status::votes));
    }
};

// One node after the other. The set always grants.
TEST_F(RedlockOperation, EveryServerIsReplacedByAnEmptyOneOfItsName) {
    redlock_group group;
    const auto url = group.url("?ttl_max=1000");
    redlock_group::begin_set(url);
    client locks = client_at(url);
    auto last = locks.acquire("it", {.ttl = 900ms}).token();
    for (std::size_t i = 0; i < 3; ++i) {
        group.node(i).kill9();
        group.node(i).start(false);
        EXPECT_GE(votes_of(url, true), 2U);
        auto held = locks.acquire("it", {.ttl = 900ms, .wait = patience});
        EXPECT_GT(held.token(), last);
        last = held.token();
        (void)held.release();
        ASSERT_TRUE(eventually([&] { return votes_of(url) == 3; }, patience)) << i;
    }
}

TEST_F(RedlockOperation, ASetGetsMoreNodes) {
    redlock_group group(5);
    const auto three = url_of(group, {0, 1, 2});
    redlock_group::begin_set(three);
    client early = client_at(three);
    const auto last = early.acquire("it", {.ttl = 900ms}).token();
    const auto five = url_of(group, {0, 1, 2, 3, 4});
    EXPECT_THROW(redlock_group::begin_set(five), pawl::error) << "without --force";
    redlock_group::begin_set(five, true);
    EXPECT_EQ(votes_of(five), 5U);
    EXPECT_GT(client_at(five).acquire("it", {.ttl = 900ms}).token(), last);
    // A client with the list of before, which was connected, and a new one.
    EXPECT_THROW((void)early.try_acquire("it", {.ttl = 900ms}), pawl::error);
    const auto failed = failure_at(three);
    ASSERT_TRUE(failed.has_value());
    EXPECT_THAT(failed->sentence, HasSubstr("belongs to another set"));
}

TEST_F(RedlockOperation, ANodeIsExchangedForOneOfAnotherName) {
    redlock_group group(4);
    const auto before = url_of(group, {0, 1, 2});
    redlock_group::begin_set(before);
    const auto last = client_at(before).acquire("it", {.ttl = 900ms}).token();
    group.node(2).kill9();
    const auto after = url_of(group, {0, 1, 3});
    redlock_group::begin_set(after, true);
    EXPECT_GT(client_at(after).acquire("it", {.ttl = 900ms}).token(), last);
    // The server that was left out comes back, and is no majority.
    group.node(2).start(true);
    const auto failed = failure_at(before);
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::other_set);
}

// As during an update.
TEST_F(RedlockOperation, NodesOfDifferentVersionsWorkTogetherAndAreNamed) {
    redlock_group group(2);
    support::redis_server other({.program = support::conditional_set_program()});
    const auto url = "redlock://" + group.name_of(0) + "," + group.name_of(1) + "," + other.host() +
                     ":" + std::to_string(other.port());
    redlock_group::begin_set(url);
    client locks = client_at(url);
    EXPECT_TRUE(locks.try_acquire("it", {.ttl = 1s}).owns_lock());
    const auto findings = locks.examine().findings;
    const auto versions = std::ranges::find(findings, "versions", &pawl::finding::topic);
    ASSERT_NE(versions, findings.end());
    EXPECT_THAT(versions->fact, HasSubstr(", "));
}

//   a set works | the operator begins a new one by force | a node's connection ends instead of an
//   answer to TIME, and comes back at once | nothing may be forgotten: the clock may be wrong
TEST_F(RedlockOperation, NothingIsForgottenBeforeAllClocksAreRead) {
    redlock_group others(2);
    support::redis_server server;
    support::fault_proxy proxy({server.port(), {}});
    const auto url = "redlock://127.0.0.1:" + std::to_string(proxy.port()) + "," +
                     others.name_of(0) + "," + others.name_of(1);
    redlock_group::begin_set(url);
    const auto nonces = [&] {
        std::vector<std::string> result;
        for (auto* const each : {&server, &others.node(0), &others.node(1)})
            result.push_back(each->execute({"HGET", "pawl:redlock", "nonce"}).text);
        return result;
    };
    const auto before = nonces();
    // The first one belongs to the handshake.
    proxy.inject({.matches = support::named("TIME"),
                  .kind = support::fault_kind::lose_reply,
                  .first_match = 2});
    try {
        redlock_group::begin_set(url, true);
        ADD_FAILURE() << "a set was begun";
    } catch (const pawl::error& e) {
        EXPECT_EQ(e.reason(), errc::no_quorum);
        EXPECT_THAT(e.what(), HasSubstr("has not shown its clock"));
    }
    EXPECT_EQ(nonces(), before);
}

TEST_F(RedlockOperation, NodesOfOneVersionAreNotNamed) {
    redlock_group group;
    redlock_group::begin_set(group.url());
    for (const auto& each : client_at(group.url()).examine().findings)
        EXPECT_NE(each.topic, "versions") << each.fact;
}

}  // namespace
