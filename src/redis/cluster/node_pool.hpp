// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The links to the nodes of a cluster, under their numbers and ids. Makes no connection itself.
#pragma once

#include "cluster_node.hpp"
#include "cluster_view.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redis {

// Used on one strand, except for `forget_listener`.
class node_pool {
public:
    [[nodiscard]] cluster_node& at(std::uint32_t number) const noexcept { return *nodes_[number]; }
    // Of all nodes that there ever were.
    [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
    // The number of a present node.
    [[nodiscard]] std::optional<std::uint32_t> number_of(std::string_view id) const;
    // A present node at this address; null: none.
    [[nodiscard]] cluster_node* find(std::string_view host, std::uint16_t port) const noexcept;
    // To the present nodes, as of the last `remove_without_slots`.
    [[nodiscard]] std::span<link* const> links() const noexcept { return links_; }
    [[nodiscard]] bool all_connected() const noexcept;

    // The node is the present one under its id from now on. Returns its number.
    std::uint32_t add(std::unique_ptr<cluster_node> node);
    // Removes the present nodes that have no slots and get none, after a call of `retire` for each.
    // The objects live on. Then updates `links`.
    void remove_without_slots(const cluster_view& view,
                              const std::function<void(cluster_node&)>& retire);

    // The node `from`, or null, may be one of another cluster by now: its view lists no other
    // connected node.
    [[nodiscard]] bool is_foreign(const std::vector<listed_node>& view,
                                  const cluster_node* from) const;
    // The present nodes that the view does not list, and that are not connected. A cluster that was
    // made anew has lower epochs, and its nodes do not know the earlier ones.
    [[nodiscard]] std::vector<std::uint32_t> forgotten_nodes(
        const std::vector<listed_node>& view) const;

    void forget_listener() noexcept;

private:
    // All nodes that were ever connected to; one that comes back, or has another address, gets a
    // new number. Requests and undos refer to them.
    std::vector<std::unique_ptr<cluster_node>> nodes_;
    std::map<std::string, std::uint32_t, std::less<>> numbers_;  // of the present nodes, by id
    std::vector<link*> links_;
};

}  // namespace pawl::redis
