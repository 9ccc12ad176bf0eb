// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The rows of pawl_reconcile.
#pragma once

#include <pawl/guard/connection.hpp>
#include <pawl/guard/reconcile_report.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::guard {

// The newest runs first; of all names, if `name` is empty.
[[nodiscard]] statement select_runs(dialect spoken, std::string_view name, std::uint32_t limit);
// The answer of `select_runs`. Throws errc::protocol if it is none.
[[nodiscard]] std::vector<reconcile_run> runs_of(const rows& answer);

// What a pass writes: the name and the number of the run, its leader, and how far it is.
struct run_progress {
    std::string name;
    std::int64_t run = 0;
    std::int64_t token = 0;
    std::string after;
    reconcile_counts counts;
    std::string error;
};
[[nodiscard]] statement insert_run(dialect spoken, const run_progress& progress);
[[nodiscard]] statement update_run(dialect spoken, const run_progress& progress, bool ends);
// Finds the newest run that is not kept; and deletes it and those before it.
[[nodiscard]] statement select_superfluous(dialect spoken, const std::string& name);
[[nodiscard]] statement delete_until(dialect spoken, const std::string& name, const rows& newest);

}  // namespace pawl::guard
