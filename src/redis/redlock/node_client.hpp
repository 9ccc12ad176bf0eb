// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What a client's requests about locks have in common: the nodes, and how long they may take.
#pragma once

#include "background.hpp"
#include "core/util/spi.hpp"
#include "members.hpp"

#include "../common/limits.hpp"
#include "../common/undo_queues.hpp"
#include "../scripting/known_scripts.hpp"
#include "../topology/topology.hpp"

#include "../../core/util/wakeup.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace pawl::redlock {

// Used on one strand. What it refers to must outlive it.
struct node_client {
    node_client(members& membership_of_nodes, std::unique_ptr<const node_layout> layout_of_set,
                std::shared_ptr<redis::topology> servers, const backend_context& client_context,
                const redis::limits& bounds, duration reply_time, background& client_tasks);

    members& membership;
    const node_table& nodes;
    node_timing& timing;
    node_clocks& clocks;
    const set_parameters& set;
    const std::unique_ptr<const node_layout> layout;
    const backend_context& context;
    const duration reply_timeout;
    background& tasks;
    redis::undo_queues undos;
    redis::known_scripts known_scripts;
    std::vector<unsigned> requests_in_flight;  // of each node: `close` waits for their ends
    core::wakeup request_ended;

    [[nodiscard]] time_point now() const noexcept { return nodes.now(); }
    [[nodiscard]] time_point reply_deadline() const { return now() + reply_timeout; }
    // The same for an attempt that does not wait.
    [[nodiscard]] time_point try_deadline() const { return now() + longest_try(); }
    // How long a node may take to answer before the others decide.
    [[nodiscard]] duration node_timeout(duration ttl) const;
    // How long a try without a wait goes on if the nodes are split.
    [[nodiscard]] duration longest_try() const noexcept;
    // No node that answers has a request or an undo pending.
    [[nodiscard]] bool is_idle();
};

// Counts a request to a node.
class request_guard {
public:
    request_guard(node_client& client, std::size_t node) noexcept : client_(client), node_(node) {
        ++client_.requests_in_flight[node_];
    }
    ~request_guard() {
        --client_.requests_in_flight[node_];
        client_.request_ended.notify();
    }
    request_guard(const request_guard&) = delete;
    request_guard& operator=(const request_guard&) = delete;

private:
    node_client& client_;
    const std::size_t node_;
};

}  // namespace pawl::redlock
