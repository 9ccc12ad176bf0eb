// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The scenarios of a test: `PAWL_SEEDS` is their number, `PAWL_SEED` the first seed.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

namespace pawl::simulation {

inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text != nullptr ? std::stoull(text) : otherwise;
}

// Runs one share of the scenarios, so that all cores are used. `note` gets the result of each.
template <class RunScenario, class Note>
void run_share(std::uint64_t share, std::uint64_t shares, std::uint64_t seeds,
               const RunScenario& run, const Note& note) {
    const auto first = from_environment("PAWL_SEED", 1);
    for (auto seed = first + share; seed < first + seeds; seed += shares) {
        const auto result = run(seed);
        ASSERT_EQ(result.violation, "") << "seed " << seed;
        note(result);
        // Every 50th scenario runs twice: only a repeatable scenario can be analysed.
        if (seed % 50 != 0) continue;
        ASSERT_EQ(run(seed).hash, result.hash) << "seed " << seed;
    }
}

}  // namespace pawl::simulation
