// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Connects to the nodes, and knows which of them have neither answered nor failed.
#pragma once

#include "background.hpp"
#include "node_table.hpp"

#include "../../core/util/wakeup_list.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <vector>

namespace pawl::redlock {

// Used on one strand. The arguments must outlive it, and the operations that it spawns.
class node_connections {
public:
    node_connections(node_table& nodes, duration reply_timeout, background& client,
                     core::wakeup_list& changed)
        : nodes_(nodes),
          reply_timeout_(reply_timeout),
          client_(client),
          changed_(changed),
          states_(nodes.size()) {}

    // Unless the node is connected. After a failure, the link goes on by itself.
    void connect(std::size_t node);
    void on_connected(std::size_t node) noexcept { states_[node].has_used_grace = false; }
    // Every node has answered or failed.
    [[nodiscard]] bool is_complete() const;
    // A request should wait for a node. One that hangs delays the requests only once, not each of
    // them.
    [[nodiscard]] bool may_soon_be_complete() const;
    // A request has waited for the nodes that have neither answered nor failed.
    void note_wait() noexcept;

private:
    struct state {
        bool is_connecting = false;
        bool has_used_grace = false;  // a request has waited for its connection or standing
    };
    [[nodiscard]] bool is_awaited(std::size_t node) const noexcept;
    boost::asio::awaitable<void> make_connection(std::size_t node);

    node_table& nodes_;
    const duration reply_timeout_;
    background& client_;
    core::wakeup_list& changed_;
    std::vector<state> states_;  // of each node
};

}  // namespace pawl::redlock
