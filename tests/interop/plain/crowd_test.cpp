// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Processes of a peer and of Pawl contend for one lock, thousands of times.
#include "crowd.hpp"
#include "libraries.hpp"
#include "library_fixture.hpp"

#include <iostream>

namespace {

using namespace plain;

using Crowd = library_fixture;
INSTANTIATE_TEST_SUITE_P(Plain, Crowd, testing::ValuesIn(polling_libraries()),
                         [](const auto& parameter) { return parameter.param.name; });

// Holds never overlap, and neither side is left with nothing.
TEST_P(Crowd, NoTwoHoldAtOnce) {
    crowd processes;
    for (int i = 0; i < 2; ++i) {
        processes.start_theirs(other_library());
        processes.start_ours(own_process());
    }
    // A polling peer gets what the machine's load leaves to it: it must get at least some holds.
    EXPECT_TRUE(processes.has_held(2000, 50));
    processes.end();
    std::cout << processes.summary(GetParam().name) << "\n";
}

}  // namespace
