// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Thousands of scenarios, each with its own faults. `PAWL_SEEDS` is their number (10,000),
// `PAWL_SEED` the first seed (1). `pawl_simulate --seed N --trace` prints all events of one
// scenario.
#include "services/scenarios.hpp"
#include "bugs/search.hpp"
#include "kernel/process_resources.hpp"
#include "seeds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace pawl::simulation {
namespace {

// Coprime to the kinds of scenarios, so that each share has all of them.
constexpr std::uint64_t shares = 11;

class Scenarios : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Scenarios, KeepEveryPromise) {
    const auto seeds = from_environment("PAWL_SEEDS", 4'000);
    struct total {
        std::uint64_t scenarios = 0, grants = 0;
    };
    std::map<scenario_kind, total> kinds;
    run_share(
        GetParam(), shares, seeds, [](std::uint64_t seed) { return run_any_scenario(seed); },
        [&kinds](const auto& result) {
            auto& of_kind = kinds[result.kind];
            ++of_kind.scenarios;
            of_kind.grants += result.grants;
        });
    for (const auto& [kind, all] : kinds) {
        EXPECT_GT(all.grants, all.scenarios) << "scenarios without grants prove nothing";
        std::cout << to_string(kind) << ": " << all.scenarios << " scenarios\n";
    }
}

// Interleavings in which the simulation found errors. Today's seeds make other scenarios, but the
// same interleavings occur again and again.
//
// - A releases while its connection is broken. The local successor gives up meanwhile, and its
//   memory is freed. The successor must be chosen when the release can be sent, not before.
// - A's release names a local successor; the server does not know the script. The successor leaves
//   the queue. Then the release is sent again in full and grants the lock to the successor, which
//   would neither renew nor release it. The client must pass such a grant on.
// - A client is closed while it has no other operation. Closing begins later than requested, and by
//   then nothing else keeps the engine alive.
// - The server's clock is set forward while a waiter is queued, and the message of its grant is
//   slow. The time of receipt must not be taken for the time of the grant.
// - The message of a grant is slow. A refresh finds the grant, but its window ends before it is
//   confirmed. Then the message arrives. Its time must not be counted from the refresh, which was
//   later than the grant.
// - A process is stopped while it is granted a lock as local successor, and continues after the
//   grant has expired. Its refresh finds another holder and joins the queue again. Then the old
//   grant is read. The client must check it at the server, and a granted waiter must not stay
//   queued.
// - B requests a lock, and the server does not know the script. Before B's request is sent in full,
//   A's release names B as successor. The request then finds B's own lock and queues B, which
//   holds the lock already.
// - A waiter is granted a lock, an operator takes it away, a refresh grants it to the same waiter
//   again, and then the first message is read. The message is older than the refresh that found the
//   waiter queued, so it must be ignored.
// - Readers hold a lock, the server restarts with data from before, and other readers join. They
//   must not get the token of readers whose time is over.
// - The same server has forgotten that a reader left. The hold must end with its lease; nothing
//   more can be expected.
// - The server refuses a waiter's refreshes for seconds. Then another waiter's refresh hands the
//   lock on, and the message is slow. The waiter's clock is slow as well: it must not count the
//   server's time since its last refresh as its own.
// - A reader's grant is slow, and its window ends. A refresh of the reader, delayed by the network,
//   brings another grant with another token. Then the first message is read. A renewal with its
//   value must be refused, although the owner is the same.
// - A renewal fails at once, without a reply from the network. It must not be repeated at once.
//
// For several names at once, also step by step in sets_test.cpp:
// - The server grants all names to A, but the reply is so slow that their leases are over. A must
//   be told that they are lost, as if they were granted one after the other, and must get none.
// - The server is silent while A requests all names in one request. A must not wait for longer than
//   its limit, neither for this reply nor for that of a later try of the first name.
// - A's first name is granted when the time is over already, and the server falls silent. The
//   request for the second must not take longer than a request with a wait.
//
// Interleavings that the sets were written for, without an error so far:
// - The reply of the single request is lost, and the request is executed at once, later, or never;
//   or A gives up meanwhile. All names are released, also those that A requests again.
// - A holds the first name and waits for the second. An operator takes the first, its holder
//   sleeps, its `max_hold` is over, or A gives up. The second may be granted at the same moment.
// - A and B name the same locks in opposite orders, A in one request and B one by one, while others
//   request one of them, also non-exclusively and in strict order.
// - A's owner holds one of them already, re-enters it, and gets the others or does not.
// - One of them is lost while A holds all. A is notified, and keeps the rest until the release.
//
// For latches and databases, also step by step in tests/chaos/latch_database_test.cpp:
// - A waits for Redisson's latch in one database. B's latch of that name in another reaches 0. Both
//   receive the message, and A must check before it passes.
// - A waits for a latch or a barrier's phase that began before the one of that name in another
//   database. Messages about the later one must not end A's wait, neither with success nor failure.
INSTANTIATE_TEST_SUITE_P(Random, Scenarios, testing::Range(std::uint64_t{0}, shares));

// A reader is granted the lock in a crowd, so its claim window is longer than its ttl | its renewal
// sets the end to one ttl later, and the reader still counts the window. `grants_at_once` is tiny
// in this scenario.
TEST(KeptScenarios, AWindowInACrowdIsNoLongerThanATtl) {
    EXPECT_EQ(run_scenario(14).violation, "");
}

class InjectedBugs : public testing::TestWithParam<std::pair<injected_bug, std::string_view>> {};

TEST_P(InjectedBugs, IsFound) {
    if (ends_process(GetParam().first)) {
        const auto live = [] {
            report_terminations();
            for (std::uint64_t seed = 1; seed <= patience; ++seed)
                (void)run_scenario(seed, GetParam().first);
            std::exit(0);
        };
        EXPECT_EXIT(live(), testing::ExitedWithCode(1), "");
        return;
    }
    expect_found(GetParam().second,
                 [](std::uint64_t seed) { return run_scenario(seed, GetParam().first); });
}

std::vector<std::pair<injected_bug, std::string_view>> bugs_to_find() {
    std::vector<std::pair<injected_bug, std::string_view>> bugs(injected_bug_names.begin() + 1,
                                                                injected_bug_names.end());
    std::erase_if(bugs, [](const auto& each) {
        return is_invisible_in_scenarios(each.first) || is_of_redisson(each.first);
    });
    return bugs;
}

class InjectedTopologyBugs : public testing::TestWithParam<named_topology_bug> {};

TEST_P(InjectedTopologyBugs, IsFound) {
    expect_found(GetParam().name,
                 [](std::uint64_t seed) { return run_scenario_with(GetParam(), seed); });
}

INSTANTIATE_TEST_SUITE_P(Each, InjectedTopologyBugs, testing::ValuesIn(topology_bugs),
                         [](const auto& test) { return std::string(test.param.name); });

INSTANTIATE_TEST_SUITE_P(Each, InjectedBugs, testing::ValuesIn(bugs_to_find()),
                         [](const auto& test) { return std::string(test.param.second); });

}  // namespace
}  // namespace pawl::simulation
