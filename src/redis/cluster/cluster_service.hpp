// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The topology of a user's options for a cluster.
#pragma once

#include "cluster_topology.hpp"

#include <pawl/redis.hpp>

namespace pawl::redis {

[[nodiscard]] topology_factory cluster_factory(const options& server_options,
                                               const backend_context& context);

}  // namespace pawl::redis
