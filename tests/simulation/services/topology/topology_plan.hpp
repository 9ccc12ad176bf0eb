// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The scenario of one seed with a cluster or with Sentinels: its programs, and which faults it has.
#pragma once

#include "../../bugs/topology_bugs.hpp"
#include "../../server/simulated_network.hpp"

#include <redis/cluster/cluster_topology.hpp>
#include <redis/common/limits.hpp>

#include <cstddef>
#include <cstdint>

namespace pawl::simulation {

struct topology_plan {
    std::uint64_t seed = 0;
    topology_bug bug = topology_bug::none;
    std::size_t program_count = 3;
    std::size_t users_per_program = 1;
    bool moves = false;             // slots move
    bool interrupts_moves = false;  // a move pauses for seconds
    bool breaks = false;            // connections break, messages are slow
    bool failovers = false;         // masters are replaced, planned and not
    // All masters die for good, and their replicas take over, as the first or the last fault.
    bool loses_masters_first = false, loses_masters_last = false;
    bool partitions = false;           // a program, or a node, is cut off from some of the others
    bool pauses = false;               // programs are stopped for a while
    bool loses_replicas = false;       // some of a master's replicas are away for a while
    bool is_skewed = false;            // the clocks of the servers differ by up to a minute
    bool has_sets = false;             // some users acquire two locks at once
    bool has_scripts = true;           // false: the programs use scripts=no
    std::size_t replicas = 1;          // of each master
    std::uint32_t durable_copies = 0;  // of each grant, on replicas
    bool is_on_disk = false;           // each grant is in the append-only file of its server
    bool loses_power = false;          // the master starts again with that file
    duration shortest_ttl{}, longest_ttl{};
    instant longest_hold{};
    network_faults network{};
    redis::limits limits{};
    redis::cluster_limits cluster_limits{};

    // No fault makes a hold end early, or an acquire fail.
    [[nodiscard]] bool is_gentle() const noexcept {
        return !breaks && !failovers && !partitions && !pauses && !loses_power;
    }
    [[nodiscard]] bool is_durable() const noexcept { return durable_copies > 0 || is_on_disk; }
};

[[nodiscard]] topology_plan make_topology_plan(std::uint64_t seed, named_topology_bug::place where,
                                               topology_bug bug);

}  // namespace pawl::simulation
