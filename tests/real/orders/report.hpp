// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The results as a text and as a page.
#pragma once

#include "experiments.hpp"

#include <string>
#include <vector>

namespace real::orders {

struct report {
    std::vector<run_result> all_layers;
    // Of each experiment that was run, or of layers that the user named.
    struct part {
        const experiment* shown = nullptr;  // null: as the user named them
        run_result result;
    };
    std::vector<part> parts;
    std::vector<std::string> complaints;
    std::uint64_t seed = 0;
};

// The auditor's rules of a run that just ended.
[[nodiscard]] std::string rules_text(const run_result& result);
// "verification without key"
[[nodiscard]] std::string title_of(const run_options& options);

[[nodiscard]] std::string text_of(const report& result);
[[nodiscard]] std::string page_of(const report& result);

}  // namespace real::orders
