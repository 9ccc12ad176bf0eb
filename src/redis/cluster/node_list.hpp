// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What one node of a cluster says about all nodes: its reply to CLUSTER NODES.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::redis {

struct listed_node {
    std::string id;
    std::string host;  // an address; empty: the one at which the node was asked
    std::string name;  // the host's name that the node announces; empty: none
    std::uint16_t port = 0;
    bool is_myself = false;  // the node that was asked
    bool is_master = false;
    bool is_failing = false;  // the node that was asked, or a majority, cannot reach it
    std::string master_id{};  // of a replica
    std::uint64_t epoch = 0;  // the config epoch
    std::vector<std::pair<unsigned, unsigned>> slots{};  // the first and last of each range
};

// Without the nodes that have no address or have not shaken hands yet. Empty if the text is not the
// reply of a node. The format: the manual's page of CLUSTER NODES, Redis 6.2 to Valkey 9.
[[nodiscard]] std::vector<listed_node> parse_node_list(std::string_view text);

}  // namespace pawl::redis
