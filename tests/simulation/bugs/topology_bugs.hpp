// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Bugs injected into the client of a cluster or of Sentinels, to show that the scenarios of these
// topologies find them. Most are in the links to the servers.
#pragma once

#include <redis/topology/topology.hpp>
#include <redis/transport/link.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace pawl::simulation {

enum class topology_bug : std::uint8_t {
    none,
#define PAWL_BUG(name, where) name,
#include "topology_bugs.def"
#undef PAWL_BUG
};

struct named_topology_bug {
    enum class place : std::uint8_t { cluster, sentinels };
    topology_bug bug;
    std::string_view name;
    place where;
};

inline constexpr std::array topology_bugs{
#define PAWL_BUG(name, where) \
    named_topology_bug{topology_bug::name, #name, named_topology_bug::place::where},
#include "topology_bugs.def"
#undef PAWL_BUG
};

// The link with the bug, or the link itself.
[[nodiscard]] std::shared_ptr<redis::link> inject_link_bug(topology_bug bug,
                                                           std::shared_ptr<redis::link> into);
// The topology with the bug, or the topology itself.
[[nodiscard]] redis::topology_factory inject_topology_bug(topology_bug bug,
                                                          redis::topology_factory into);
// What the server before the last switch answers, if the bug sends this request there.
[[nodiscard]] std::optional<redis::reply> answer_of_old_master(
    topology_bug bug, std::span<const std::string_view> words);
// Changes the new master's answer after a switch.
void change_answer_after_switch(topology_bug bug, std::span<const std::string> words,
                                redis::reply& answer);

}  // namespace pawl::simulation
