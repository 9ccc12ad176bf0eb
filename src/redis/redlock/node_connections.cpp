// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "node_connections.hpp"

#include <array>
#include <exception>
#include <optional>
#include <string_view>

namespace asio = boost::asio;

namespace pawl::redlock {

bool node_connections::is_awaited(std::size_t node) const noexcept {
    const auto& each = nodes_[node];
    return states_[node].is_connecting ||
           (each.server->connected() && each.state == standing::unknown && each.trouble.empty());
}

bool node_connections::is_complete() const {
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (is_awaited(i)) return false;
    return true;
}

bool node_connections::may_soon_be_complete() const {
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (is_awaited(i) && !states_[i].has_used_grace) return true;
    return false;
}

void node_connections::note_wait() noexcept {
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        states_[i].has_used_grace = is_awaited(i);
}

void node_connections::connect(std::size_t node) {
    const auto& server = nodes_.link_of(node);
    if (server.connected() || states_[node].is_connecting) return;
    if (!server.connection_failure().empty()) return;
    states_[node].is_connecting = true;
    states_[node].has_used_grace = false;
    client_.spawn(make_connection(node));
}

asio::awaitable<void> node_connections::make_connection(std::size_t node) {
    const std::array<std::string_view, 1> ping{"PING"};
    std::optional<error> failure;
    try {
        co_await nodes_.link_of(node).exec(ping, nodes_.now() + reply_timeout_);
    } catch (const error& e) {
        failure = e;
    } catch (const std::exception& e) {
        failure.emplace(errc::unreachable, e.what());
    }
    // Otherwise the node may have been found unsuitable meanwhile.
    if (failure) nodes_.note_failed_connection(node, *failure);
    states_[node].is_connecting = false;
    changed_.notify_all();
}

}  // namespace pawl::redlock
