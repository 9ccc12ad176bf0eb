// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Two live servers answer to the name of one node, and nodes that get older data back while they
// run.
#include "redlock_fixture.hpp"

#include <support/fault_proxy.hpp>

#include <pawl/redlock.hpp>

#include <gmock/gmock.h>

namespace {

using namespace chaos;
using testing::HasSubstr;
using testing::Not;

class RedlockReplaced : public redlock_fixture {
protected:
    static support::endpoint endpoint_of(const support::redis_server& server) {
        return {server.port(), {}};
    }
    [[nodiscard]] std::string url() const {
        return "redlock://127.0.0.1:" + std::to_string(name_.port()) + "," + others_.name_of(0) +
               "," + others_.name_of(1) + "?ttl_max=1000";
    }
    static std::string member_of(support::redis_server& server, const std::string& field) {
        return server.execute({"HGET", "pawl:redlock", field}).text;
    }
    // Nothing, or why not.
    static std::string try_lock(client& locks) {
        try {
            return locks.try_acquire("it", {.ttl = 300ms}).owns_lock() ? "" : "taken";
        } catch (const pawl::error& e) {
            return e.what();
        }
    }
    // The new server has joined as the node, and votes.
    [[nodiscard]] bool is_replaced(client& locks) {
        return eventually([&] {
            (void)try_lock(locks);
            return member_of(second_, "incarnation") == "2" &&
                   second_.execute({"EXISTS", "pawl:redlock:q"}).number() == 0;
        });
    }

    // A client of the first server. The name leads to the second one, which another client has let
    // join as the node.
    [[nodiscard]] client client_of_replaced_server() {
        redlock_group::begin_set(url());
        client old_client = client_at(url());
        EXPECT_EQ(try_lock(old_client), "");
        memory_ = member_of(first_, "nonce");
        name_.lead_to(endpoint_of(second_));
        client new_client = client_at(url());
        EXPECT_TRUE(is_replaced(new_client)) << client_log.text();
        return old_client;
    }

