// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "scenarios.hpp"

#include "redlock/redlock_scenario.hpp"

namespace pawl::simulation {

scenario_result run_any_scenario(std::uint64_t seed, const trace::line_sink& sink) {
    switch (seed % 10) {
    case 2:
    case 5:
    case 8: return run_sentinel_scenario(seed, topology_bug::none, sink);
    case 4: return run_redlock_scenario(seed, redlock_bug::none, sink);
    case 7: return run_cluster_scenario(seed, topology_bug::none, sink);
    default: return run_scenario(seed, injected_bug::none, sink);
    }
}

scenario_result run_scenario_with(const named_topology_bug& bug, std::uint64_t seed,
                                  const trace::line_sink& sink) {
    return bug.where == named_topology_bug::place::cluster
               ? run_cluster_scenario(seed, bug.bug, sink)
               : run_sentinel_scenario(seed, bug.bug, sink);
}

}  // namespace pawl::simulation
