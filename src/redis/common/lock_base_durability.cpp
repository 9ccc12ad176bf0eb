// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The durability of a grant. It is confirmed after the grant, whoever wrote it, and so in the same
// way for an immediate grant, a hand-off and an adopted hold, in both layouts.
#include "lock_base.hpp"

#include <algorithm>

namespace asio = boost::asio;

namespace pawl::redis {

// No longer than the ttl: if the main connection is dead, too, the lease has ended by then.
asio::awaitable<void> lock_base::confirm_durability(std::span<const hold* const> holds,
                                                    durability wanted, time_point give_up_at) {
    if (!acknowledgements_)
        acknowledgements_ = std::make_unique<acknowledgements>(connect_, context_, bounds_);
    const auto& first = holds.front()->claim;
    auto until = reply_deadline(give_up_at > now(), give_up_at);
    until = std::min({until, reply_deadline(), now() + first.ttl});
    // The keeper extends the leases meanwhile, and these copies do not see it.
    std::vector<hold> copies;
    for (const auto* each : holds)
        copies.emplace_back(*each).grant.deadline = until;
    const acknowledgements::request requested{
        .key = key_of(first.name),
        .subject = holds.size() == 1 ? "The lock '" + first.name + "'" : "One of the locks",
        .wanted = wanted,
        .give_up_at = until,
        .write = [this, &copies](topology& servers) { return write_to_holds(servers, copies); }};
    co_await acknowledgements_->wait(requested);
}

asio::awaitable<renewal::outcome> lock_base::write_to_holds(topology& servers,
                                                            std::span<const hold> holds) {
    std::vector<renewal> renewals;
    for (const auto& each : holds)
        renewals.push_back(
            {.held = &each, .ttl = each.claim.ttl, .useful_until = each.grant.deadline});
    renewal_batch batch(std::move(renewals));
    co_await renew_at(servers, batch);
    auto outcome = renewal::outcome::extended;
    for (const auto& each : batch.renewals()) {
        if (each.result == renewal::outcome::extended) continue;
        outcome =
            each.result == renewal::outcome::missing ? renewal::outcome::refused : each.result;
        // A refusal counts only from the server that granted the lock. During a failover, these
        // links may lead to another one.
        const auto key = key_of(each.held->claim.name);
        const bool is_same_server =
            servers.link_of(key).current().run_id == servers_->link_of(key).current().run_id;
        if (outcome == renewal::outcome::refused && is_same_server) break;
        outcome = renewal::outcome::unknown;
    }
    co_return outcome;
}

}  // namespace pawl::redis
