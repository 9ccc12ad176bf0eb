// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The scenarios of all topologies. Each seed has its own.
#pragma once

#include "../bugs/topology_bugs.hpp"
#include "redis/scenario.hpp"

#include <cstdint>

namespace pawl::simulation {

// Five of ten seeds have one server or several, as `run_scenario` decides; three have Sentinels,
// one has the nodes of Redlock, and one has a cluster, whose scenarios take the most time.
[[nodiscard]] scenario_result run_any_scenario(std::uint64_t seed,
                                               const trace::line_sink& sink = {});
[[nodiscard]] scenario_result run_sentinel_scenario(std::uint64_t seed,
                                                    topology_bug bug = topology_bug::none,
                                                    const trace::line_sink& sink = {});
[[nodiscard]] scenario_result run_cluster_scenario(std::uint64_t seed,
                                                   topology_bug bug = topology_bug::none,
                                                   const trace::line_sink& sink = {});
// The one of these two that has the bug.
[[nodiscard]] scenario_result run_scenario_with(const named_topology_bug& bug, std::uint64_t seed,
                                                const trace::line_sink& sink = {});

}  // namespace pawl::simulation
