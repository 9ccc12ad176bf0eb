// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Where a client may ask for the nodes of a cluster: at the hosts of its URL, and at every node
// that a view has listed, replicas included. A client whose known masters have died finds the
// replicas that took over.
#pragma once

#include "../../net/endpoint.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace pawl::redis {

struct seed {
    net::endpoint server;
    // The node that must answer there: another one may have its address by now. Empty: any node,
    // since the URL names the host.
    std::string node_id{};
};

class seed_list {
public:
    // Beyond `max_nodes`, the nodes that were listed the longest ago are forgotten.
    seed_list(const std::vector<net::endpoint>& hosts, std::size_t max_nodes);

    // The nodes of a view, each with its present address.
    void update(std::vector<seed> listed);
    // Hosts and nodes alternate, so that dead nodes never delay the hosts by more than one
    // question. Of each kind, the next seed is the one that was not asked for the longest time.
    // Nodes for which `is_known` is true are left out.
    [[nodiscard]] seed next(const std::function<bool(const std::string& node_id)>& is_known);
    [[nodiscard]] std::size_t host_count() const noexcept { return hosts_.size(); }
    [[nodiscard]] std::size_t size() const noexcept { return hosts_.size() + nodes_.size(); }

private:
    struct entry {
        seed place;
        std::uint64_t asked = 0;  // the number of its newest question
    };

    const std::size_t max_nodes_;
    std::vector<entry> hosts_;
    std::vector<entry> nodes_;  // those of the newest view first
    std::uint64_t questions_ = 0;
    bool is_node_next_ = false;
};

}  // namespace pawl::redis