    redlock_group others_{2};
    std::string memory_;  // of the first server, as a member
    support::redis_server first_, second_;
    support::fault_proxy name_{endpoint_of(first_)};  // of the node
};

//   X is connected to the first server | the name leads to the second one, which Y lets join
//   X sees a later memory of the node | it connects anew, and reaches the second server
TEST_F(RedlockReplaced, AClientOfTheOldServerGoesToTheNewOne) {
    client old_client = client_of_replaced_server();
    const auto has_moved = [&] {
        auto held = old_client.acquire("it", {.ttl = 300ms, .wait = patience});
        // The node behind the proxy is slower than the majority.
        return eventually(
            [&] {
                return second_.execute({"EXISTS", "pawl:{it}"}).number() == 1;
            },
            300ms);
    };
    EXPECT_TRUE(eventually(has_moved)) << client_log.text();
    EXPECT_EQ(member_of(first_, "nonce"), memory_) << "it was not asked any more";
}

//   the same, and the node answers after the other two have granted the lock: X holds it for so
//   short a time that it sends no renewal, whose answer would show the replacement, too
TEST_F(RedlockReplaced, ALateAnswerShowsTheNewServer) {
    client old_client = client_of_replaced_server();
    name_.delay(20ms, 20ms);
    EXPECT_TRUE(eventually([&] {
        (void)old_client.acquire("late", {.ttl = 900ms, .wait = patience}).release();
        return second_.execute({"EXISTS", "pawl:{late}:f"}).number() == 1;
    })) << client_log.text();
}

//   the same, but X reaches the first server again; node C is silent
//   X has grants of the first server and of B, and Y could have those of the second one and of C
TEST_F(RedlockReplaced, TheOldServerDoesNotVoteBesideTheNewOne) {
    client old_client = client_of_replaced_server();
    name_.lead_to(endpoint_of(first_));
    others_.node(1).freeze();
    std::string outcome;
    EXPECT_TRUE(eventually([&] {
        outcome = try_lock(old_client);
        return outcome.empty() ||
               outcome.find("another server has joined the set under this name") !=
                   std::string::npos;
    })) << outcome;
    EXPECT_NE(outcome, "") << "the old server has voted";
    others_.node(1).thaw();
    EXPECT_TRUE(eventually([&] {
        (void)try_lock(old_client);
        return member_of(first_, "incarnation") == "3";
    })) << client_log.text();
    EXPECT_NE(member_of(first_, "nonce"), memory_) << "it must have joined as after a loss";
}

//   X has the old server of node 0, and a third node | node 1 was lost once, and joined again
//   the address of node 0 passes to the server of node 1, whose incarnation is above that of node 0
//   Y must not count it as node 0: with a new server of node 1, Y would have a majority without X
TEST_F(RedlockReplaced, AServerOfAnotherNodeDoesNotVoteForThisOne) {
    support::fault_proxy second_name(endpoint_of(second_));
    const auto url_of_set = "redlock://127.0.0.1:" + std::to_string(name_.port()) +
                            ",127.0.0.1:" + std::to_string(second_name.port()) + "," +
                            others_.name_of(0) + "?ttl_max=1000";
    redlock_group::begin_set(url_of_set);
    client old_client = client_at(url_of_set);
    (void)second_.execute({"FLUSHALL"});
    ASSERT_TRUE(is_replaced(old_client)) << client_log.text();
    const auto memory = member_of(second_, "nonce");
    name_.lead_to(endpoint_of(second_));
    second_name.lead_to(endpoint_of(first_));
    client new_client = client_at(url_of_set);
    std::string outcome;
    EXPECT_TRUE(eventually([&] {
        outcome = try_lock(new_client);
        return outcome.empty() ||
               outcome.find("another server has joined the set under this name") !=
                   std::string::npos;
    })) << outcome;
    EXPECT_NE(outcome, "") << "two servers have voted, of which one is another node";
    name_.lead_to(endpoint_of(first_));
    second_name.lead_to(endpoint_of(second_));
    client last_client = client_at(url_of_set);
    EXPECT_EQ(try_lock(last_client), "") << "nobody has lost anything";
    EXPECT_EQ(member_of(second_, "nonce"), memory);
}

//   without fencing, two names lead to one server | one of them is corrected
//   X must take the other one for a node again, whose own connection has not changed
TEST_F(RedlockReplaced, ACorrectedNameFreesTheOtherName) {
    support::fault_proxy second_name(endpoint_of(first_));
    for (auto* corrected : {&name_, &second_name}) {
        name_.lead_to(endpoint_of(first_));
        second_name.lead_to(endpoint_of(first_));
        client locks = client_at("redlock://127.0.0.1:" + std::to_string(name_.port()) +
                                 ",127.0.0.1:" + std::to_string(second_name.port()) + "," +
                                 others_.name_of(0) + "?fenced=no");
        // As long as only one of the names is connected, the nodes are two servers.
        EXPECT_TRUE(eventually(
            [&] { return try_lock(locks).find("is the same server as") != std::string::npos; }));
        corrected->lead_to(endpoint_of(second_));
        corrected->kill_connections();
        std::string outcome;
        EXPECT_TRUE(eventually([&] {
            outcome = try_lock(locks);
            return outcome.empty();
        })) << outcome;
    }
}

//   the scripts of the slowest node are flushed
//   X sends a digest | two nodes grant the lock | the third one answers that it has no such script
//   it is too late to repeat the request: the next one must bring the text
TEST_F(RedlockReplaced, ANodeThatIsAlwaysTheSlowestLearnsAScriptAnew) {
    redlock_group::begin_set(url());
    client locks = client_at(url());
    EXPECT_EQ(try_lock(locks), "");
    name_.delay(20ms, 20ms);
    (void)first_.execute({"SCRIPT", "FLUSH"});
    const auto refusals = [&] {
        const auto statistics = first_.execute({"INFO", "commandstats"}).text;
        const auto of_digests = statistics.find("cmdstat_evalsha:");
        const auto position = statistics.find("failed_calls=", of_digests);
        return of_digests == std::string::npos ? 0 : std::stoi(statistics.substr(position + 13));
    };
    int holds = 0;
    const auto knows_scripts = [&] {
        const auto before = refusals();
        const auto name = "hold " + std::to_string(++holds);
        (void)locks.acquire(name, {.ttl = 900ms, .wait = patience}).release();
        // The acquire came before the release, which leaves the counter.
        const auto has_answered = [&] {
            return first_.execute({"EXISTS", "pawl:{" + name + "}:f"}).number() == 1;
        };
        return eventually(has_answered) && refusals() == before;
    };
    EXPECT_TRUE(eventually(knows_scripts)) << client_log.text();
}

class RedlockRolledBack : public redlock_fixture {
protected:
    // Restores keys of a node as they were at an earlier time.
    class backup {
    public:
        backup(support::redis_server& node, const std::vector<std::string>& keys) : node_(node) {
            for (const auto& key : keys)
                dumps_.emplace_back(key, node.execute({"DUMP", key}).text);
        }
        void restore() {
            for (const auto& [key, dump] : dumps_)
                EXPECT_EQ(node_.execute({"RESTORE", key, "0", dump, "REPLACE"}).text, "OK") << key;
        }

