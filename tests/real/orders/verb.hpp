// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The experiment with orders as a verb of the program, and its helper processes.
#pragma once

#include "settings.hpp"

#include <optional>
#include <string>
#include <vector>

namespace real::orders {

// Returns the exit status for main. Throws bad_usage.
int run_verb(const std::vector<std::string>& arguments);
// Of a helper process of the experiment; empty: the words are of another one.
[[nodiscard]] std::optional<int> run_helper(const std::vector<std::string>& words);

}  // namespace real::orders
