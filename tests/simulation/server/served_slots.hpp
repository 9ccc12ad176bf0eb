// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Which keys a server executes commands for, if it is a node of a cluster.
#pragma once

#include "store.hpp"

#include <redis/transport/link.hpp>

#include <span>
#include <string>
#include <string_view>

namespace pawl::simulation {

class served_slots {
public:
    virtual ~served_slots() = default;

    // The keys, or sharded channels, of one command; at least one.
    struct query {
        std::span<const std::string_view> names;
        bool are_channels = false;
        bool is_asking = false;  // the client has sent ASKING before
    };
    // The error for a command with these keys, such as "MOVED …"; empty if the node executes it.
    // `data` tells which of them exist.
    [[nodiscard]] virtual std::string refusal(const query& asked, store& data) const = 0;
    // CLUSTER NODES and the like, and INFO replication.
    [[nodiscard]] virtual redis::reply answer(std::span<const std::string> command) const = 0;
};

}  // namespace pawl::simulation
