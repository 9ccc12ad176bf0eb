// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The scenarios of Redlock are part of those in scenarios_test.cpp; these are some more.
// `pawl_simulate --topology redlock --seed N --trace` prints all events of one scenario.
#include "redlock/redlock_scenario.hpp"

#include <gtest/gtest.h>

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

class InjectedRedlockBugs
    : public testing::TestWithParam<std::pair<redlock_bug, std::string_view>> {};

// If the simulation does not find an injected bug, its success proves nothing.
TEST_P(InjectedRedlockBugs, IsFound) {
    check_redlock_bugs();
    constexpr std::uint64_t patience = 4'000;
    for (std::uint64_t seed = 1; seed <= patience; ++seed) {
        if (run_redlock_scenario(seed, GetParam().first).violation.empty()) continue;
        RecordProperty("seeds", static_cast<int>(seed));
        return;
    }
    FAIL() << "no scenario of " << patience << " found it";
}

INSTANTIATE_TEST_SUITE_P(Each, InjectedRedlockBugs, testing::ValuesIn(redlock_bug_names),
                         [](const auto& test) { return std::string(test.param.second); });

}  // namespace
}  // namespace pawl::simulation
