// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One scenario of the SQLite backend: programs that lock in one file, and faults of the file, the
// clocks and the programs. One seed makes all random choices. See docs/contributing/testing.md.
#pragma once

#include "../../kernel/trace.hpp"
#include "../../world/scenario_result.hpp"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace pawl::simulation {

// Bugs that can be injected, to measure whether the scenarios find them. Most are triggers of each
// connection, so that the own transactions of the store execute them.
enum class file_bug : std::uint8_t {
    none,
#define PAWL_BUG(name) name,
#include "file_bugs.def"
#undef PAWL_BUG
};

inline constexpr std::array file_bug_names{
    std::pair{file_bug::none, std::string_view("none")},
#define PAWL_BUG(name) std::pair{file_bug::name, std::string_view(#name)},
#include "file_bugs.def"
#undef PAWL_BUG
};

// The trigger that injects the bug into a connection; null for bugs without a trigger.
[[nodiscard]] const char* trigger_of(file_bug bug);

[[nodiscard]] scenario_result run_file_scenario(std::uint64_t seed, file_bug bug = file_bug::none,
                                                const trace::line_sink& sink = {});

}  // namespace pawl::simulation
