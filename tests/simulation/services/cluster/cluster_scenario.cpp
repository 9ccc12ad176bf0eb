// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Locks in a cluster, whose slots move key by key, and whose masters are replaced.
#include "../scenarios.hpp"
#include "../topology/topology_scenario.hpp"

#include "../../server/cluster_links.hpp"

#include <algorithm>
#include <map>
#include <optional>

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

// A replaced master hears of it within milliseconds, or it has been down for longer; a reply may
// come later.
constexpr auto longest_outdated = 1s;
// How long a lock counts as disturbed after its slot has moved.
constexpr auto slot_settling_time = 2s;

constexpr int last_round = 4;

std::size_t slot_of_lock(const std::string& name) { return slot_of("{" + name + "}"); }

class cluster_scenario final : public topology_scenario {
public:
    cluster_scenario(const topology_plan& scenario_plan, const trace::line_sink& sink)
        : topology_scenario(scenario_plan, false, sink),
          cluster_(loop_, random_.fork(), plan_.network,
                   cluster_plan{.replicas = plan_.replicas,
                                .full_coverage = random_.happens(0.8),
                                .lost_move_replies = random_.happens(0.3) ? 0.2 : 0,
                                .interrupted_moves = plan_.interrupts_moves ? 0.3 : 0}) {
        cluster_.on_promotion(
            [this](std::size_t node, std::size_t old_master) { note_promotion(node, old_master); });
        cluster_.on_shared_epoch([this](std::uint64_t epoch) { holds().note_shared_epoch(epoch); });
        cluster_.on_move([this](std::size_t slot, std::size_t from, std::size_t to) {
            for (const auto& name : names())
                if (slot_of_lock(name) == slot) note_move(name, from, to);
        });
        start();
    }

private:
    // The URL names only the first master, so that later no host of it is alive.
    service connect(simulated_process& process) override {
        auto options = options_;
        if (plan_.loses_masters_first || plan_.loses_masters_last)
            options.where = redis::cluster{.nodes = {{"127.0.0.1", cluster_view::first_port}}};
        return clustered_service(cluster_, process, options, plan_.bug, plan_.limits,
                                 plan_.cluster_limits);
    }
    std::size_t server_count() const override { return cluster_.node_count(); }
    simulated_network& server(std::size_t number) override { return cluster_.network(number); }
    bool is_replica(std::size_t number) const override {
        return !cluster_.view(number).is_master();
    }
    void restart(std::size_t number) override { cluster_.restart(number); }
    simulated_network* server_of(const std::string& name) override {
        const auto owner = cluster_.owner_of(slot_of_lock(name));
        // A node that misses other ones serves nobody.
        const bool serves = owner != cluster_view::no_node && !cluster_.view(owner).is_down();
        return serves ? &cluster_.network(owner) : nullptr;
    }
    std::size_t copies_of(const std::string& name, std::uint64_t token) override {
        const auto owner = cluster_.owner_of(slot_of_lock(name));
        std::size_t copies = 0;
        for (std::size_t i = 0; i < cluster_.node_count(); ++i)
            if (cluster_.view(i).master() == owner &&
                has_lock_with(cluster_.replica_data(i), name, token))
                ++copies;
        return copies;
    }
    bool is_settled(const std::string& name, instant since) override {
        const auto slot = slot_of_lock(name);
        if (cluster_.target_of(slot) != cluster_view::no_node) moved_at_[name] = loop_.now();
        const auto moved = moved_at_.find(name);
        return (moved == moved_at_.end() || since - moved->second > slot_settling_time) &&
               !holds().is_replaced_near(name, since - slot_settling_time, loop_.now());
    }

    void note_promotion(std::size_t node, std::size_t old_master) {
        std::vector<std::string> replaced;
        for (const auto& name : names())
            if (has_part_in(slot_of_lock(name), node, old_master)) replaced.push_back(name);
        trace_.write("node " + std::to_string(node) + " replaces " + std::to_string(old_master));
        const auto* const replaced_network = &cluster_.network(old_master);
        holds().note_promotion(std::move(replaced), replaced_network);
        loop_.schedule_after(longest_outdated,
                             [this, replaced_network] { holds().note_demotion(replaced_network); });
    }
    void note_move(const std::string& name, std::size_t from, std::size_t to) {
        trace_.write("node " + std::to_string(to) + " has the slot of " + name);
        left_at_[{name, from}] = loop_.now();
        const auto left = left_at_.find({name, to});
        if (left != left_at_.end() && holds().is_replaced_near(name, left->second, loop_.now()))
            holds().note_return(name, left->second);
    }
    // Whether a slot's keys, or some of them, were at the master.
    bool has_part_in(std::size_t slot, std::size_t node, std::size_t old_master) const {
        return cluster_.view(node).owner_of(slot) == node || cluster_.target_of(slot) == old_master;
    }

    std::uint64_t epoch_of(const std::string& name) override {
        const auto owner = cluster_.owner_of(slot_of_lock(name));
        return owner == cluster_view::no_node ? 0 : cluster_.view(owner).epoch_of(owner);
    }

