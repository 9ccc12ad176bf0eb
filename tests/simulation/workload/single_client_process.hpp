// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A simulated program with one client and no users, for tests of one interleaving.
#pragma once

#include "../bugs/faulty_backend.hpp"
#include "../kernel/virtual_runtime.hpp"

#include <pawl/client.hpp>
#include <pawl/redis.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pawl::simulation {

// The identity that others see.
inline client_options client_options_for(const std::string& label, runtime& time) {
    client_options options;
    options.command = label;
    options.pid = 1;
    options.time = &time;
    return options;
}

struct single_client_process {
    single_client_process(scheduler& loop, simulated_network& network,
                          const redis::options& options, prng random,
                          const redis::limits& limits = {}, injected_bug bug = injected_bug::none)
        : single_client_process(loop, std::vector{&network}, options, random, limits, bug) {}
    // The servers share the names: see spread_servers.hpp.
    single_client_process(scheduler& loop, std::vector<simulated_network*> servers,
                          const redis::options& options, prng random,
                          const redis::limits& limits = {}, injected_bug bug = injected_bug::none)
        : process(loop, time_point(std::chrono::hours(1)), 1.0), time(process, random) {
        const auto named = client_options_for("test", time);
        locks.emplace(process.get_executor(),
                      simulated_service(std::move(servers), process, options, limits, bug), named);
    }
    simulated_process process;
    virtual_runtime time;
    std::optional<client> locks;
};

}  // namespace pawl::simulation
