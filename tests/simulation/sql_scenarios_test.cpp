// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Thousands of scenarios of one database. `PAWL_SEEDS` is their number (1,000), `PAWL_SEED` the
// first seed (1). `pawl_simulate --topology sql --seed N --trace` prints all events of one
// scenario.
#include "bugs/search.hpp"
#include "seeds.hpp"
#include "services/sql/sql_scenario.hpp"

#include <gtest/gtest.h>

#include <string>

namespace pawl::simulation {
namespace {

constexpr std::uint64_t shares = 4;

class SqlScenarios : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(SqlScenarios, KeepEveryPromise) {
    const auto seeds = from_environment("PAWL_SEEDS", 1'000);
    std::uint64_t grants = 0;
    run_share(
        GetParam(), shares, seeds, [](std::uint64_t seed) { return run_sql_scenario(seed); },
        [&](const auto& result) { grants += result.grants; });
    EXPECT_GT(grants, 5 * seeds / shares) << "scenarios without grants prove nothing";
}

INSTANTIATE_TEST_SUITE_P(Random, SqlScenarios, ::testing::Range<std::uint64_t>(0, shares));

class SqlInjectedBugs : public ::testing::TestWithParam<std::pair<sql_bug, std::string_view>> {};

TEST_P(SqlInjectedBugs, IsFound) {
    expect_found(GetParam().second,
                 [](std::uint64_t seed) { return run_sql_scenario(seed, GetParam().first); });
}

INSTANTIATE_TEST_SUITE_P(each, SqlInjectedBugs,
                         ::testing::ValuesIn(sql_bug_names.begin() + 1, sql_bug_names.end()),
                         [](const auto& bug) { return std::string(bug.param.second); });

}  // namespace
}  // namespace pawl::simulation
