// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "peer.hpp"

#include <gtest/gtest.h>

#include <string_view>

int main(int argc, char** argv) {
    if (argc == 4 && std::string_view(argv[1]) == "--pawl-helper" &&
        std::string_view(argv[2]) == "pawl")
        return plain::run_pawl(argv[3]);
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
