// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The scenario of one seed: programs, users and a server, from the start until all have ended.
#pragma once

#include "../../world/scenario_result.hpp"
#include "program.hpp"

#include <cstdint>

namespace pawl::simulation {

// `sink` receives every line of the trace; it may be empty.
[[nodiscard]] scenario_result run_scenario(std::uint64_t seed,
                                           injected_bug bug = injected_bug::none,
                                           const trace::line_sink& sink = {},
                                           redis::key_layout layout = redis::key_layout::native);

}  // namespace pawl::simulation
