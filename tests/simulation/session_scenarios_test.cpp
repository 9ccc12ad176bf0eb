// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Hundreds of scenarios of locks that belong to sessions. `PAWL_SEEDS` is their number (400),
// `PAWL_SEED` the first seed (1). `pawl_simulate --topology sessions --seed N --trace` prints all
// events of one scenario.
#include "bugs/search.hpp"
#include "seeds.hpp"
#include "services/sessions/session_scenario.hpp"

#include <gtest/gtest.h>

#include <string>

namespace pawl::simulation {
namespace {

TEST(SessionScenarios, KeepEveryPromise) {
    const auto seeds = from_environment("PAWL_SEEDS", 400);
    std::uint64_t grants = 0;
    run_share(
        0, 1, seeds, [](std::uint64_t seed) { return run_session_scenario(seed); },
        [&](const auto& result) { grants += result.grants; });
    EXPECT_GT(grants, 5 * seeds) << "scenarios without grants prove nothing";
}

class SessionInjectedBugs
    : public ::testing::TestWithParam<std::pair<session_bug, std::string_view>> {};

TEST_P(SessionInjectedBugs, IsFound) {
    expect_found(GetParam().second,
                 [](std::uint64_t seed) { return run_session_scenario(seed, GetParam().first); });
}

INSTANTIATE_TEST_SUITE_P(each, SessionInjectedBugs,
                         ::testing::ValuesIn(session_bug_names.begin() + 1,
                                             session_bug_names.end()),
                         [](const auto& bug) { return std::string(bug.param.second); });

}  // namespace
}  // namespace pawl::simulation
