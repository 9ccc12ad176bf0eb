// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What a client of a cluster decides without I/O: which node has a slot, which nodes leave, what
// follows a redirection, and which seeds are asked.
#include "manual_time.hpp"

#include <redis/cluster/cluster_view.hpp>
#include <redis/cluster/node_pool.hpp>
#include <redis/cluster/redirections.hpp>
#include <redis/cluster/seed_search.hpp>
#include <redis/transport/link.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace pawl::redis;

listed_node master(const std::string& id, unsigned first, unsigned last, std::uint64_t epoch = 1) {
    listed_node result;
    result.id = id;
    result.host = "10.0.0." + id;
    result.port = 6379;
    result.is_master = true;
    result.epoch = epoch;
    result.slots = {{first, last}};
    return result;
}

TEST(ClusterView, TheViewWithTheHigherEpochHasTheSlots) {
    cluster_view view;
    EXPECT_EQ(view.assign(master("1", 0, 99, 5), 0), 100U);
    EXPECT_EQ(view.assign(master("2", 50, 149, 4), 1), 50U);  // those that nobody had
    EXPECT_EQ(view.master_of(50), 0U);
    EXPECT_EQ(view.assign(master("2", 50, 149, 6), 1), 50U);
    EXPECT_EQ(view.master_of(50), 1U);
    EXPECT_EQ(view.master_of(49), 0U);
    EXPECT_EQ(view.master_of(150), slot_map::nobody);
    EXPECT_EQ(view.masters(), (std::set<std::uint32_t>{0, 1, slot_map::nobody}));
}

TEST(ClusterView, AfterANodeIsForgottenEveryViewIsBelieved) {
    cluster_view view;
    view.assign(master("1", 0, 99, 5), 0);
    view.assign(master("2", 100, 199, 5), 1);
    EXPECT_EQ(view.assign(master("3", 0, 199, 1), 2), 0U);
    view.give_up_all(0);
    EXPECT_EQ(view.assign(master("3", 0, 199, 1), 2), 100U);
    EXPECT_EQ(view.master_of(100), 1U);
    view.give_up(100);
    EXPECT_EQ(view.assign(master("3", 0, 199, 1), 2), 1U);
}

TEST(ClusterView, ANodeKeepsItsSlotsUnderAnotherNumber) {
    cluster_view view;
    view.assign(master("1", 0, 99), 0);
    view.advance();
    EXPECT_EQ(view.version(), 1U);
    view.renumber(0, 7);
    EXPECT_EQ(view.version(), 2U);
    EXPECT_EQ(view.master_of(99), 7U);
}

TEST(ClusterView, OnlyTheAskedNodeMayLeaveOutItsAddress) {
    cluster_view view;
    auto asked = master("1", 0, 99);
    asked.host.clear();
    view.update({asked, master("2", 100, 199)}, "h");
    EXPECT_EQ(view.nodes()[0].host, "h");
    EXPECT_EQ(view.nodes()[1].host, "10.0.0.2");
    ASSERT_NE(view.find_master("h", 6379), nullptr);
    EXPECT_EQ(view.find_master("h", 6379)->id, "1");
    EXPECT_EQ(view.find_master("h", 6380), nullptr);
}

TEST(ClusterView, AMasterWithoutSlotsMayGetSomeUnlessItFails) {
    cluster_view view;
    auto failing = master("2", 0, 0);
    failing.is_failing = true;
    auto replica = master("3", 0, 0);
    replica.is_master = false;
    view.update({master("1", 0, 0), failing, replica}, "h");
    EXPECT_TRUE(view.may_get_slots("1"));
    EXPECT_FALSE(view.may_get_slots("2"));
    EXPECT_FALSE(view.may_get_slots("3"));
    EXPECT_FALSE(view.may_get_slots("4"));
    EXPECT_EQ(view.find_master(replica.host, replica.port), nullptr);
}

TEST(ClusterView, AnotherClusterHasNoNodeInCommon) {
    cluster_view view;
    view.update({master("1", 0, 99), master("2", 100, 199)}, "h");
    EXPECT_TRUE(view.has_any_node({master("3", 0, 99), master("2", 100, 199)}));
    EXPECT_FALSE(view.has_any_node({master("3", 0, 99)}));
}

TEST(ClusterView, AMasterIsUsedIfItHasSlotsAndATokenHasRoomForItsEpoch) {
    EXPECT_TRUE(is_usable_master(master("1", 0, 0, 65535)));
    EXPECT_FALSE(is_usable_master(master("1", 0, 0, 65536)));
    auto listed = master("1", 0, 0);
    listed.slots.clear();
    EXPECT_FALSE(is_usable_master(listed));
    listed = master("1", 0, 0);
    listed.is_master = false;
    EXPECT_FALSE(is_usable_master(listed));
}

