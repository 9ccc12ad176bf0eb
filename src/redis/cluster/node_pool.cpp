// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "node_pool.hpp"

#include <algorithm>
#include <utility>

namespace pawl::redis {

std::optional<std::uint32_t> node_pool::number_of(std::string_view id) const {
    const auto known = numbers_.find(id);
    if (known == numbers_.end()) return std::nullopt;
    return known->second;
}

cluster_node* node_pool::find(std::string_view host, std::uint16_t port) const noexcept {
    for (const auto& [id, number] : numbers_) {
        auto& node = *nodes_[number];
        if (node.server().port == port &&
            (node.server().host == host || node.server().tls_name == host))
            return &node;
    }
    return nullptr;
}

bool node_pool::all_connected() const noexcept {
    return !links_.empty() &&
           std::ranges::all_of(links_, [](const link* each) { return each->connected(); });
}

std::uint32_t node_pool::add(std::unique_ptr<cluster_node> node) {
    nodes_.push_back(std::move(node));
    const auto number = static_cast<std::uint32_t>(nodes_.size() - 1);
    numbers_.insert_or_assign(nodes_.back()->id(), number);
    return number;
}

// A master without slots may get some, and answers requests for a slot that is moving to it.
void node_pool::remove_without_slots(const cluster_view& view,
                                     const std::function<void(cluster_node&)>& retire) {
    const auto masters = view.masters();
    for (auto entry = numbers_.begin(); entry != numbers_.end();) {
        if (masters.contains(entry->second) || view.may_get_slots(entry->first)) {
            ++entry;
            continue;
        }
        retire(*nodes_[entry->second]);
        entry = numbers_.erase(entry);
    }
    links_.clear();
    for (const auto& [id, number] : numbers_)
        links_.push_back(nodes_[number].get());
}

bool node_pool::is_foreign(const std::vector<listed_node>& view, const cluster_node* from) const {
    std::size_t others = 0;
    for (const auto* each : links_) {
        const auto& node = static_cast<const cluster_node&>(*each);
        if (&node == from || !node.connected()) continue;
        if (std::ranges::count(view, node.id(), &listed_node::id) > 0) return false;
        ++others;
    }
    return others > 0;
}

std::vector<std::uint32_t> node_pool::forgotten_nodes(const std::vector<listed_node>& view) const {
    std::vector<std::uint32_t> result;
    for (const auto& [id, number] : numbers_) {
        const bool is_known = std::ranges::count(view, id, &listed_node::id) > 0;
        if (!is_known && !nodes_[number]->connected()) result.push_back(number);
    }
    return result;
}

void node_pool::forget_listener() noexcept {
    for (const auto& each : nodes_)
        each->forget_listener();
}

}  // namespace pawl::redis
