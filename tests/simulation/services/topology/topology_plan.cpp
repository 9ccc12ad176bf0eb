// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "topology_plan.hpp"

#include "../../kernel/prng.hpp"

#include <algorithm>

using namespace std::chrono_literals;

namespace pawl::simulation {
namespace {

void plan_network(topology_plan& result, prng& random) {
    if (!result.breaks) return;
    auto& net = result.network;
    net.break_on_request = net.break_on_reply = 0.005;
    // Many requests are then executed without a reply, and must be undone.
    if (random.happens(0.5)) net.break_on_reply = 0.05;
    net.late_delivery = 0.5;
    net.longest_late_delay = 300ms;
    net.slow_message = 0.02;
    net.longest_delay = 100ms;
}

// Tiny limits, so that each of them is reached.
void plan_bounds(topology_plan& result, prng& random) {
    if (random.happens(0.3)) result.cluster_limits.view_interval = 500ms;
    if (!random.happens(0.3)) return;
    auto& limits = result.limits;
    if (random.happens(0.5)) limits.max_undos = static_cast<std::size_t>(random.between(1, 3));
    if (random.happens(0.5)) limits.max_concurrent_undos = 1;
    if (random.happens(0.5)) limits.max_local_hand_offs = 0;
    if (random.happens(0.5)) limits.renewals_per_script = 1;
    if (random.happens(0.5)) limits.claim_window = 150ms;
    auto& cluster = result.cluster_limits;
    if (random.happens(0.5)) cluster.max_attempts = static_cast<unsigned>(random.between(1, 3));
}

void plan_unanswered_renewals(topology_plan& result, bool is_cluster) {
    prng random(result.seed ^ (is_cluster ? 0x4E4E'3A15'0000'0002U : 0x4E4E'3A15'0000'0003U));
    if (random.happens(0.4))
        result.limits.unanswered_renewals = static_cast<std::size_t>(random.between(1, 2));
}

void plan_durability(topology_plan& result, prng& random) {
    if (!random.happens(0.25)) return;
    result.replicas = 2;
    result.durable_copies = static_cast<std::uint32_t>(random.between(1, 2));
    result.loses_replicas = random.happens(0.7);
}

// The operator could not end a move to a node that is dead for good.
void plan_dead_masters(topology_plan& result, bool is_cluster) {
    prng random(result.seed ^ 0xDEAD'0000'0000'0003U);
    if (!is_cluster || !result.failovers || result.moves || random.happens(0.5)) return;
    // A replica that has never been a master is known only as a replica.
    result.loses_masters_first = random.happens(0.7);
    result.loses_masters_last = !result.loses_masters_first;
}

// Without scripts, nothing compares a node's replication id, so in a cluster a token may repeat one
// that a failover has lost (docs/backends/scriptless.md).
void plan_servers(topology_plan& result, bool is_cluster) {
    prng random(result.seed ^ (is_cluster ? 0xD15C'0000'0000'0001U : 0xD15C'0000'0000'0002U));
    const bool may_repeat = is_cluster && (result.failovers || result.partitions);
    result.has_scripts = random.happens(0.85) || may_repeat;
    if (result.durable_copies > 0 || random.happens(0.85)) return;
    result.is_on_disk = true;
    result.loses_power = !is_cluster && random.happens(0.7);
}

}  // namespace

topology_plan make_topology_plan(std::uint64_t seed, named_topology_bug::place where,
                                 topology_bug bug) {
    const bool is_cluster = where == named_topology_bug::place::cluster;
    prng random(seed ^ (is_cluster ? 0xC105'7E50'0000'0000U : 0x5E47'14E1'0000'0000U));
    topology_plan result;
    result.seed = seed;
    result.bug = bug;
    result.program_count = static_cast<std::size_t>(random.between(2, 3));
    result.users_per_program = static_cast<std::size_t>(random.between(1, 2));
    result.moves = is_cluster && random.happens(0.6);
    result.breaks = random.happens(0.25);
    result.failovers = random.happens(0.6);
    result.partitions = random.happens(0.25);
    result.pauses = random.happens(0.2);
    result.is_skewed = random.happens(0.5);
    result.has_sets = random.happens(0.3);
    if (!is_cluster) result.replicas = 2;
    plan_durability(result, random);
    // Long leases: then only the switch itself, and no periodic renewal, tells of a lost hold.
    const bool is_long = random.happens(0.4);
    result.shortest_ttl = is_long ? 10s : 1s;
    result.longest_ttl = is_long ? 14s : 4s;
    result.longest_hold = is_long ? 6s : 1500ms;
    // A hold then needs renewals while its slot moves.
    result.interrupts_moves = result.moves && random.happens(0.3);
    if (result.interrupts_moves && !is_long) result.longest_hold = 5s;
    plan_network(result, random);
    plan_bounds(result, random);
    plan_servers(result, is_cluster);
    plan_dead_masters(result, is_cluster);
    plan_unanswered_renewals(result, is_cluster);
    return result;
}

}  // namespace pawl::simulation
