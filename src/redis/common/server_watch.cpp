// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "server_watch.hpp"

#include <utility>

namespace pawl::redis {

bool server_watch::report_if_other_server(const link& connected_link) {
    const auto& session = connected_link.current();
    auto& known = known_servers_[&connected_link];
    const auto last = std::exchange(known, {session.run_id, session.epoch, known.epoch_since});
    if (session.connection_number <= 1) return false;
    const bool is_failover = known.epoch != last.epoch;
    if (is_failover) known.epoch_since = context_.time->now();
    if (is_failover || known.run_id.empty() || known.run_id != last.run_id)
        context_.listener->on_possible_loss();
    return is_failover;
}

// A pushed grant has the short deadline of its claim window, which does not tell when it was made.
bool server_watch::was_confirmed_before_failover(const link& server_link,
                                                 const renewal& refused) const {
    const auto known = known_servers_.find(&server_link);
    const auto& held = *refused.held;
    if (known == known_servers_.end() || held.grant.needs_renewal) return false;
    const auto confirmed_at = held.grant.deadline + drift(held.claim.ttl) - held.claim.ttl;
    return confirmed_at < known->second.epoch_since;
}

}  // namespace pawl::redis
