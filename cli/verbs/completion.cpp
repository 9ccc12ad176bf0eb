// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "../ui/failure.hpp"
#include "completions.hpp"
#include "verbs.hpp"

#include <iostream>

namespace pawl::cli {

int completion(const std::string& shell) {
    for (const auto& [name, script] : completions::all) {
        if (shell != name) continue;
        std::cout << script;
        return static_cast<int>(exit_code::ok);
    }
    throw failure(exit_code::usage,
                  "There is no completion for '" + shell + "'; use bash, zsh or fish.");
}

}  // namespace pawl::cli
