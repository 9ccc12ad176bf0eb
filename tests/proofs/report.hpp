// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The results of the runs of one environment, beside each other.
#pragma once

#include "run.hpp"

#include <string>
#include <vector>

namespace proofs {

[[nodiscard]] std::string text_table(const std::vector<run_result>& runs);
[[nodiscard]] std::string html_table(const std::vector<run_result>& runs);

// What the runs should have shown and did not, as sentences: a violation with fencing, or no damage
// without.
[[nodiscard]] std::vector<std::string> complaints(const run_result& result);

}  // namespace proofs
