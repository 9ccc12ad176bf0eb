// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The results of the runs of one environment, beside each other.
#pragma once

#include "run.hpp"

#include <real/table.hpp>

#include <string>
#include <vector>

namespace real::proofs {

[[nodiscard]] std::string text_table(const std::vector<run_result>& runs);
// The table, the remarks and the complaints.
[[nodiscard]] std::string html_section(const std::vector<run_result>& runs);
// As sentences: each failover with what it allows, and the faults that were not injected.
[[nodiscard]] std::vector<std::string> remarks(const run_result& result);

// What the runs should have shown and did not, as sentences: a violation with fencing, or no damage
// without.
[[nodiscard]] std::vector<std::string> complaints(const run_result& result);

}  // namespace real::proofs
