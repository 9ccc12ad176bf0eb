// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The Redis backend for servers that forbid scripts.
#pragma once

#include "../common/limits.hpp"
#include "../topology/topology.hpp"
#include "core/util/spi.hpp"

#include <pawl/redis.hpp>

#include <memory>

namespace pawl::redis::scriptless {

[[nodiscard]] std::unique_ptr<backend> make_backend(const options& server_options,
                                                    const backend_context& context,
                                                    const topology_factory& connect,
                                                    const limits& bounds = {});

}  // namespace pawl::redis::scriptless
