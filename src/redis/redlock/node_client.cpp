// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "node_client.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

using namespace std::chrono_literals;

namespace pawl::redlock {

node_client::node_client(members& membership_of_nodes,
                         std::unique_ptr<const node_layout> layout_of_set,
                         std::shared_ptr<redis::topology> servers,
                         const backend_context& client_context, const redis::limits& bounds,
                         duration reply_time, background& client_tasks)
    : membership(membership_of_nodes),
      nodes(membership.nodes()),
      timing(membership.timing()),
      clocks(membership.clocks()),
      set(nodes.set()),
      layout(std::move(layout_of_set)),
      context(client_context),
      reply_timeout(reply_time),
      tasks(client_tasks),
      undos(std::move(servers), context, bounds, reply_timeout),
      requests_in_flight(nodes.size()),
      request_ended(*context.time, context.strand) {
    request_ended.prepare();
}

// Nodes that are known to be far away get more time, if the rest of the lease is worth it. An
// acquire may need two round trips.
duration node_client::node_timeout(duration ttl) const {
    const auto longest = std::min<duration>(reply_timeout, 1s);
    const auto usual = std::clamp<duration>(ttl / 10, std::min<duration>(50ms, longest), longest);
    const auto measured = 3 * timing.round_trip_of_majority();
    return std::max(usual, std::min({measured, ttl / 2, reply_timeout}));
}

duration node_client::longest_try() const noexcept {
    return std::min(reply_timeout, context.try_limit);
}

bool node_client::is_idle() {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const auto& server_link = nodes.link_of(i);
        if (!server_link.connected() || timing.is_silent(i)) continue;
        if (requests_in_flight[i] > 0 || !undos.of(server_link).empty()) return false;
    }
    return true;
}

}  // namespace pawl::redlock
