// A redis::link over the simulated network, with the same promises and the same faults as the real
// one.
#pragma once

#include "simulated_network.hpp"

#include <redis/backend.hpp>

namespace pawl::simulation {

// For `make_backend`. `reply_timeout` as in redis::options.
[[nodiscard]] redis::link_factory simulated_link_factory(simulated_network& network, process& home,
                                                         const backend_context& context,
                                                         duration reply_timeout, planted bug);

}  // namespace pawl::simulation
