// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "process.hpp"
#include "work.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

int main(int argc, char** argv) {
    const bool helper = argc > 2 && std::string_view(argv[1]) == "--pawl-helper";
    const std::string_view role = helper ? argv[2] : "";
    if (argc == 6) {
        const storm::process_options options{.url = argv[3], .folder = argv[4], .name = argv[5]};
        if (role == "storm") return storm::run_process(options);
        if (role == "stripes") return storm::run_stripes(options);
        if (role == "adopt") return storm::run_adopter(options);
    }
    if (argc == 5 && role == "refused") return storm::acquire_each(argv[3], std::stoi(argv[4]));
    if (argc == 4 && role == "work") return storm::run_worker(argv[3]);
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
