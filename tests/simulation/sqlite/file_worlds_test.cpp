// Thousands of worlds of one file. `PAWL_SEEDS` says how many (1,000), `PAWL_SEED` where to begin
// (1); `pawl_simulate_sqlite --seed N --trace` shows one again, line by line.
#include "file_world.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace pawl::simulation {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text != nullptr ? std::stoull(text) : otherwise;
}

TEST(FileWorlds, KeepEveryPromise) {
    const auto seeds = from_environment("PAWL_SEEDS", 1'000);
    const auto first = from_environment("PAWL_SEED", 1);
    std::uint64_t grants = 0, losses = 0;
    for (auto seed = first; seed < first + seeds; ++seed) {
        const auto once = run_file_world(seed);
        ASSERT_EQ(once.violation, "") << "seed " << seed;
        grants += once.grants;
        losses += once.losses_told;
        if (seed % 50 != 0) continue;
        ASSERT_EQ(run_file_world(seed).hash, once.hash) << "seed " << seed;
    }
    EXPECT_GT(grants, 5 * seeds) << "worlds in which nobody gets a lock show nothing";
    EXPECT_GT(losses, seeds / 20) << "worlds in which no file is replaced show less";
}

class FilePlanted : public testing::TestWithParam<std::pair<file_bug, std::string_view>> {};

TEST_P(FilePlanted, IsFound) {
    for (std::uint64_t seed = 1; seed <= 2'000; ++seed)
        if (!run_file_world(seed, GetParam().first).violation.empty()) return;
    ADD_FAILURE() << GetParam().second << " was not found in 2,000 worlds";
}

INSTANTIATE_TEST_SUITE_P(each, FilePlanted,
                         testing::ValuesIn(file_bug_names.begin() + 1, file_bug_names.end()),
                         [](const auto& bug) { return std::string(bug.param.second); });

}  // namespace
}  // namespace pawl::simulation
