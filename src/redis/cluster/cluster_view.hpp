// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What the nodes of a cluster say about it: the newest view, and which node has which slot by all
// views so far. Decides without I/O.
#pragma once

#include "cluster_settings.hpp"
#include "node_list.hpp"
#include "seed_list.hpp"
#include "slot_map.hpp"

#include <pawl/error.hpp>

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redis {

// Used on one strand. Nodes are numbers, as in `slot_map`.
class cluster_view {
public:
    // The newest view.
    [[nodiscard]] const std::vector<listed_node>& nodes() const noexcept { return nodes_; }
    // Grows with each change of which node has which slot; 0: no view has named a slot yet.
    [[nodiscard]] std::uint64_t version() const noexcept { return version_; }
    [[nodiscard]] std::uint32_t master_of(unsigned slot) const noexcept {
        return slots_.master_of(slot);
    }

    // `asked_host`: the host at which the node of the view was asked.
    void update(const std::vector<listed_node>& view, const std::string& asked_host);
    // A master with slots that the view lists. Returns how many slots it has gained by the view.
    unsigned assign(const listed_node& master, std::uint32_t number);
    // The slots that a view has assigned are at their new nodes now.
    void advance() noexcept { ++version_; }
    // The same node has another number from now on.
    void renumber(std::uint32_t earlier, std::uint32_t present) noexcept;
    // The node says itself that it has the slot no longer.
    void give_up(unsigned slot) noexcept { slots_.give_up(slot); }
    // The cluster has forgotten the node.
    void give_up_all(std::uint32_t number) noexcept;

    // False: the other view is one of another cluster.
    [[nodiscard]] bool has_any_node(const std::vector<listed_node>& other) const;
    // A master that the newest view lists at this address; null: none.
    [[nodiscard]] const listed_node* find_master(std::string_view host, std::uint16_t port) const;
    // The nodes that have slots.
    [[nodiscard]] std::set<std::uint32_t> masters() const;
    // True: the node is a master, also if it has no slots yet, so that it may get some.
    [[nodiscard]] bool may_get_slots(std::string_view id) const;
    // Every node of the newest view, replicas included.
    [[nodiscard]] std::vector<seed> seeds(const cluster_settings& settings) const;

private:
    std::vector<listed_node> nodes_;
    slot_map slots_;
    std::uint64_t version_ = 0;
};

// True: the node has slots, and a token has room for its epoch.
[[nodiscard]] bool is_usable_master(const listed_node& listed) noexcept;
// `asked_host`: the host at which the node of the view was asked.
[[nodiscard]] net::endpoint endpoint_of(const listed_node& listed, const std::string& asked_host,
                                        const cluster_settings& settings);
// The node's line of its own view.
[[nodiscard]] const listed_node& find_myself(const std::vector<listed_node>& view);
// Why the node must not be used, by its own line in its view. `name`: "HOST:PORT".
[[nodiscard]] std::optional<error> find_objection(const std::string& id, const std::string& name,
                                                  const listed_node& myself);

}  // namespace pawl::redis
