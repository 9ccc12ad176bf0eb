// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A node of Redlock that is a master with Sentinels. A failover is a loss of the node's data: the
// replica may lack the last grants.
#include "redlock_fixture.hpp"

#include <support/sentinel_group.hpp>

#include <pawl/redlock.hpp>

#include <gmock/gmock.h>

#include <set>

namespace {

using namespace chaos;
using testing::HasSubstr;

class RedlockSentinel : public redlock_fixture {
protected:
    // MASTER=SENTINEL+SENTINEL+SENTINEL
    [[nodiscard]] std::string monitored_node() {
        auto text = support::master_name;
        for (std::size_t i = 0; i < group_.sentinel_count(); ++i)
            text += (i == 0 ? "=127.0.0.1:" : "+127.0.0.1:") +
                    std::to_string(group_.sentinel(i).port());
        return text;
    }
    [[nodiscard]] std::string url() {
        return "redlock://" + plain_.name_of(0) + "," + plain_.name_of(1) + "," + monitored_node() +
               "?ttl_max=1000";
    }
    // On a connection of its own: the Sentinels end those of a server whose role they change.
    static support::resp_value ask(support::redis_server& server,
                                   const support::command_words& words) {
        return server.connect()->execute(words);
    }
    static std::string member_of(support::redis_server& server, const std::string& field) {
        return ask(server, {"HGET", "pawl:redlock", field}).text;
    }
    void fail_over() {
        const auto port = group_.master_port();
        // On a busy machine, the Sentinels may give a failover up.
        for (int i = 0; i < 3; ++i) {
            group_.begin_failover();
            if (group_.eventually_moved_from(port)) return;
        }
        FAIL() << "the Sentinels give each failover up";
    }
    // Acquires and releases until the master has this incarnation, and votes.
    [[nodiscard]] bool eventually_joins(client& locks, const std::string& incarnation) {
        return eventually(
            [&] {
                (void)locks.acquire("other", {.ttl = 900ms, .wait = patience}).release();
                auto& master = group_.master();
                return member_of(master, "incarnation") == incarnation &&
                       ask(master, {"EXISTS", "pawl:redlock:q"}).number() == 0;
            },
            2 * patience);
    }

