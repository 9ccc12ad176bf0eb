// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The backends of this folder, over real links or those of the simulation.
#pragma once

#include "../topology/topology.hpp"
#include "core/util/spi.hpp"
#include "limits.hpp"

#include <pawl/redis.hpp>
#include <pawl/redlock.hpp>

#include <memory>
#include <vector>

namespace pawl::redis::native {

[[nodiscard]] std::unique_ptr<backend> make_backend(const options& server_options,
                                                    const backend_context& context,
                                                    const topology_factory& connect,
                                                    const limits& bounds = {});

}  // namespace pawl::redis::native

namespace pawl::redis::redisson {

// Locks that Java services take with Redisson.
[[nodiscard]] std::unique_ptr<backend> make_backend(const options& server_options,
                                                    const backend_context& context,
                                                    const topology_factory& connect,
                                                    const limits& bounds = {});

}  // namespace pawl::redis::redisson

namespace pawl::redis::scriptless {

// For servers that forbid scripts.
[[nodiscard]] std::unique_ptr<backend> make_backend(const options& server_options,
                                                    const backend_context& context,
                                                    const topology_factory& connect,
                                                    const limits& bounds = {});

}  // namespace pawl::redis::scriptless

namespace pawl::redlock {

// Locks that a majority of independent servers holds. One factory for each node, in the order of
// the options.
[[nodiscard]] std::unique_ptr<backend> make_backend(
    const options& node_options, const backend_context& context,
    const std::vector<redis::topology_factory>& nodes, const redis::limits& bounds = {});

}  // namespace pawl::redlock
