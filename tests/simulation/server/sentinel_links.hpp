// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A service whose master is named by simulated Sentinels: the real locator and its vote, with a
// link that uses the locator as the real link does, over the simulated networks of the servers.
#pragma once

#include "../bugs/topology_bugs.hpp"
#include "simulated_sentinels.hpp"

#include <pawl/redis.hpp>
#include <pawl/service.hpp>
#include <redis/common/limits.hpp>

namespace pawl::simulation {

// The arguments must outlive every client of the service.
[[nodiscard]] service monitored_service(simulated_sentinels& sentinels, simulated_process& process,
                                        redis::options options, const redis::limits& limits,
                                        topology_bug bug = topology_bug::none);

}  // namespace pawl::simulation
