// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// How a client finds and uses the nodes of a cluster.
#pragma once

#include "../../net/endpoint.hpp"

#include <pawl/types.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace pawl::redis {

// The bounds of a client of a cluster. The simulation makes some of them tiny.
struct cluster_limits {
    // The pause between two questions for the nodes' view is random between half of this and this.
    duration view_interval = std::chrono::seconds(10);
    // The same while a node is missing: it grows from the one to the other.
    duration shortest_pause = std::chrono::milliseconds(50);
    duration longest_pause = std::chrono::seconds(1);
    // How often one request is sent again to follow its key. Then it fails, and its caller repeats
    // it after a pause of its own.
    unsigned max_attempts = 8;
    // The nodes that the client remembers as places to ask.
    std::size_t max_seed_nodes = 256;
};

struct cluster_settings {
    std::string subject;               // the service in messages
    std::vector<net::endpoint> hosts;  // some of the nodes, as the URL names them
    duration connect_timeout{};
    duration reply_timeout{};
    bool uses_tls = false;
    std::string tls_name{};  // in the certificates of all nodes; empty: the name of each node
    cluster_limits bounds{};
};

}  // namespace pawl::redis
