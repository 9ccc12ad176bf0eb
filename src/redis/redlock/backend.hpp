// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Redlock with fencing tokens: locks that a majority of independent servers holds.
#pragma once

#include "../common/limits.hpp"
#include "../topology/topology.hpp"
#include "core/util/spi.hpp"

#include <pawl/redlock.hpp>

#include <memory>
#include <vector>

namespace pawl::redlock {

// One factory for each node, in the order of the options.
[[nodiscard]] std::unique_ptr<backend> make_backend(
    const options& node_options, const backend_context& context,
    const std::vector<redis::topology_factory>& nodes, const redis::limits& bounds = {});

}  // namespace pawl::redlock
