// The Redis backend over the simulated network, with one bug between it and the core where a world
// asks for that.
#pragma once

#include "simulated_network.hpp"

#include <pawl/redis.hpp>
#include <pawl/service.hpp>
#include <redis/limits.hpp>

namespace pawl::simulation {

// `network` and `home` must outlive every client of the service.
[[nodiscard]] service simulated_service(simulated_network& network, process& home,
                                        const redis::options& where, const redis::limits& bounds,
                                        planted bug);

}  // namespace pawl::simulation
