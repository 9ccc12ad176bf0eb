// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What `examine` says about the cluster as a whole.
#include "cluster_topology.hpp"

#include <algorithm>
#include <string>

using grade = pawl::finding::grade;

namespace pawl::redis {
namespace {

// From this epoch on, an operator should know that tokens have room for 65535.
constexpr std::uint64_t high_epoch = 50'000;

std::string plural(std::size_t count, const std::string& noun) {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

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
                   plural(static_cast<std::size_t>(masters), "master") + ", " +
                       plural(static_cast<std::size_t>(replicas), "replica"),
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
    if (master.epoch >= high_epoch)
        report.findings.push_back({grade::warning, "config epoch", std::to_string(master.epoch),
                                   "a token has room for 65535, and then the node is refused; each "
                                   "failover and most moves of slots raise it",
                                   node});
}

}  // namespace

void cluster_topology::add_findings(examination& report) const {
    report.findings.push_back(masters_finding(last_view_));
    report.findings.push_back(slots_finding(last_view_));
    for (const auto& each : last_view_) {
        if (!each.is_master) report.nodes.push_back({address_of(each), "replica"});
        if (each.is_master && !each.slots.empty()) add_master(each, report);
    }
}

}  // namespace pawl::redis
