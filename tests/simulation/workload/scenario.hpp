// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The scenario of one seed: programs, users and a server, from the start until all have ended.
#pragma once

#include "program.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace pawl::simulation {

enum class scenario_kind : std::uint8_t {
    single_server,
    several_servers,
    sentinels,
    cluster,
    redlock
};

struct scenario_result {
    std::uint64_t seed = 0;
    std::string violation;  // empty: none
    std::uint64_t hash = 0;
    std::uint64_t events = 0;  // in the trace
    std::uint64_t steps = 0;   // of the scheduler
    std::uint64_t grants = 0;
    instant length{};
    scenario_kind kind = scenario_kind::single_server;
};

// `sink` receives every line of the trace; it may be empty.
[[nodiscard]] scenario_result run_scenario(std::uint64_t seed,
                                           injected_bug bug = injected_bug::none,
                                           const trace::line_sink& sink = {},
                                           redis::key_layout layout = redis::key_layout::native);

}  // namespace pawl::simulation