TEST(ClusterView, AnObjectionNamesWhatTheNodeSaysAboutItself) {
    auto myself = master("1", 0, 0);
    EXPECT_FALSE(find_objection("1", "h:1", myself));
    EXPECT_STREQ(find_objection("2", "h:1", myself)->what(), "The node h:1 is another one by now");
    myself.epoch = 65536;
    EXPECT_EQ(find_objection("1", "h:1", myself)->reason(), pawl::errc::unsupported);
    myself.is_master = false;
    EXPECT_STREQ(find_objection("1", "h:1", myself)->what(), "The node h:1 is a replica by now");
}

TEST(ClusterView, TheNameForTlsIsThatOfTheSettingsOrOfTheNode) {
    cluster_settings settings;
    auto listed = master("1", 0, 0);
    EXPECT_EQ(endpoint_of(listed, "h", settings).host, "10.0.0.1");
    EXPECT_EQ(endpoint_of(listed, "h", settings).tls_name, "");
    settings.uses_tls = true;
    EXPECT_EQ(endpoint_of(listed, "h", settings).tls_name, "10.0.0.1");
    listed.name = "one.example";
    EXPECT_EQ(endpoint_of(listed, "h", settings).tls_name, "one.example");
    settings.tls_name = "all.example";
    EXPECT_EQ(endpoint_of(listed, "h", settings).tls_name, "all.example");
    listed.host.clear();
    EXPECT_EQ(endpoint_of(listed, "h", settings).host, "one.example");
    listed.name.clear();
    EXPECT_EQ(endpoint_of(listed, "h", settings).host, "h");
}

class cluster_without_network final : public cluster_node::parent {
public:
    cluster_without_network() : parent(time_, counts_, 1s) {}
    void on_connection(cluster_node&) override {}
    void on_missing_connection(cluster_node&) noexcept override {}
    void on_old_map() noexcept override {}
    void check_open() const override {}
    boost::asio::awaitable<void> wait_for_change(pawl::time_point) override { co_return; }
    std::uint64_t version() const noexcept override { return 0; }

private:
    pawl::manual_time time_;
    pawl::spi::counters counts_;
};

class NodePool : public testing::Test {
protected:
    std::uint32_t add(const std::string& id, const std::string& host) {
        auto node = std::make_unique<cluster_node>(cluster, receiver, id, "", 0);
        node->set_connection(nullptr, {.host = host, .port = 6379});
        return pool.add(std::move(node));
    }
    std::vector<std::string> remove_without_slots() {
        std::vector<std::string> removed;
        pool.remove_without_slots(view,
                                  [&](const cluster_node& node) { removed.push_back(node.id()); });
        return removed;
    }

    cluster_without_network cluster;
    silent_listener receiver;
    cluster_view view;
    node_pool pool;
};

TEST_F(NodePool, ANodeAtAnotherAddressHasANewNumber) {
    EXPECT_EQ(add("a", "h1"), 0U);
    EXPECT_EQ(add("b", "h2"), 1U);
    EXPECT_EQ(pool.number_of("a"), 0U);
    EXPECT_EQ(add("a", "h3"), 2U);
    EXPECT_EQ(pool.number_of("a"), 2U);
    EXPECT_EQ(pool.number_of("c"), std::nullopt);
    EXPECT_EQ(pool.find("h1", 6379), nullptr);
    EXPECT_EQ(pool.find("h3", 6379), &pool.at(2));
    EXPECT_EQ(pool.find("h3", 6380), nullptr);
    EXPECT_EQ(pool.size(), 3U);
}

TEST_F(NodePool, NodesWithoutSlotsLeave) {
    add("a", "h1");
    add("b", "h2");
    add("c", "h3");
    view.assign(master("a", 0, 99), 0);
    view.update({master("c", 0, 0)}, "h");
    EXPECT_EQ(remove_without_slots(), std::vector<std::string>{"b"});
    ASSERT_EQ(pool.links().size(), 2U);
    EXPECT_EQ(pool.links()[0], &pool.at(0));
    EXPECT_EQ(pool.links()[1], &pool.at(2));
    EXPECT_EQ(pool.number_of("b"), std::nullopt);
    EXPECT_EQ(pool.size(), 3U);
    EXPECT_FALSE(pool.all_connected());
}

TEST_F(NodePool, AViewForgetsTheNodesThatItDoesNotList) {
    add("a", "h1");
    add("b", "h2");
    EXPECT_EQ(pool.forgotten_nodes({master("b", 0, 0)}), std::vector<std::uint32_t>{0});
}

// Only connected nodes prove that a view is one of another cluster.
TEST_F(NodePool, WithoutConnectedNodesNoViewIsForeign) {
    add("a", "h1");
    view.assign(master("a", 0, 99), 0);
    remove_without_slots();
    EXPECT_FALSE(pool.is_foreign({master("b", 0, 0)}, nullptr));
}

reply refusal_of(std::string text) {
    reply result;
    result.type = reply::kind::error;
    result.text = std::move(text);
    return result;
}

