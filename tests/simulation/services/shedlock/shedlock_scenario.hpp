// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One scenario of ShedLock's table: programs of Pawl and Java services that lock in it, and faults
// of the server, its sessions and the programs. One seed makes all random choices.
#pragma once

#include "../../kernel/trace.hpp"
#include "../../world/scenario_result.hpp"
#include "shedlock_server.hpp"

namespace pawl::simulation {

[[nodiscard]] scenario_result run_shedlock_scenario(std::uint64_t seed,
                                                    shedlock_bug bug = shedlock_bug::none,
                                                    const trace::line_sink& sink = {});

}  // namespace pawl::simulation
