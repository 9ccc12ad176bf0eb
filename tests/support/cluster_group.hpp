// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A Redis Cluster for one test: its nodes, and what an operator does with it.
#pragma once

#include "redis_server.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace support {

constexpr std::size_t slot_count = 16384;

struct cluster_group_options {
    std::size_t masters = 3;
    std::size_t replicas = 0;  // of each master
    // A node counts as failed after this time; a replica is then promoted about 1 s later.
    std::chrono::milliseconds node_timeout{1000};
    // False: a node serves its slots also while others have no node.
    bool full_coverage = true;
    std::vector<std::string> server_config{};
    std::string password{};
    bool tls = false;  // see redis_options::tls; all nodes have the certificates of node 0
    std::vector<machine> machines{};  // node i runs on machine i; empty: here
};

// A line of CLUSTER NODES.
struct cluster_view {
    std::string id;
    std::uint16_t port = 0;
    std::string flags;   // "myself,master"
    std::string master;  // its id; "-" for a master
    std::uint64_t epoch = 0;
    std::vector<std::string> slots;  // "0-5460", "[93->-…]"

    [[nodiscard]] bool has_flag(std::string_view flag) const;
    [[nodiscard]] bool has_slot(std::size_t slot) const;
};

// Of the reply to CLUSTER NODES.
[[nodiscard]] std::vector<cluster_view> read_cluster_views(const std::string& reply);

// When it is made, all nodes agree, and the replicas have their masters' data. Nodes 0, 1, … are
// the masters, with an equal share of the slots in this order and with the config epochs 1, 2, …
// Node masters + i is a replica of node i % masters.
class cluster_group {
public:
    explicit cluster_group(const cluster_group_options& options = {});

    // redis+cluster://… with the first masters, followed by `more`; rediss+cluster with TLS.
    [[nodiscard]] std::string url(const std::string& more = {}) const;
    // To kill, freeze, thaw or start it.
    [[nodiscard]] redis_server& node(std::size_t index) { return *nodes_.at(index); }
    [[nodiscard]] std::size_t node_count() const noexcept { return nodes_.size(); }
    [[nodiscard]] const std::string& id(std::size_t node) const { return ids_.at(node); }
    [[nodiscard]] const std::string& password() const noexcept { return options_.password; }

    [[nodiscard]] std::size_t slot_of(const std::string& key);
    // The node that has the slot or the key in the view of the first node that runs, or of `asked`.
    [[nodiscard]] std::size_t owner_of(std::size_t slot);
    [[nodiscard]] std::size_t owner_of(std::size_t slot, std::size_t asked);
    [[nodiscard]] std::size_t node_of(const std::string& key);
    // A short name, made of `prefix` and a number, whose key pawl:{name} is on the node.
    [[nodiscard]] std::string name_on(std::size_t node, const std::string& prefix = "it");
    // The first replica of the node in the view of the first node that runs.
    [[nodiscard]] std::size_t replica_of(std::size_t node);

    // The lines of CLUSTER NODES of one node.
    [[nodiscard]] std::vector<cluster_view> views(std::size_t asked);
    // The node's config epoch, in its own view.
    [[nodiscard]] std::uint64_t epoch(std::size_t node);
    // All nodes that run serve all slots and agree about each slot's owner.
    [[nodiscard]] bool agrees();
    [[nodiscard]] bool is_agreed();  // waits for it
    // Waits until the node's replicas that run have its keys.
    [[nodiscard]] bool is_replicated(std::size_t node);
    // Waits until the node is a master in the view of every node that runs.
    [[nodiscard]] bool is_promoted(std::size_t node);

    // A planned failover: CLUSTER FAILOVER at the replica. Returns before it is promoted.
    void begin_failover(std::size_t replica);
    // CLUSTER FAILOVER TAKEOVER: the replica promotes itself, without the votes of the masters.
    void take_over(std::size_t replica);

private:
    void form(std::size_t masters);
    void meet();
    [[nodiscard]] bool is_met();
    [[nodiscard]] bool is_serving(std::size_t node);
    [[nodiscard]] bool is_answering(std::size_t node);
    [[nodiscard]] std::size_t first_answering();
    [[nodiscard]] std::size_t index_of(const std::string& id) const;

    const cluster_group_options options_;
    std::vector<std::unique_ptr<redis_server>> nodes_;
    std::vector<std::string> ids_;
};

// Moves a slot step by step, as `redis-cli --cluster reshard` does.
class slot_move {
public:
    slot_move(cluster_group& group, std::size_t slot, std::size_t to);

    // From now on the new node imports the slot, and the old node asks for redirection (ASK) of
    // requests for keys that it does not have.
    void begin();
    // Moves one key; false: none is left. The other form moves a certain key.
    [[nodiscard]] bool move_key();
    void move_key(const std::string& key);
    void move_all_keys();
    // The new node owns the slot, with a new config epoch. The old node refuses this while it has
    // keys of the slot. The other nodes learn it from the new owner.
    void finish();
    // Between `begin` and `finish`: the slot stays where it was. Moved keys stay with the new node.
    void cancel();
    // All steps.
    void run();

private:
    cluster_group& group_;
    const std::size_t slot_;
    const std::size_t from_;
    const std::size_t to_;
};

}  // namespace support
