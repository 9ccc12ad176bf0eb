// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A redis::link over the simulated network, with the guarantees and the failures of the real
// link.
#pragma once

#include "simulated_network.hpp"

#include <redis/native/backend.hpp>

namespace pawl::simulation {

// For `make_backend`. The database and reply_timeout are those of `options`.
[[nodiscard]] redis::link_factory simulated_link_factory(simulated_network& network,
                                                         simulated_process& process,
                                                         const backend_context& context,
                                                         const redis::options& options,
                                                         injected_bug bug);

}  // namespace pawl::simulation
