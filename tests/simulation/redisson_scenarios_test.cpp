// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Hundreds of scenarios in which programs with Pawl and programs in Java share Redisson's locks.
// `PAWL_SEEDS` is their number (1,000), `PAWL_SEED` the first seed (1).
// `pawl_simulate --redisson --seed N --trace` prints all events of one scenario.
#include "bugs/search.hpp"
#include "seeds.hpp"
#include "services/redis/scenario.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace pawl::simulation {
namespace {

scenario_result run_redisson_scenario(std::uint64_t seed, injected_bug bug = injected_bug::none) {
    return run_scenario(seed, bug, {}, redis::key_layout::redisson);
}

constexpr std::uint64_t redisson_shares = 4;

class RedissonScenarios : public testing::TestWithParam<std::uint64_t> {};

TEST_P(RedissonScenarios, KeepEveryPromise) {
    const auto seeds = from_environment("PAWL_SEEDS", 1'000);
    std::uint64_t grants = 0;
    run_share(
        GetParam(), redisson_shares, seeds,
        [](std::uint64_t seed) { return run_redisson_scenario(seed); },
        [&grants](const scenario_result& result) { grants += result.grants; });
    EXPECT_GT(grants, seeds / redisson_shares) << "scenarios without grants prove nothing";
}

INSTANTIATE_TEST_SUITE_P(Random, RedissonScenarios,
                         testing::Range(std::uint64_t{0}, redisson_shares));

class RedissonInjectedBugs
    : public testing::TestWithParam<std::pair<injected_bug, std::string_view>> {};

TEST_P(RedissonInjectedBugs, IsFound) {
    expect_found(GetParam().second,
                 [](std::uint64_t seed) { return run_redisson_scenario(seed, GetParam().first); });
}

constexpr auto first_bug = std::ranges::find_if(
    injected_bug_names, [](const auto& each) { return is_of_redisson(each.first); });

INSTANTIATE_TEST_SUITE_P(Each, RedissonInjectedBugs,
                         testing::ValuesIn(first_bug, injected_bug_names.end()),
                         [](const auto& test) { return std::string(test.param.second); });

}  // namespace
}  // namespace pawl::simulation
