// A simulated program with one client, and nothing else: for tests that play one scene.
#pragma once

#include "planted_backend.hpp"
#include "virtual_runtime.hpp"

#include <pawl/client.hpp>
#include <pawl/redis.hpp>

#include <optional>
#include <string>

namespace pawl::simulation {

// What others see of it.
inline client_options identity_of(const std::string& label, runtime& time) {
    client_options made;
    made.command = label;
    made.pid = 1;
    made.time = &time;
    return made;
}

struct dwelling {
    dwelling(scheduler& world, simulated_network& network, const redis::options& where, prng chance,
             const redis::limits& bounds = {})
        : home(world, time_point(std::chrono::hours(1)), 1.0), time(home, chance) {
        const auto named = identity_of("test", time);
        locks.emplace(home.get_executor(),
                      simulated_service(network, home, where, bounds, planted::none), named);
    }
    process home;
    virtual_runtime time;
    std::optional<client> locks;
};

}  // namespace pawl::simulation
