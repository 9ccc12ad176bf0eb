// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A topology of several servers, over which the names are spread by a hash.
#pragma once

#include <redis/topology/topology.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace pawl::simulation {

// The number of the server that has the key: as in a cluster, by its hash tag.
[[nodiscard]] std::size_t server_of(std::string_view key, std::size_t server_count) noexcept;

// One link to each of these servers.
[[nodiscard]] redis::topology_factory spread_servers_factory(
    std::vector<redis::link_factory> servers);

}  // namespace pawl::simulation
