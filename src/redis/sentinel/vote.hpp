// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Which server the Sentinels hold for the master. No single Sentinel decides: it may be isolated,
// or have older information than the others.
#pragma once

#include "../transport/locator.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace pawl::redis {

// What a Sentinel says about the master.
struct sentinel_view {
    std::string id;          // of the Sentinel: 40 hexadecimal digits, which it keeps over restarts
    location master;         // with the Sentinels' config-epoch, which grows with each failover
    std::size_t quorum = 0;  // how many Sentinels must agree that the master is down
    std::size_t replicas = 0;  // of the master
    bool is_down = false;      // the Sentinel cannot reach the master
    struct peer {
        std::string id;
        net::endpoint server;
    };
    std::vector<peer> peers{};  // the other Sentinels that it knows
};

// The ids of the Sentinels: those with a view, and each that more than half of them know. A single
// Sentinel cannot add members.
[[nodiscard]] std::set<std::string> members(std::span<const sentinel_view* const> views);

// How many Sentinels must agree. `configured`: the number of addresses in the URL.
[[nodiscard]] std::size_t majority(std::span<const sentinel_view* const> views,
                                   std::size_t configured);

// The location on which a majority of the Sentinels agrees, in address and epoch. Empty if there is
// none, as for a moment during a failover. Two majorities have a Sentinel in common, which has one
// view; so there are never two locations at the same time.
[[nodiscard]] std::optional<location> elected_master(std::span<const sentinel_view* const> views,
                                                     std::size_t configured);

}  // namespace pawl::redis
