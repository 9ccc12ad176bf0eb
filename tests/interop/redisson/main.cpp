// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "peer.hpp"
#include "storm.hpp"

#include <gtest/gtest.h>

// As a helper: --pawl-helper peer URL TTL_MS, or --pawl-helper storm-command JOURNAL.
int main(int argc, char** argv) {
    if (argc == 5 && std::string(argv[1]) == "--pawl-helper")
        return interop::run_peer(argv[3], argv[4]);
    if (argc == 4 && std::string(argv[2]) == "storm-command")
        return interop::run_storm_command(argv[3]);
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
