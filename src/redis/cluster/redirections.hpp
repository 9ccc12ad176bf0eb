// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What a client does after MOVED, ASK, TRYAGAIN and CLUSTERDOWN: the "redirection and resharding"
// part of the Redis Cluster specification. Decides without I/O.
#pragma once

#include "cluster_settings.hpp"

#include "../topology/topology.hpp"

#include <cstdint>
#include <string_view>

namespace pawl::redis {

// HOST:PORT in the reply of a node; without a host, it is the node's own.
struct redirection_target {
    std::string_view host;
    std::uint16_t port = 0;
};

// Used on one strand.
class redirections {
public:
    enum class step : std::uint8_t {
        fail,           // the request fails with the refusal
        fail_and_look,  // the same, and the nodes are asked for their views
        pause,          // the request is sent again after a pause
        follow_move,    // another node has the slot
        ask,            // another node gets this one request
    };

    explicit redirections(const cluster_limits& bounds) noexcept : bounds_(bounds) {}

    // The reply is an error that `next_step` knows.
    [[nodiscard]] static bool is_redirection(const reply& refusal) noexcept;
    // The target of MOVED and ASK. A part of the reply.
    [[nodiscard]] static redirection_target parse_target(std::string_view refusal);

    // Counts the attempt. `is_late`: the time for the request is over. After too many attempts, the
    // refusal becomes one that a later request need not get.
    [[nodiscard]] step next_step(redirection& progress, reply& refusal, bool is_late) const;
    // The pause after a number of attempts is random between half of this and this.
    [[nodiscard]] duration longest_pause(unsigned attempts) const;

private:
    const cluster_limits bounds_;
};

}  // namespace pawl::redis
