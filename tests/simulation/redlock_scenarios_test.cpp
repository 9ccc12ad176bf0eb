// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The scenarios of Redlock are part of those in scenarios_test.cpp; these are some more.
// `pawl_simulate --topology redlock --seed N --trace` prints all events of one scenario.
#include "bugs/search.hpp"
#include "services/redlock/redlock_scenario.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace pawl::simulation {
namespace {

// Interleavings in which the simulation found errors:
//
// - A waiter is granted its lock and leaves the lines. A node does not know the script, and before
//   its text is sent, the same client's next waiter stands in that line (seed 549). It must keep
//   the place, or nobody wakes it.
// - Two locks are acquired at once for the first time, then others. The second lock has no counter
//   of its own, and the highest token of the node is above its token (seed 2502).
// - A clock jumps, a node restarts, and no node that answers has the lock. A forced release finds
//   it free, and the holder's next renewal restores it (seed 40). The counters must be raised all
//   the same.
TEST(RedlockScenarios, KeepEveryPromise) {
    std::uint64_t grants = 0;
    for (std::uint64_t seed = 1; seed <= 600; ++seed) {
        const auto result = run_redlock_scenario(seed);
        ASSERT_EQ(result.violation, "") << "seed " << seed;
        grants += result.grants;
        // Only a repeatable scenario can be analysed.
        if (seed % 50 == 0) {
            ASSERT_EQ(run_redlock_scenario(seed).hash, result.hash);
        }
    }
    EXPECT_GT(grants, 6000U) << "scenarios without grants prove nothing";
}

// Seeds in which the simulation found errors of the library, or of its own rules:
//
// - A writer and a reader of a far node | the first renewal is sent at the grant, and the client
//   reckons the node's clock from the handshake, which was read a round trip earlier | the node
//   finds the renewal too late | the repetition comes after the deadline, and the hold is lost.
// - A set has one of its locks, and waits for the other: nobody waits for a free lock.
// - A first renewal to a node whose clock is not known has no end, so late copies extend the hold.
// - Names lead back to earlier servers, and the set's memory was at the others: it is lost.
// - Readers of two groups: the release of one is no success after the end of its hold.
// - The key of readers comes back with its earlier end.
struct kept_seeds {
    redlock_fault fault;
    std::vector<std::uint64_t> seeds;
};

TEST(RedlockScenarios, KeepThePromisesThatWereBroken) {
    const std::vector<kept_seeds> all{
        {redlock_fault::far_nodes, {43, 57, 82, 86, 90, 117, 144, 156, 197}},
        {redlock_fault::late_renewals, {45, 89, 123, 131, 133, 138}},
        {redlock_fault::two_servers, {11, 23, 62, 75}},
        {redlock_fault::roll_back, {280}},
        {redlock_fault::releases, {80, 226}}};
    for (const auto& each : all)
        for (const auto seed : each.seeds) {
            const auto result = run_redlock_scenario(seed, redlock_bug::none, {}, {each.fault});
            EXPECT_EQ(result.violation, "") << "seed " << seed;
        }
}

class InjectedRedlockBugs
    : public testing::TestWithParam<std::pair<redlock_bug, std::string_view>> {};

TEST_P(InjectedRedlockBugs, IsFound) {
    check_redlock_bugs();
    expect_found(GetParam().second,
                 [](std::uint64_t seed) { return run_redlock_scenario(seed, GetParam().first); });
}

INSTANTIATE_TEST_SUITE_P(Each, InjectedRedlockBugs, testing::ValuesIn(redlock_bug_names),
                         [](const auto& test) { return std::string(test.param.second); });

}  // namespace
}  // namespace pawl::simulation
