// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A redis::link over the simulated network, with the guarantees and the failures of the real
// link.
#pragma once

#include "simulated_network.hpp"

#include <redis/common/backends.hpp>

#include <cstdint>
#include <functional>
#include <memory>

namespace pawl::simulation {

// The server to which a program's next connection leads, and its epoch, for the session.
struct chosen_server {
    simulated_network* network = nullptr;
    std::uint64_t epoch = 0;
    bool shows_clock = true;  // in the handshake
};
using server_choice = std::function<chosen_server(const simulated_process&)>;

// For `make_backend`. The database and reply_timeout are those of `options`.
[[nodiscard]] redis::link_factory simulated_link_factory(server_choice choose,
                                                         simulated_process& process,
                                                         const backend_context& context,
                                                         const redis::options& options,
                                                         injected_bug bug);
// The same with one server.
[[nodiscard]] inline redis::link_factory simulated_link_factory(simulated_network& network,
                                                                simulated_process& process,
                                                                const backend_context& context,
                                                                const redis::options& options,
                                                                injected_bug bug) {
    return simulated_link_factory(
        [&network](const simulated_process&) {
            return chosen_server{&network, 0};
        },
        process, context, options, bug);
}

// With the layout of the options, and with scripts or without.
[[nodiscard]] inline std::unique_ptr<backend> make_redis_backend(
    const redis::options& options, const backend_context& context,
    const redis::topology_factory& connect, const redis::limits& limits) {
    if (options.layout == redis::key_layout::redisson)
        return redis::redisson::make_backend(options, context, connect, limits);
    if (!options.scripts) return redis::scriptless::make_backend(options, context, connect, limits);
    return redis::native::make_backend(options, context, connect, limits);
}

}  // namespace pawl::simulation
