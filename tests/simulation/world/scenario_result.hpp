// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What a scenario has shown.
#pragma once

#include "../kernel/scheduler.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace pawl::simulation {

enum class scenario_kind : std::uint8_t {
    single_server,
    several_servers,
    sentinels,
    cluster,
    redlock,
    sqlite,
    sql,
    shedlock,
    sessions
};
[[nodiscard]] std::string_view to_string(scenario_kind kind) noexcept;

struct scenario_result {
    std::uint64_t seed = 0;
    std::string violation;  // empty: none
    std::uint64_t hash = 0;
    std::uint64_t events = 0;  // in the trace
    std::uint64_t steps = 0;   // of the scheduler
    std::uint64_t grants = 0;
    instant length{};
    scenario_kind kind = scenario_kind::single_server;
    std::uint64_t losses = 0;  // of a SQLite file's holds, that were reported
};

}  // namespace pawl::simulation
