// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Replays each input of the corpus, and each input that ever made a target fail.
#include "targets/targets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

namespace fuzz {

inline void PrintTo(const target& which, std::ostream* out) { *out << which.name; }

namespace {

std::vector<std::filesystem::path> inputs_of(const std::string& name) {
    std::vector<std::filesystem::path> all;
    const std::filesystem::path folder = std::string(PAWL_SOURCE_DIR) + "/tests/fuzz/corpus/";
    for (const auto& each : std::filesystem::directory_iterator(folder / name))
        all.push_back(each.path());
    std::sort(all.begin(), all.end());
    return all;
}

class Corpus : public ::testing::TestWithParam<target> {};

TEST_P(Corpus, IsReplayed) {
    const auto inputs = inputs_of(GetParam().name);
    EXPECT_FALSE(inputs.empty());
    for (const auto& path : inputs) {
        std::ifstream file(path, std::ios::binary);
        const std::string input{std::istreambuf_iterator<char>(file), {}};
        // The last line tells which input ended the program.
        ::testing::Test::RecordProperty("input", path.filename().string());
        GetParam().run(input);
    }
}

INSTANTIATE_TEST_SUITE_P(Of, Corpus,
                         ::testing::ValuesIn(all_targets().begin(), all_targets().end()),
                         [](const auto& which) { return std::string(which.param.name); });

}  // namespace
}  // namespace fuzz
