// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The service redlock:// over simulated nodes, each with a network of its own, for one program.
#pragma once

#include "../../bugs/redlock_bugs.hpp"
#include "../../server/simulated_link.hpp"

#include <pawl/redlock.hpp>
#include <pawl/service.hpp>
#include <redis/common/limits.hpp>
#include <redis/topology/topology.hpp>

#include <vector>

namespace pawl::simulation {

// Of each node, the server that a program reaches.
using node_choices = std::vector<server_choice>;

// Of nodes with one server each.
using node_networks = std::vector<simulated_network*>;
[[nodiscard]] inline node_choices choices_of(const node_networks& nodes) {
    node_choices result;
    for (auto* const each : nodes)
        result.push_back([each](const simulated_process&) { return chosen_server{each}; });
    return result;
}

// What differs from a good client's connections.
struct node_link_faults {
    redlock_bug bug = redlock_bug::none;
    bool loses_messages = false;  // of forced releases
};

// As `make_backend` needs them.
[[nodiscard]] std::vector<redis::topology_factory> node_factories(const node_choices& nodes,
                                                                  simulated_process& process,
                                                                  const backend_context& context,
                                                                  const redlock::options& options,
                                                                  node_link_faults faults);
[[nodiscard]] service redlock_service(node_choices nodes, simulated_process& process,
                                      const redlock::options& options, const redis::limits& limits,
                                      node_link_faults faults);

[[nodiscard]] inline service redlock_service(const node_networks& nodes, simulated_process& process,
                                             const redlock::options& options,
                                             const redis::limits& limits, node_link_faults faults) {
    return redlock_service(choices_of(nodes), process, options, limits, faults);
}

}  // namespace pawl::simulation