    void disturb_servers() override {
        ++rounds_;
        if (plan_.loses_masters_first && rounds_ == 1) return lose_all_masters();
        if (plan_.loses_masters_last && rounds_ == last_round) return lose_all_masters();
        if (plan_.moves) move_a_slot();
        if (plan_.failovers) replace_a_master();
        if (plan_.partitions && random_.happens(0.5)) {
            cut_links(cluster_.node_count(),
                      [this](auto from, auto to) { cluster_.cut_bus(from, to); });
            cluster_.heal_bus();
        }
        if (plan_.loses_replicas) lose_a_replica();
    }
    void move_a_slot() {
        const auto name = random_name();
        const auto owner = cluster_.owner_of(slot_of_lock(name));
        auto to = owner;
        while (to == owner || !cluster_.view(to).is_master())
            to = random_.below(cluster_.node_count());
        trace_.write("the slot of " + name + " moves to node " + std::to_string(to));
        moved_at_[name] = loop_.now();
        cluster_.move_slot(slot_of_lock(name), to);
    }
    //   planned, or the replica takes over, or the master dies and comes back later, or it is cut
    //   off from the other nodes, but not from the programs, for some seconds, or it is replaced
    //   twice, also while a program is stopped
    void replace_a_master() {
        const auto name = random_name();
        const auto master = cluster_.owner_of(slot_of_lock(name));
        if (master == cluster_view::no_node) return;
        const auto replica = cluster_.replica_of(master);
        if (replica == cluster_view::no_node) return;
        const auto kind = random_.below(6);
        trace_.write("fault " + std::to_string(kind) + " of master " + std::to_string(master));
        switch (kind) {
        case 0: return cluster_.fail_over(replica);
        case 1: return void(cluster_.take_over(replica));
        case 2:
            cluster_.kill(master);
            loop_.run_for(random_.between(1s, 6s));
            return cluster_.restart(master);
        case 3:
            cluster_.isolate(master);
            loop_.run_for(random_.between(1s, 6s));
            return cluster_.heal_bus();
        case 4: return replace_twice(master, replica);
        default: return replace_twice_unnoticed(name, master, replica);
        }
    }
    // The master is the owner again soon, with another epoch.
    void replace_twice(std::size_t master, std::size_t replica) {
        if (!cluster_.take_over(replica)) return;
        loop_.run_for(random_.between(700ms, 3s));
        if (!cluster_.view(master).is_master()) static_cast<void>(cluster_.take_over(master));
    }
    // A stopped program hears nothing of it, and its connections go on. It is the first one that
    // acquires the lock afterwards, and the last tokens of the node in between may be lost.
    void replace_twice_unnoticed(const std::string& name, std::size_t master, std::size_t replica) {
        const auto idle = random_.below(plan_.program_count);
        stop(*programs_[idle]);
        if (cluster_.take_over(replica)) {
            loop_.run_for(random_.between(600ms, 1s));
            // What follows is too short for the others to notice.
            cluster_.cut_bus(replica, master);
            for (std::size_t i = 0; i < plan_.program_count; ++i)
                request(i, name);
            loop_.run_for(random_.between(50ms, 500ms));
            cluster_.heal_bus();
            if (!cluster_.view(master).is_master() && cluster_.take_over(master)) {
                for (std::size_t i = 0; i < plan_.program_count; ++i)
                    if (i != idle) stop(*programs_[i]);
                request(idle, name);
            }
        }
        resume(*programs_[idle]);
        loop_.run_for(random_.between(20ms, 300ms));
        for (std::size_t i = 0; i < plan_.program_count; ++i)
            resume(*programs_[i]);
    }
    // At about the same time: no node that the programs are connected to tells of the new masters.
    void lose_all_masters() {
        std::vector<std::pair<std::size_t, std::size_t>> replaced;  // master, replica
        for (std::size_t i = 0; i < cluster_.node_count(); ++i)
            if (const auto replica = cluster_.replica_of(i);
                replica != cluster_view::no_node && cluster_.network(replica).is_up())
                replaced.emplace_back(i, replica);
        for (const auto& [master, replica] : replaced)
            cluster_.kill(master);
        trace_.write("all masters die");
        loop_.run_for(random_.between(100ms, 2s));
        for (const auto& [master, replica] : replaced)
            if (cluster_.take_over(replica))
                cluster_.remove(master);
            else
                cluster_.restart(master);
    }
    void stop_faults() override { cluster_.stop_faults(); }
    bool is_agreed() override { return cluster_.is_agreed() && !cluster_.is_moving(); }
    void repair() override { cluster_.close_moves(); }

    simulated_cluster cluster_;
    int rounds_ = 0;
    std::map<std::string, instant> moved_at_;
    // When the slot of a name left a node for another one.
    std::map<std::pair<std::string, std::size_t>, instant> left_at_;
};

}  // namespace

scenario_result run_cluster_scenario(std::uint64_t seed, topology_bug bug,
                                     const trace::line_sink& sink) {
    set_current_seed(seed);
    const auto plan = make_topology_plan(seed, named_topology_bug::place::cluster, bug);
    return cluster_scenario(plan, sink).run(scenario_kind::cluster);
}

}  // namespace pawl::simulation
