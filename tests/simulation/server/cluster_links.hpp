// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A service whose topology is the real one of a cluster, with links over the simulated networks of
// the nodes.
#pragma once

#include "../bugs/topology_bugs.hpp"
#include "simulated_cluster.hpp"

#include <pawl/redis.hpp>
#include <pawl/service.hpp>
#include <redis/cluster/cluster_topology.hpp>
#include <redis/common/limits.hpp>

namespace pawl::simulation {

// The arguments must outlive every client of the service.
[[nodiscard]] service clustered_service(simulated_cluster& cluster, simulated_process& process,
                                        const redis::options& options,
                                        topology_bug bug = topology_bug::none,
                                        const redis::limits& limits = {},
                                        const redis::cluster_limits& cluster_limits = {});

}  // namespace pawl::simulation
