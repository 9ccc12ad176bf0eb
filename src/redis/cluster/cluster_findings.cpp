// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What `examine` says about the cluster as a whole.
#include "cluster_topology.hpp"

#include "../../core/util/plural.hpp"

#include <algorithm>
#include <string>

using grade = pawl::finding::grade;

namespace pawl::redis {
namespace {

// From this epoch on, an operator should know that tokens have room for 65535.
constexpr std::uint64_t high_epoch = 50'000;

std::string address_of(const listed_node& node) {
    return (node.host.empty() ? node.name : node.host) + ":" + std::to_string(node.port);
}

finding slots_finding(const std::vector<listed_node>& view) {
    unsigned missing = slot_count;
    for (const auto& each : view)
        for (const auto& [first, last] : each.slots)
            if (!each.is_failing) missing -= std::min(missing, last - first + 1);
    if (missing == 0) return {grade::good, "slots", "all 16384 have a node", ""};
    return {grade::bad, "slots", std::to_string(missing) + " of 16384 have no node that answers",
            "their locks cannot be taken; start the node or its replica, or assign the slots"};
}

finding masters_finding(const std::vector<listed_node>& view) {
    const auto has_slots = [](const listed_node& each) {
        return each.is_master && !each.slots.empty();
    };
    const auto masters = std::ranges::count_if(view, has_slots);
    const auto replicas = std::ranges::count(view, false, &listed_node::is_master);
    finding result{grade::note, "cluster",
                   core::plural(masters, "master") + ", " + core::plural(replicas, "replica"),
                   "a failover can lose a lock that is held; let the resource check the token, "
                   "which is larger after each failover"};
    if (masters < 3) {
        result.level = grade::warning;
        result.advice = "with fewer than three masters, no failover happens by itself; run three";
    }
    return result;
}

void add_master(const listed_node& master, examination& report) {
    const auto node = address_of(master);
    if (master.is_failing)
        report.findings.push_back({grade::bad, "node", "cannot be reached by other nodes",
                                   "its locks cannot be taken until a replica replaces it", node});
}

// `own_epoch`: what the node says itself. `other`: another master with the same epoch; empty: none.
finding epoch_finding(const listed_node& master, std::uint64_t own_epoch,
                      const std::string& other) {
    finding result{grade::good, "config epoch", std::to_string(own_epoch), "", address_of(master)};
    if (own_epoch >= high_epoch) {
        result.level = grade::warning;
        result.advice =
            "a token has room for 65535, and then the node is refused; each failover and most "
            "moves of slots raise it";
    } else if (!other.empty()) {
        result.level = grade::warning;
        result.fact += ", as of " + other;
        result.advice =
            "the nodes give one of them a new epoch within seconds; if both stay, see CLUSTER "
            "NODES at each";
    } else if (own_epoch != master.epoch) {
        result.level = grade::note;
        result.fact += ", while another node says " + std::to_string(master.epoch);
        result.advice = "the nodes agree within seconds; if not, see CLUSTER NODES at each";
    }
    return result;
}

}  // namespace

void cluster_topology::add_findings(examination& report) const {
    const auto& view = view_.nodes();
    report.findings.push_back(masters_finding(view));
    report.findings.push_back(slots_finding(view));
    for (const auto& each : view) {
        if (!each.is_master) report.nodes.push_back({address_of(each), "replica"});
        if (!each.is_master || each.slots.empty()) continue;
        add_master(each, report);
        const auto known = nodes_.number_of(each.id);
        const auto own_epoch = known ? nodes_.at(*known).epoch() : each.epoch;
        std::string other;
        for (const auto& rival : view)
            if (rival.id != each.id && rival.is_master && !rival.slots.empty() &&
                rival.epoch == each.epoch)
                other = address_of(rival);
        report.findings.push_back(epoch_finding(each, own_epoch, other));
    }
}

}  // namespace pawl::redis
