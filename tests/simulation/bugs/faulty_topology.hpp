// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A topology that confuses its servers. It carries bugs of injected_bug.hpp that need several
// servers.
#pragma once

#include "injected_bug.hpp"

#include <redis/topology/topology.hpp>

namespace pawl::simulation {

[[nodiscard]] constexpr bool is_topology_bug(injected_bug bug) noexcept {
    return bug == injected_bug::undo_sent_to_first_server ||
           bug == injected_bug::undo_waits_for_first_server;
}

// `connect` makes the correct topology.
[[nodiscard]] redis::topology_factory faulty_topology_factory(redis::topology_factory connect,
                                                              injected_bug bug);

}  // namespace pawl::simulation