redirections::step step_of(redirection& progress, std::string text, bool is_late = false) {
    auto refusal = refusal_of(std::move(text));
    return redirections(cluster_limits{.max_attempts = 2}).next_step(progress, refusal, is_late);
}

TEST(Redirections, EachRefusalHasItsStep) {
    redirection progress;
    EXPECT_EQ(step_of(progress, "CLUSTERDOWN x"), redirections::step::fail_and_look);
    EXPECT_EQ(progress.attempts, 0U);
    EXPECT_EQ(step_of(progress, "MOVED 1 h:1"), redirections::step::follow_move);
    EXPECT_EQ(step_of(progress, "ASK 1 h:1"), redirections::step::ask);
    EXPECT_EQ(progress.attempts, 2U);
    EXPECT_EQ(step_of(progress, "TRYAGAIN x"), redirections::step::fail);
    redirection other;
    EXPECT_EQ(step_of(other, "TRYAGAIN x"), redirections::step::pause);
    EXPECT_EQ(step_of(other, "TRYAGAIN x", true), redirections::step::fail);
}

TEST(Redirections, TheLastRefusalIsOneThatALaterRequestNeedNotGet) {
    const redirections rules(cluster_limits{.max_attempts = 0});
    redirection progress;
    auto moved = refusal_of("MOVED 1 h:1");
    EXPECT_EQ(rules.next_step(progress, moved, false), redirections::step::fail);
    EXPECT_EQ(moved.text, "TRYAGAIN the nodes of the cluster disagree about the slot");
    auto try_again = refusal_of("TRYAGAIN of the node");
    EXPECT_EQ(rules.next_step(progress, try_again, false), redirections::step::fail);
    EXPECT_EQ(try_again.text, "TRYAGAIN of the node");
}

TEST(Redirections, OnlyErrorsOfTheProtocolAreFollowed) {
    EXPECT_TRUE(redirections::is_redirection(refusal_of("MOVED 1 h:1")));
    EXPECT_TRUE(redirections::is_redirection(refusal_of("CLUSTERDOWN x")));
    EXPECT_FALSE(redirections::is_redirection(refusal_of("MOVEDX")));
    auto value = refusal_of("MOVED 1 h:1");
    value.type = reply::kind::string;
    EXPECT_FALSE(redirections::is_redirection(value));
}

TEST(Redirections, TheTargetMayLackItsHost) {
    EXPECT_EQ(redirections::parse_target("MOVED 1 h:7001").host, "h");
    EXPECT_EQ(redirections::parse_target("MOVED 1 h:7001").port, 7001);
    EXPECT_EQ(redirections::parse_target("ASK 1 ::1:7001").host, "::1");
    EXPECT_EQ(redirections::parse_target("ASK 1 :7001").host, "");
    EXPECT_EQ(redirections::parse_target("ASK").port, 0);
}

TEST(Redirections, ThePausesGrowUpToTheLimit) {
    const redirections rules(cluster_limits{.shortest_pause = 50ms, .longest_pause = 1s});
    EXPECT_EQ(rules.longest_pause(0), 50ms);
    EXPECT_EQ(rules.longest_pause(2), 200ms);
    EXPECT_EQ(rules.longest_pause(5), 1s);
    EXPECT_EQ(rules.longest_pause(100), 1s);
}

class SeedSearch : public testing::Test {
protected:
    static cluster_settings settings() {
        cluster_settings result;
        result.hosts = {{.host = "h1", .port = 1}, {.host = "h2", .port = 1}};
        result.connect_timeout = 3s;
        return result;
    }
    void fail() { search.add_failure(reason, search.answers()); }

    const std::exception_ptr reason = std::make_exception_ptr(std::runtime_error("no answer"));
    seed_search search{settings()};
};

TEST_F(SeedSearch, AfterEachRoundOfFailuresAQuestionMayTakeLonger) {
    EXPECT_EQ(search.question_timeout(), 1s);
    fail();
    EXPECT_FALSE(search.have_all_failed());
    EXPECT_EQ(search.question_timeout(), 1s);
    fail();
    EXPECT_TRUE(search.have_all_failed());
    EXPECT_EQ(search.question_timeout(), 2s);
    for (int i = 0; i < 10; ++i)
        fail();
    EXPECT_EQ(search.question_timeout(), 3s);  // the connect timeout
    search.add_answer(nullptr);
    EXPECT_EQ(search.question_timeout(), 1s);
    EXPECT_FALSE(search.failure());
}

TEST_F(SeedSearch, AFailureAfterTheAnswerOfAnotherSeedDoesNotCount) {
    const auto began_at = search.answers();
    search.add_answer(nullptr);
    search.add_failure(reason, began_at);
    EXPECT_FALSE(search.failure());
}

TEST_F(SeedSearch, AtFirstAllHostsAreAsked) {
    EXPECT_EQ(search.round_size(), 2U);
    search.add_answer(reason);
    EXPECT_EQ(search.failure(), reason);
    EXPECT_EQ(search.round_size(), 3U);
}

}  // namespace