    redlock_group plain_{2};
    support::sentinel_group group_{{.replicas = 1, .failover_timeout = 1s}};
};

TEST_F(RedlockSentinel, AFailoverIsALossOfTheNodesData) {
    ASSERT_TRUE(group_.is_replicated());
    redlock_group::begin_set(url());
    client locks = client_at(url());
    auto last = locks.acquire("it", {.ttl = 900ms}).token();
    EXPECT_EQ(member_of(group_.master(), "incarnation"), "1");
    ASSERT_TRUE(group_.is_replicated());
    fail_over();
    ASSERT_TRUE(eventually_joins(locks, "2"));
    // Only the new master and one other node answer.
    plain_.node(0).freeze();
    const auto next = locks.acquire("it", {.ttl = 900ms, .wait = patience}).token();
    EXPECT_GT(next, last);
    plain_.node(0).thaw();
}

// The first master has the run id of before, and its data come from the replica, which may have
// missed the last grants. Nobody noticed the failovers, so the membership is that of the first.
TEST_F(RedlockSentinel, AMasterThatCameBackRemembersNothing) {
    ASSERT_TRUE(group_.is_replicated());
    redlock_group::begin_set(url());
    const auto run = member_of(group_.master(), "run");
    const auto first = group_.master_port();
    ASSERT_TRUE(group_.is_replicated());
    fail_over();
    // Some seconds later, the Sentinels make the first master a replica.
    ASSERT_TRUE(eventually(
        [&] {
            const auto info = ask(group_.server(0), {"INFO", "replication"}).text;
            return info.find("master_link_status:up") != std::string::npos;
        },
        2 * patience));
    fail_over();
    ASSERT_EQ(group_.master_port(), first);
    ASSERT_TRUE(eventually([&] { return member_of(group_.master(), "run") == run; }));
    for (const auto& each : redlock_group::examine(url()))
        EXPECT_EQ(each.votes, !each.name.starts_with("orders=")) << each.name << each.objection;
    client locks = client_at(url());
    EXPECT_TRUE(eventually_joins(locks, "2"));
}

TEST_F(RedlockSentinel, TheSetGoesOnWithoutTheMaster) {
    ASSERT_TRUE(group_.is_replicated());
    redlock_group::begin_set(url());
    group_.server(0).freeze();
    client locks = client_at(url());
    auto held = locks.acquire("it", {.ttl = 900ms, .wait = patience});
    EXPECT_EQ(held.release(), release_result::released);
    group_.server(0).thaw();
}

TEST_F(RedlockSentinel, ServersThatDoNotFitAreNamed) {
    ASSERT_TRUE(group_.is_replicated());
    const auto set = "redlock://" + plain_.name_of(0) + ",";
    const auto at = [](support::redis_server& server) {
        return "127.0.0.1:" + std::to_string(server.port());
    };
    const std::pair<std::string, std::string> wrong[] = {
        {set + at(group_.server(0)) + "," + monitored_node(), "is the same server as"},
        {set + at(group_.server(1)) + "," + monitored_node(), "is a replica; each node must be"},
        {set + plain_.name_of(1) + ",nobody=" + at(group_.sentinel(0)), "knows no master 'nobody'"},
        {set + plain_.name_of(1) + "," + at(group_.sentinel(0)), "write MASTER-NAME=HOST:PORT"},
        {set + plain_.name_of(1) + ",orders=" + at(plain_.node(0)), "not as a Sentinel"}};
    for (const auto& [url, part] : wrong) {
        const auto failed = failure_at(url);
        ASSERT_TRUE(failed.has_value()) << url;
        const bool is_twice = part == "is the same server as";
        EXPECT_EQ(failed->reason, is_twice ? errc::bad_option : errc::no_quorum) << failed;
        EXPECT_THAT(failed->sentence, HasSubstr(part));
    }
}

//   H holds a lock of a set whose third node is named by its Sentinels
//   a client names the same three servers as plain hosts: for it, the master's run id has no epoch
TEST_F(RedlockSentinel, AClientThatNamesTheServersInAnotherWayChangesNothing) {
    redlock_group::begin_set(url());
    client locks = client_at(url());
    auto held = locks.acquire("it", {.ttl = 900ms});
    const auto memberships = [&] {
        std::string text;
        for (auto* const server : {&plain_.node(0), &plain_.node(1), &group_.master()})
            text += ask(*server, {"DUMP", "pawl:redlock"}).text;
        return text;
    };
    const auto before = memberships();
    const auto other_url = "redlock://" + plain_.name_of(0) + "," + plain_.name_of(1) +
                           ",127.0.0.1:" + std::to_string(group_.master_port()) + "?ttl_max=1000";
    client client_with_other_names = client_at(other_url);
    EXPECT_THROW((void)client_with_other_names.inspect("it"), pawl::error);
    EXPECT_THROW((void)client_with_other_names.list(""), pawl::error);
    EXPECT_THROW((void)client_with_other_names.force_release("it"), pawl::error);
    (void)client_with_other_names.examine();
    for (const auto& each : redlock_group::rejoin(other_url))
        EXPECT_THAT(each.objection, HasSubstr("belongs to another set, redlock://"));
    const auto failed = failure_at(other_url);
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::other_set) << failed;
    EXPECT_EQ(memberships(), before);
    held.renew();
    EXPECT_EQ(held.release(), release_result::released);
}

// Each row of a report belongs to a server that it names.
TEST_F(RedlockSentinel, TheExaminationShowsTheMasterAndItsSentinels) {
    redlock_group::begin_set(url());
    client locks = client_at(url());
    const auto report = locks.examine();
    std::set<std::string> names{""};
    for (const auto& each : report.nodes)
        names.insert(each.name);
    EXPECT_EQ(names.size(), 1U + 3U + group_.sentinel_count());
    std::size_t votes = 0;
    for (const auto& each : report.findings) {
        if (each.topic == "membership") votes += each.fact == "votes" ? 1 : 0;
        EXPECT_TRUE(names.contains(each.node)) << each.topic << " of " << each.node;
    }
    EXPECT_EQ(votes, 3U);
}

}  // namespace
