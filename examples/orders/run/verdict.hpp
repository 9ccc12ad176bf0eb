// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Whether a run has shown what it should, and how that is said.
#pragma once

#include "session.hpp"

#include <string>

namespace shop {

struct verdict {
    bool is_good = false;
    std::string sentence;
};

// With all layers nothing may be wrong. Without some of them the damage must be there; or, where
// another layer covers, what it costs or what the other layer has caught.
[[nodiscard]] verdict judge(const run_options& options, const run_figures& figures);

// What the layers that are missing have cost: "21 claims in vain". Empty: nothing.
[[nodiscard]] std::string cost_of(const run_options& options, const run_figures& figures);

}  // namespace shop
