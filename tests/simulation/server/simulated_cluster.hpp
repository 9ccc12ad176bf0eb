// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A simulated cluster: its nodes, their bus, the replication, failovers, and slots that move. Each
// node has a network of its own to the programs.
#pragma once

#include "cluster_view.hpp"
#include "simulated_network.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace pawl::simulation {

struct cluster_plan {
    std::size_t masters = 3;
    std::size_t replicas = 1;  // of each master
    instant bus_latency_high = std::chrono::milliseconds(5);
    instant gossip_pause_high = std::chrono::milliseconds(400);
    instant node_timeout = std::chrono::seconds(1);
    instant replication_lag_high = std::chrono::milliseconds(500);
    // A node stops serving while a slot has no node.
    bool full_coverage = true;
    // Of a key that moves: both nodes have it until it is moved again.
    double lost_move_replies = 0;
    // Of a step of a move: the operator goes on only after some seconds.
    double interrupted_moves = 0;
};

// Nodes 0, 1, … are the masters at first; node masters + i is a replica of node i % masters.
class simulated_cluster {
public:
    simulated_cluster(scheduler& loop, prng random, const network_faults& faults,
                      const cluster_plan& plan);

    [[nodiscard]] std::size_t node_count() const noexcept { return nodes_.size(); }
    [[nodiscard]] simulated_network& network(std::size_t node) { return nodes_.at(node)->network; }
    [[nodiscard]] const cluster_view& view(std::size_t node) const { return nodes_.at(node)->view; }
    // Of the masters that serve the slot by their own view, the one with the greatest epoch. The
    // views of the others do not count: before Redis 7.2, a replica that was away keeps an old one
    // also when it becomes a master, and the slot's new master may have a lower epoch than the
    // earlier one has by now.
    [[nodiscard]] std::size_t owner_of(std::size_t slot) const;
    // The replica of a master; no_node if it has none.
    [[nodiscard]] std::size_t replica_of(std::size_t node) const;

    // A planned failover to the replica: its master waits, and loses nothing.
    void fail_over(std::size_t replica);
    // The replica promotes itself with the data that it has. False: it has none yet.
    bool take_over(std::size_t replica);
    void kill(std::size_t node);
    // The node stays dead, also at the end. Another node has its slots.
    void remove(std::size_t node) {
        kill(node);
        nodes_.at(node)->is_removed = true;
    }
    // With the data of before, and its old view of the cluster.
    void restart(std::size_t node);
    // From now on no message of the bus gets from one node to the other.
    void cut_bus(std::size_t from, std::size_t to) { cut_.insert({from, to}); }
    void isolate(std::size_t node);
    void heal_bus() { cut_.clear(); }
    // The slot moves key by key, in steps. A step that fails is repeated.
    void move_slot(std::size_t slot, std::size_t to);
    [[nodiscard]] bool is_moving() const noexcept { return !moves_.empty(); }
    // As `redis-cli --cluster fix` when no slot moves: no node takes a move for unfinished any
    // more. A target that was replaced while the move ended has lost the slot, and its source still
    // sends requests there.
    void close_moves();
    // The node to which the slot moves; no_node if it does not move.
    [[nodiscard]] std::size_t target_of(std::size_t slot) const;

    // The data that a replica has of its master, as far as it knows.
    [[nodiscard]] const simulated_redis::snapshot& replica_data(std::size_t node) const {
        return nodes_.at(node)->replicated;
    }

