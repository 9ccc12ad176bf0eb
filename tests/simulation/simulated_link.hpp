// A redis::link over the simulated network, with the same promises and the same faults as the real
// one.
#pragma once

#include "simulated_network.hpp"

#include <redis/backend.hpp>

namespace pawl::simulation {

// For `make_backend`. Database and reply_timeout are those of `where`.
[[nodiscard]] redis::link_factory simulated_link_factory(simulated_network& network, process& home,
                                                         const backend_context& context,
                                                         const redis::options& where, planted bug);

}  // namespace pawl::simulation
