// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Thousands of scenarios of one file. `PAWL_SEEDS` is their number (1,000), `PAWL_SEED` the first
// seed (1). `pawl_simulate --topology sqlite --seed N --trace` prints all events of one
// scenario.
#include "seeds.hpp"
#include "services/sqlite/file_scenario.hpp"

#include <gtest/gtest.h>

#include <string>

namespace pawl::simulation {
namespace {

constexpr std::uint64_t file_shares = 4;

class FileScenarios : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(FileScenarios, KeepEveryPromise) {
    const auto seeds = from_environment("PAWL_SEEDS", 1'000);
    std::uint64_t grants = 0, losses = 0;
    run_share(
        GetParam(), file_shares, seeds, [](std::uint64_t seed) { return run_file_scenario(seed); },
        [&](const auto& result) {
            grants += result.grants;
            losses += result.losses;
        });
    EXPECT_GT(grants, 5 * seeds / file_shares) << "scenarios without grants prove nothing";
    EXPECT_GT(losses, seeds / 20 / file_shares) << "scenarios without replaced files prove less";
}

INSTANTIATE_TEST_SUITE_P(Random, FileScenarios, ::testing::Range<std::uint64_t>(0, file_shares));

class FileBugs : public ::testing::TestWithParam<std::pair<file_bug, std::string_view>> {};

TEST_P(FileBugs, IsFound) {
    for (std::uint64_t seed = 1; seed <= 2'000; ++seed)
        if (!run_file_scenario(seed, GetParam().first).violation.empty()) return;
    ADD_FAILURE() << GetParam().second << " was not found in 2,000 scenarios";
}

INSTANTIATE_TEST_SUITE_P(each, FileBugs,
                         ::testing::ValuesIn(file_bug_names.begin() + 1, file_bug_names.end()),
                         [](const auto& bug) { return std::string(bug.param.second); });

}  // namespace
}  // namespace pawl::simulation
