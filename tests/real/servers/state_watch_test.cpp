// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The history of real servers.
#include "state_watch.hpp"
#include "replicated_servers.hpp"

#include <support/eventually.hpp>
#include <support/redis_server.hpp>

#include <gtest/gtest.h>

namespace {

using namespace real;

class ProofWatch : public testing::Test {
protected:
    // Waits until the watch has seen so many states of the server; returns the last.
    server_state last_of(std::size_t index, std::size_t count) {
        EXPECT_TRUE(support::eventually([&] { return watch_.periods(index).size() >= count; }));
        const auto periods = watch_.periods(index);
        EXPECT_EQ(periods.size(), count);
        return periods.empty() ? server_state() : periods.back().state;
    }

    // A new replica gets its data at once.
    const support::redis_options options_{.config = {"repl-diskless-sync-delay 0"}};
    support::redis_server servers_[2] = {support::redis_server(options_),
                                         support::redis_server(options_)};
    state_watch<server_state> watch_{
        unix_sockets(2, [this](std::size_t i) -> auto& { return servers_[i]; }),
        {{"INFO", "server", "replication"}},
        [](const look_replies& replies) { return std::optional(read_info(replies.at(0).text)); }};
};

TEST_F(ProofWatch, SeesThatAReplicaIsPromoted) {
    EXPECT_TRUE(last_of(0, 1).is_master);
    EXPECT_TRUE(last_of(1, 1).is_master);
    const auto before = now();
    (void)servers_[1].execute(
        {"REPLICAOF", servers_[0].host(), std::to_string(servers_[0].port())});
    EXPECT_TRUE(support::eventually([&] { return !watch_.periods(1).back().state.is_master; }));
    // The replica gets its master's replication id a moment later.
    EXPECT_TRUE(support::eventually([&] {
        return watch_.periods(1).back().state.replication_id ==
               watch_.periods(0).back().state.replication_id;
    }));
    (void)servers_[1].execute({"REPLICAOF", "NO", "ONE"});
    EXPECT_TRUE(support::eventually([&] { return watch_.periods(1).back().state.is_master; }));
    const auto periods = watch_.periods(1);
    EXPECT_NE(periods.back().state.replication_id,
              periods[periods.size() - 2].state.replication_id);
    EXPECT_EQ(periods.back().state.run_id, periods.front().state.run_id);
    EXPECT_GE(periods.back().from.latest, before);
    EXPECT_LE(periods.back().from.latest, now());
    EXPECT_EQ(periods.back().until.latest, not_yet);
}

TEST_F(ProofWatch, SeesARestartAndTheAbsenceBefore) {
    const auto first = last_of(0, 1);
    servers_[0].kill9();
    EXPECT_TRUE(support::eventually([&] { return watch_.periods(0)[0].until.latest != not_yet; }));
    servers_[0].start();
    EXPECT_NE(last_of(0, 2).run_id, first.run_id);
    const auto periods = watch_.periods(0);
    EXPECT_GT(periods[1].from.latest, periods[0].until.latest);
}

TEST_F(ProofWatch, WaitsForAServerThatIsStopped) {
    (void)last_of(0, 1);
    (void)last_of(1, 1);
    servers_[0].freeze();
    // Looks at the other server begin and end meanwhile.
    for (std::size_t restarts = 1; restarts <= 3; ++restarts) {
        servers_[1].kill9();
        EXPECT_TRUE(
            support::eventually([&] { return watch_.periods(1).back().until.latest != not_yet; }));
        servers_[1].start();
        (void)last_of(1, 1 + restarts);
    }
    const auto thawed = now();
    servers_[0].thaw();
    (void)servers_[0].execute(
        {"REPLICAOF", servers_[1].host(), std::to_string(servers_[1].port())});
    EXPECT_TRUE(support::eventually([&] { return watch_.periods(0).size() > 1; }));
    const auto periods = watch_.periods(0);
    EXPECT_FALSE(periods.at(1).state.is_master) << "it was the same until now";
    EXPECT_GE(periods[0].until.latest, thawed);
}

}  // namespace