    // Ends the faults of the networks and of the bus; dead nodes start.
    void stop_faults();
    // All nodes serve, and the redirections of each master lead to the same owner of each slot. Not
    // all views need to be the same: a master that was cut off during a move may keep an old one
    // for ever (see `owner_of`).
    [[nodiscard]] bool is_agreed() const;
    // Called when a node becomes the master of slots that another node had, with both.
    void on_promotion(std::function<void(std::size_t node, std::size_t old_master)> promoted) {
        promoted_ = std::move(promoted);
    }
    // Called when the last step of a move gives the slot to a node.
    void on_move(std::function<void(std::size_t slot, std::size_t from, std::size_t to)> moved) {
        moved_ = std::move(moved);
    }
    // Called when a master has an epoch that another one had, or has.
    void on_shared_epoch(std::function<void(std::uint64_t epoch)> shared) {
        shared_epoch_ = std::move(shared);
    }

private:
    struct cluster_node {
        cluster_node(scheduler& loop, prng random, const network_faults& faults, std::size_t index,
                     std::size_t count);
        simulated_network network;
        cluster_view view;
        // As a replica: the master's data of a moment ago.
        simulated_redis::snapshot replicated{};
        std::size_t replicated_from = cluster_view::no_node;
        std::uint64_t replicated_writes = 0;  // of that master
        bool is_synced = false;
        bool is_removed = false;
        int replication = 0;          // grows when it gets another master
        instant down_until{-1};       // it serves again only after this time
        instant election_at{-1};      // as a replica of a failed master; -1: no election
        std::vector<instant> heard;   // when the last message of each node arrived
        instant last_replica_data{};  // data arrive in order
    };
    struct slot_move {
        std::size_t slot = 0, to = 0;
        std::size_t from = cluster_view::no_node;
    };

    [[nodiscard]] bool is_up(std::size_t node) const { return nodes_[node]->network.is_up(); }
    [[nodiscard]] bool reaches(std::size_t from, std::size_t to) const;
    [[nodiscard]] bool are_connected(std::size_t a, std::size_t b) const;
    void send(std::size_t from, std::size_t to, cluster_view::message message);
    [[nodiscard]] instant arrival(std::size_t from, std::size_t to);
    void broadcast(std::size_t from);
    void receive(std::size_t node, std::size_t from, const cluster_view::message& message);
    void publish(std::size_t from, std::string_view channel, std::string_view payload);
    void gossip(std::size_t from);
    void lose_slots(std::size_t node, const std::vector<std::size_t>& slots);
    void demote(std::size_t node);

    void replicate(std::size_t replica);
    void promote(std::size_t replica, std::size_t old_master);
    [[nodiscard]] bool hold_election(std::size_t replica, bool only_if_failed);

    void detect_failures();
    void judge(std::size_t judging);
    [[nodiscard]] bool is_silent(std::size_t listener, std::size_t node) const;
    [[nodiscard]] std::vector<std::size_t> masters_of(std::size_t in_view_of) const;
    void plan_election(std::size_t replica);
    // Where a client arrives that asks the node, and follows the redirections; no_node: nowhere.
    [[nodiscard]] std::size_t redirected_from(std::size_t node, std::size_t slot) const;

    void begin_move(slot_move& move);
    void plan_step(std::size_t slot, void (simulated_cluster::*step)(slot_move&));
    void mark_at_source(slot_move& move);
    void move_key(slot_move& move);
    // Whether the source has the slot, as far as it knows.
    [[nodiscard]] bool is_at_source(const slot_move& move) const;
    [[nodiscard]] bool accepts_key(const slot_move& move, std::string_view key);
    void finish_move_at_target(slot_move& move);
    void finish_move_at_source(slot_move& move);
    void repeat_move(slot_move& move);
    [[nodiscard]] std::string first_key_of(std::size_t node, std::size_t slot);
    void migrate(std::size_t from, std::size_t to, const std::string& key);

    scheduler& loop_;
    prng random_;
    const cluster_plan plan_;
    std::vector<std::unique_ptr<cluster_node>> nodes_;
    std::set<std::pair<std::size_t, std::size_t>> cut_;
    std::map<std::pair<std::size_t, std::size_t>, instant> last_arrival_;
    std::map<std::size_t, slot_move> moves_;  // by slot
    std::function<void(std::size_t, std::size_t)> promoted_;
    std::function<void(std::size_t, std::size_t, std::size_t)> moved_;
    std::function<void(std::uint64_t)> shared_epoch_;
    std::map<std::uint64_t, std::size_t> first_with_epoch_;
    bool faults_stopped_ = false;
};

}  // namespace pawl::simulation