    private:
        support::redis_server& node_;
        std::vector<std::pair<std::string, std::string>> dumps_;
    };
};

//   many holds | nodes 0 and 2 get the data of before back, without a restart
//   node 1 is silent: nobody has a trace of those holds, but the clocks are later
TEST_F(RedlockRolledBack, OlderDataRepeatNoToken) {
    redlock_group group;
    const auto url = group.url("?ttl_max=1000");
    redlock_group::begin_set(url);
    client locks = client_at(url);
    (void)locks.acquire("it", {.ttl = 900ms}).release();
    const auto all_have_counters = [&] {
        return group.node(0).execute({"EXISTS", "pawl:{it}:f"}).number() == 1 &&
               group.node(2).execute({"EXISTS", "pawl:{it}:f"}).number() == 1;
    };
    ASSERT_TRUE(eventually(all_have_counters)) << "a node may be slower than a majority";
    backup first(group.node(0), {"pawl:redlock", "pawl:{it}:f"});
    backup third(group.node(2), {"pawl:redlock", "pawl:{it}:f"});
    pawl::fencing_token last;
    for (int i = 0; i < 20; ++i)
        last = locks.acquire("it", {.ttl = 900ms, .wait = patience}).token();
    ASSERT_TRUE(eventually([&] { return group.count_of("it") == 0; }));
    first.restore();
    third.restore();
    group.node(1).freeze();
    EXPECT_GT(locks.acquire("it", {.ttl = 900ms, .wait = patience}).token(), last);
    group.node(1).thaw();
}

// An operator sees the holder's token although the nodes have lost the counter of the name.
TEST_F(RedlockRolledBack, TheTokenIsShownAfterNodesHaveJoinedAgain) {
    redlock_group group;
    const auto url = group.url("?ttl_max=3000");
    redlock_group::begin_set(url);
    client locks = client_at(url), others = client_at(url);
    const auto held = locks.acquire("it", {.ttl = 2900ms});
    for (std::size_t node = 0; node < 2; ++node) {
        ASSERT_TRUE(eventually([&] { return group.count_of("it") == 3; }));
        (void)group.node(node).execute({"FLUSHALL"});
        (void)others.try_acquire("it", {.ttl = 2900ms});  // notices the loss
    }
    ASSERT_TRUE(eventually([&] { return group.count_of("it") == 3; }));
    const auto shown = others.inspect("it");
    ASSERT_TRUE(shown.held_by);
    EXPECT_EQ(shown.held_by->token, held.token());
}

class RedlockMembership : public redlock_fixture {
protected:
    static std::vector<std::string> memberships(redlock_group& group) {
        std::vector<std::string> result;
        for (std::size_t i = 0; i < group.node_count(); ++i)
            result.push_back(group.node(i).execute({"DUMP", "pawl:redlock"}).text);
        return result;
    }
};

//   node 0 has lost its data | node 1 gives no answer | that is no loss of a majority
TEST_F(RedlockMembership, ASilentNodeHasNotForgotten) {
    redlock_group group;
    const auto url = group.url();
    redlock_group::begin_set(url);
    client holder = client_at(url);
    const auto held = holder.acquire("it", {.ttl = long_ttl});
    ASSERT_TRUE(eventually([&] { return group.count_of("it") == 3; }));
    group.node(1).freeze();
    (void)group.node(0).execute({"FLUSHALL"});
    client reader = client_at(url);
    EXPECT_TRUE(reader.inspect("it").held_by) << "node 2 shows it";
    EXPECT_EQ(reader.list("").size(), 1U);
    for (int i = 0; i < 3; ++i) {
        const auto failed = failure_at(url);
        ASSERT_TRUE(failed);
        EXPECT_THAT(failed->sentence, Not(HasSubstr("init --force")));
    }
    group.node(1).thaw();
    EXPECT_TRUE(eventually([&] {
        (void)failure_at(url);
        return group.node(0).execute({"HGET", "pawl:redlock", "incarnation"}).text == "2";
    }));
}

TEST_F(RedlockMembership, ReadingLetsNoNodeJoin) {
    redlock_group group;
    redlock_group::begin_set(group.url());
    (void)group.node(0).execute({"FLUSHALL"});
    client reader = client_at(group.url());
    EXPECT_FALSE(reader.inspect("it").held_by);
    EXPECT_TRUE(reader.list("").empty());
    (void)reader.examine();
    EXPECT_EQ(group.node(0).execute({"EXISTS", "pawl:redlock"}).number(), 0);
}

// A damaged field must not spread, and the message names the remedy.
TEST_F(RedlockMembership, ADamagedNodeDoesNotVote) {
    redlock_group group;
    const auto url = group.url("?ttl_max=1000");
    redlock_group::begin_set(url);
    const auto before = client_at(url).acquire("it", {.ttl = 900ms}).token();
    (void)group.node(0).execute({"HSET", "pawl:redlock", "highest", "9000000000000000"});
    client locks = client_at(url);
    const auto token = locks.acquire("it", {.ttl = 900ms, .wait = patience}).token();
    EXPECT_GT(token, before);
    EXPECT_LT(token.value(), 1ULL << 52);
    std::string objection;
    for (const auto& each : redlock_group::examine(url))
        if (each.name == group.name_of(0)) objection = each.objection;
    EXPECT_THAT(objection, HasSubstr("its membership is damaged; delete its key pawl:redlock"));
    (void)group.node(0).execute({"DEL", "pawl:redlock"});
    EXPECT_TRUE(eventually([&] {
        (void)locks.acquire("it", {.ttl = 900ms, .wait = patience}).release();
        return group.node(0).execute({"HGET", "pawl:redlock", "incarnation"}).text == "2";
    }));
}

TEST_F(RedlockMembership, AServerOfAnotherSetIsNamedAndNotAdvised) {
    redlock_group group(5);
    const auto name = [&](std::size_t i) { return group.name_of(i); };
    const auto healthy = "redlock://" + name(0) + "," + name(1) + "," + name(2);
    redlock_group::begin_set(healthy);
    const auto before = memberships(group);
    try {
        redlock_group::begin_set("redlock://" + name(2) + "," + name(3) + "," + name(4));
        ADD_FAILURE() << "a set was begun with a server of another one";
    } catch (const pawl::error& e) {
        EXPECT_EQ(e.reason(), errc::bad_option);
        EXPECT_THAT(e.what(), HasSubstr(name(2) + " is a member of another set, redlock://"));
        EXPECT_THAT(e.what(), HasSubstr(" with ttl_max=60000; use that set, or leave the node"));
        EXPECT_THAT(e.what(), HasSubstr("would take it away from that set"));
        EXPECT_THAT(e.what(), Not(HasSubstr("see pawl redlock status")));
    }
    EXPECT_EQ(memberships(group)[2], before[2]);
}

}  // namespace
