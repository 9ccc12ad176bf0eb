// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Clients that request a free lock of Redlock at the same moment, with one attempt each.
#include "services/redlock/redlock_programs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace pawl::simulation {
namespace {

using namespace std::chrono_literals;

// Each message takes its own time, so that the clients reach the nodes in different orders.
constexpr network_faults far_apart{.latency_low = 0ms, .latency_high = 10ms};

struct outcomes {
    std::size_t winners = 0, refused = 0, failed = 0;
};

class SimultaneousTries : public testing::TestWithParam<std::size_t> {
protected:
    // All programs connect first.
    static void connect(redlock_programs& set) {
        std::vector<redlock_programs::request*> warm;
        for (const auto& each : set.programs)
            warm.push_back(&set.acquire(*each, {.ttl = 5s, .wait = 10s},
                                        "warm/" + std::to_string(warm.size())));
        const auto has_ended = [](const auto* each) { return each->outcome.has_value(); };
        ASSERT_TRUE(set.run_until([&] { return std::ranges::all_of(warm, has_ended); }));
        set.loop.run_for(100ms);
    }
    static outcomes race(redlock_programs& set, const std::string& name) {
        std::vector<redlock_programs::request*> tries;
        for (const auto& each : set.programs)
            tries.push_back(&set.try_acquire(*each, {.ttl = 10s}, name));
        const auto has_ended = [](const auto* each) { return each->outcome.has_value(); };
        EXPECT_TRUE(set.run_until([&] { return std::ranges::all_of(tries, has_ended); }));
        outcomes result;
        for (const auto* each : tries) {
            result.winners += each->lock.owns_lock() ? 1 : 0;
            result.failed += *each->outcome ? 1 : 0;
            result.refused += !*each->outcome && !each->lock.owns_lock() ? 1 : 0;
        }
        return result;
    }
};

//   2 to 10 clients ask 5 nodes for a free lock at once, and split them | exactly one of them gets
//   it, and the others are told that it is taken
TEST_P(SimultaneousTries, HaveOneWinner) {
    redlock_programs set(5, GetParam(), far_apart, GetParam());
    connect(set);
    for (int i = 0; i < 40; ++i) {
        const auto result = race(set, "it/" + std::to_string(i));
        EXPECT_EQ(result.winners, 1U) << "race " << i;
        EXPECT_EQ(result.failed, 0U) << "race " << i;
    }
}

TEST_P(SimultaneousTries, HaveOneWinnerThoughANodeIsDown) {
    redlock_programs set(5, GetParam(), far_apart, 100 + GetParam());
    connect(set);
    set.networks[0]->stop_server();
    set.loop.run_for(100ms);
    for (int i = 0; i < 40; ++i)
        EXPECT_EQ(race(set, "it/" + std::to_string(i)).winners, 1U) << "race " << i;
}

//   a client has died with two of five nodes | the others split the rest | one of them gets the
//   lock from the three nodes that are left
TEST_P(SimultaneousTries, HaveOneWinnerBesideTheRestOfADeadClient) {
    redlock_programs set(5, GetParam(), far_apart, 200 + GetParam());
    connect(set);
    for (int i = 0; i < 20; ++i) {
        const auto name = "it/" + std::to_string(i);
        for (const std::size_t node : {0U, 1U})
            set.networks[node]->change_data([&](simulated_redis& server) {
                // It comes before all others.
                (void)server.execute(
                    0,
                    {"SET", "pawl:{" + name + "}",
                     "00000000000000000000000000000001;0000000000000001;1;h;c;1;1", "PX", "60000"});
            });
        EXPECT_EQ(race(set, name).winners, 1U) << "race " << i;
    }
}

INSTANTIATE_TEST_SUITE_P(Clients, SimultaneousTries, testing::Values(2U, 3U, 5U, 10U));

//   two of four nodes that answer have the lock of one client, the other two grant it to another
//   one | nobody can tell whether the first client holds it at the node that is down
TEST(SplitNodes, AreNoQuorum) {
    redlock_programs set(5, 2, {});
    set.acquire_and_wait(*set.programs[0], {.ttl = 10s});
    for (const std::size_t node : {2U, 3U})
        set.networks[node]->change_data([](simulated_redis& server) {
            (void)server.execute(0, {"DEL", "pawl:{it}"});
        });
    set.networks[4]->stop_server();
    auto& tried = set.try_acquire_and_wait(*set.programs[1], {.ttl = 10s});
    EXPECT_TRUE(tried.has_failed_with(errc::no_quorum)) << tried.outcome->message();
    EXPECT_NE(tried.messages.message().find("attempts split the nodes"), std::string_view::npos)
        << tried.messages.message();
}

//   two of three nodes grant the lock, and one of them has been replaced, as the other one knows;
//   the third is down | there is no other attempt: the error does not speak of one, and comes at
//   once | a waiter pauses as in an outage
TEST(SplitNodes, AreNotThoseThatGrantInVain) {
    redlock_programs set(3, 1, {});
    auto& program = *set.programs[0];
    set.acquire_and_wait(program, {.ttl = 10s}, "warm");
    set.networks[2]->stop_server();
    set.loop.run_for(1s);
    set.networks[0]->change_data([](simulated_redis& server) {
        const auto own = server.execute(0, {"HGET", "pawl:redlock", "vector"}).text;
        const auto end = own.find(' ');
        const auto rest = own.find(' ', end + 1);
        (void)server.execute(0, {"HSET", "pawl:redlock", "vector",
                                 own.substr(0, end) + " 99:another" + own.substr(rest)});
    });
    auto& tried = set.try_acquire(program, {.ttl = 10s});
    ASSERT_TRUE(set.run_until([&] { return tried.outcome.has_value(); }, 100ms));
    EXPECT_TRUE(tried.has_failed_with(errc::no_quorum)) << tried.outcome->message();
    const std::string text(tried.messages.message());
    EXPECT_EQ(text.find("split"), std::string::npos) << text;
    EXPECT_NE(text.find("needs 2 of 3 nodes"), std::string::npos) << text;
}

}  // namespace
}  // namespace pawl::simulation
