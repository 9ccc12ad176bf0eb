// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "seed_list.hpp"

#include <algorithm>
#include <utility>

namespace pawl::redis {

seed_list::seed_list(const std::vector<net::endpoint>& hosts, std::size_t max_nodes)
    : max_nodes_(max_nodes) {
    for (const auto& each : hosts)
        hosts_.push_back({{each}});
}

void seed_list::update(std::vector<seed> listed) {
    std::vector<entry> nodes;
    nodes.reserve(listed.size() + nodes_.size());
    for (auto& each : listed) {
        const auto known = std::ranges::find(nodes_, each.node_id,
                                             [](const entry& node) { return node.place.node_id; });
        const bool is_same = known != nodes_.end() && known->place.server == each.server;
        const auto asked = is_same ? known->asked : 0;
        if (known != nodes_.end()) nodes_.erase(known);
        nodes.push_back({std::move(each), asked});
    }
    std::ranges::move(nodes_, std::back_inserter(nodes));
    if (nodes.size() > max_nodes_) nodes.resize(max_nodes_);
    nodes_ = std::move(nodes);
}

seed seed_list::next(const std::function<bool(const std::string& node_id)>& is_known) {
    entry* result = nullptr;
    const auto consider = [&](entry& each) {
        if (result == nullptr || each.asked < result->asked) result = &each;
    };
    if (std::exchange(is_node_next_, !is_node_next_))
        for (auto& each : nodes_)
            if (!is_known(each.place.node_id)) consider(each);
    if (result == nullptr) std::ranges::for_each(hosts_, consider);
    result->asked = ++questions_;
    return result->place;
}

}  // namespace pawl::redis
