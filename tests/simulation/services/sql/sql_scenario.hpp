// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One scenario of the backend over stored functions: programs that lock in one database, and faults
// of the database, its sessions and the programs. One seed makes all random choices.
#pragma once

#include "../../kernel/trace.hpp"
#include "../../world/scenario_result.hpp"
#include "sql_database.hpp"

namespace pawl::simulation {

[[nodiscard]] scenario_result run_sql_scenario(std::uint64_t seed, sql_bug bug = sql_bug::none,
                                               const trace::line_sink& sink = {});

}  // namespace pawl::simulation
