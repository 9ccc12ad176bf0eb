// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What the checker knows about one server.
#pragma once

#include "../services/redis/plan.hpp"

#include <map>
#include <string>
#include <vector>

namespace pawl::simulation {

struct checked_server {
    simulated_network& network;
    const server_plan& planned;
    const std::string label;  // " a", " b", …; empty for the only server
    instant clock_set_at{-1};
    bool is_refusing = false;
    instant refusing_until{-1};                             // end of the last refusals
    std::map<std::string, std::size_t> refused_renewals{};  // consecutive, by value

    [[nodiscard]] store& data(std::size_t database = 0) const {
        return network.server().data(database);
    }
};

// In the order of the plan. The addresses must not change.
using checked_servers = std::vector<checked_server>;

}  // namespace pawl::simulation
