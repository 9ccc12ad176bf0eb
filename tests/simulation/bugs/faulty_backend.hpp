// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The Redis backend over the simulated network. If a bug is injected between backend and core, this
// class carries it.
#pragma once

#include "../server/simulated_network.hpp"

#include <pawl/redis.hpp>
#include <pawl/service.hpp>
#include <redis/common/limits.hpp>

#include <vector>

namespace pawl::simulation {

// `servers` and `process` must outlive every client of the service. Several servers share the
// names: see spread_servers.hpp.
[[nodiscard]] service simulated_service(std::vector<simulated_network*> servers,
                                        simulated_process& process, const redis::options& options,
                                        redis::limits limits, injected_bug bug);
// With one server.
[[nodiscard]] service simulated_service(simulated_network& network, simulated_process& process,
                                        const redis::options& options, const redis::limits& limits,
                                        injected_bug bug);

}  // namespace pawl::simulation
