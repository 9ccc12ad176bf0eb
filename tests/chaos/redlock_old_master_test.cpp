// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A node of Redlock is a master with Sentinels, which have replaced it while it lives on, or whose
// epochs were reset.
#include "redlock_fixture.hpp"

#include <support/fault_proxy.hpp>
#include <support/sentinel_group.hpp>

#include <pawl/redlock.hpp>

#include <gmock/gmock.h>

#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace chaos;
using testing::HasSubstr;

class RedlockOldMaster : public redlock_fixture {
protected:
    RedlockOldMaster() {
        for (std::size_t i = 0; i < group_.sentinel_count(); ++i)
            names_.push_back(std::make_unique<support::fault_proxy>(
                support::endpoint{group_.sentinel(i).port(), {}}));
    }
    // B, C, and the master that the Sentinels name, which are reached through proxies.
    [[nodiscard]] std::string url() const {
        auto text =
            "redlock://" + plain_.name_of(0) + "," + plain_.name_of(1) + "," + support::master_name;
        for (std::size_t i = 0; i < names_.size(); ++i)
            text += (i == 0 ? "=127.0.0.1:" : "+127.0.0.1:") + std::to_string(names_[i]->port());
        return text + "?ttl_max=1000";
    }
    static support::resp_value ask(support::redis_server& server,
                                   const support::command_words& words) {
        return server.connect()->execute(words);
    }
    static std::string member_of(support::redis_server& server, const std::string& field) {
        return ask(server, {"HGET", "pawl:redlock", field}).text;
    }
    // From now on the server refuses the Sentinels. Its other connections go on.
    static void cut_off_from_sentinels(support::redis_server& server) {
        const auto operators = server.connect();
        (void)operators->execute({"CONFIG", "SET", "requirepass", "PASSWORD"});
        std::istringstream clients(operators->execute({"CLIENT", "LIST"}).text);
        for (std::string line; std::getline(clients, line);)
            if (line.find("name=sentinel-") != std::string::npos)
                (void)operators->execute(
                    {"CLIENT", "KILL", "ID", line.substr(3, line.find(' ') - 3)});
    }
    static support::resp_value ask_with_password(support::redis_server& server,
                                                 const support::command_words& words) {
        const auto connection = server.connect();
        (void)connection->execute({"AUTH", "PASSWORD"});
        return connection->execute(words);
    }

    redlock_group plain_{2};
    support::sentinel_group group_{{.replicas = 1, .failover_timeout = 1s}};
    std::vector<std::unique_ptr<support::fault_proxy>> names_;
};

// The Sentinels cannot reach the old master A1, and A1 does not know that A2 has replaced it: it is
// still a master. X is connected to A1, and hears nothing of the Sentinels.
//   Y: A2 joins as after a loss of data, and votes | X: A1 grants, and so does B or C
//   no two holds have one token, and of two holds in a row, the later one has the larger token
TEST_F(RedlockOldMaster, ThatLivesOnGivesNoTokenTwice) {
    ASSERT_TRUE(group_.is_replicated());
    redlock_group::begin_set(url());
    client x = client_at(url());
    auto last = x.acquire("it", {.ttl = 900ms, .wait = patience}).token();
    auto& old_master = group_.server(0);
    const auto is_known_to_x = [&] {
        return ask(old_master, {"EXISTS", "pawl:{it}:f"}).number() == 1;
    };
    ASSERT_TRUE(eventually(is_known_to_x));
    for (const auto& each : names_)
        each->drop_pushes(true);
    const auto old_port = group_.master_port();
    cut_off_from_sentinels(old_master);
    ASSERT_TRUE(group_.eventually_moved_from(old_port));
    EXPECT_THAT(ask_with_password(old_master, {"ROLE"}).items.at(0).text, "master");

    client y = client_at(url());
    std::size_t of_x = 0, of_y = 0;
    const auto try_with = [&](client& locks, std::size_t& count) {
        try {
            auto held = locks.try_acquire("it", {.ttl = 900ms});
            if (!held.owns_lock()) return;
            EXPECT_GT(held.token(), last) << client_log.text();
            last = held.token();
            ++count;
            (void)held.release();
        } catch (const pawl::error& e) {
            EXPECT_EQ(e.reason(), errc::no_quorum) << e.what();
        }
    };
    const auto has_joined = [&] {
        return member_of(group_.master(), "incarnation") == "2" &&
               ask(group_.master(), {"EXISTS", "pawl:redlock:q"}).number() == 0;
    };
    EXPECT_TRUE(eventually([&] {
        try_with(x, of_x);
        try_with(y, of_y);
        return has_joined();
    })) << client_log.text();
    // Each majority has one of the two servers with the name of the third node.
    for (std::size_t i = 0; i < 6; ++i) {
        plain_.node(i % 2).freeze();
        for (int round = 0; round < 3; ++round) {
            try_with(x, of_x);
            try_with(y, of_y);
        }
        plain_.node(i % 2).thaw();
    }
    EXPECT_GT(of_y, 0U);
}

//   a failover: the node has joined with the epoch of the new master | the Sentinels forget their
//   epochs: the master looks like one that was replaced | only an operator knows better
TEST_F(RedlockOldMaster, AfterAResetOfTheEpochsAnOperatorLetsItJoin) {
    ASSERT_TRUE(group_.is_replicated());
    redlock_group::begin_set(url());
    client locks = client_at(url());
    auto last = locks.acquire("it", {.ttl = 900ms, .wait = patience}).token();
    const auto acquire = [&](client& by) {
        auto held = by.acquire("it", {.ttl = 900ms, .wait = patience});
        EXPECT_GT(held.token(), last);
        last = held.token();
        (void)held.release();
    };
    const auto port = group_.master_port();
    for (int i = 0; i < 3 && group_.master_port() == port; ++i) {
        group_.begin_failover();
        (void)group_.eventually_moved_from(port);
    }
    ASSERT_TRUE(eventually(
        [&] {
            acquire(locks);
            return member_of(group_.master(), "incarnation") == "2";
        },
        2 * patience))
        << client_log.text();
    const auto new_port = std::to_string(group_.master_port());
    for (std::size_t i = 0; i < group_.sentinel_count(); ++i) {
        (void)group_.sentinel(i).execute({"SENTINEL", "REMOVE", support::master_name});
        (void)group_.sentinel(i).execute(
            {"SENTINEL", "MONITOR", support::master_name, "127.0.0.1", new_port, "2"});
    }
    ASSERT_TRUE(eventually([&] { return group_.epoch() == 0; }));
    client later = client_at(url());
    ASSERT_TRUE(eventually([&] {
        acquire(later);
        return client_log.text().find("pawl redlock rejoin") != std::string::npos ||
               member_of(group_.master(), "incarnation").empty();
    })) << client_log.text();
    for (int i = 0; i < 20; ++i)
        acquire(later);
    EXPECT_EQ(member_of(group_.master(), "incarnation"), "") << "it has joined by itself";
    EXPECT_TRUE(eventually([&] {
        (void)redlock_group::rejoin(url());
        return member_of(group_.master(), "incarnation") == "3";
    })) << client_log.text();
    acquire(later);
}

}  // namespace
