// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One scenario of locks that belong to sessions: programs that lock in one server, and faults of
// the server, its sessions and the programs. One seed makes all random choices.
#pragma once

#include "../../kernel/trace.hpp"
#include "../../world/scenario_result.hpp"
#include "lock_server.hpp"

namespace pawl::simulation {

[[nodiscard]] scenario_result run_session_scenario(std::uint64_t seed,
                                                   session_bug bug = session_bug::none,
                                                   const trace::line_sink& sink = {});

}  // namespace pawl::simulation
