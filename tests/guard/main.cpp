// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The tests, or a process of a storm: `--pawl-helper once-storm WORDS…`.
#include "once_storm.hpp"

#include <gtest/gtest.h>

int main(int argc, char** argv) {
    const std::vector<std::string> all(argv, argv + argc);
    if (all.size() > 2 && all[1] == "--pawl-helper" && all[2] == "once-storm")
        return guard_tests::run_storm_process({all.begin() + 3, all.end()});
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
