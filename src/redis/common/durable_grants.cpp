// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "durable_grants.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace asio = boost::asio;

namespace pawl::redis {

// No longer than the ttl: if the main connection is dead, too, the lease has ended by then.
asio::awaitable<void> durable_grants::confirm(std::span<const hold* const> holds, durability wanted,
                                              time_point give_up_at) {
    if (!acknowledgements_)
        acknowledgements_ = std::make_unique<acknowledgements>(access_.connect(), access_.context(),
                                                               access_.bounds());
    const auto& first = holds.front()->claim;
    auto until = access_.reply_deadline(give_up_at > access_.now(), give_up_at);
    until = std::min({until, access_.reply_deadline(), access_.now() + first.ttl});
    // The keeper extends the leases meanwhile, and these copies do not see it.
    std::vector<hold> copies;
    for (const auto* each : holds)
        copies.emplace_back(*each).grant.deadline = until;
    const acknowledgements::request wait{
        .key = key_of_(first.name),
        .subject = holds.size() == 1 ? "The lock '" + first.name + "'" : "One of the locks",
        .wanted = wanted,
        .give_up_at = until,
        .write = [this, &copies](topology& servers) { return write_to_holds(servers, copies); }};
    co_await acknowledgements_->wait(wait);
}

asio::awaitable<renewal::outcome> durable_grants::write_to_holds(topology& servers,
                                                                 std::span<const hold> holds) {
    std::vector<renewal> renewals;
    for (const auto& each : holds)
        renewals.push_back(
            {.held = &each, .ttl = each.claim.ttl, .useful_until = each.grant.deadline});
    renewal_batch batch(std::move(renewals));
    co_await renew_(servers, batch);
    auto outcome = renewal::outcome::extended;
    for (const auto& each : batch.renewals()) {
        if (each.result == renewal::outcome::extended) continue;
        outcome =
            each.result == renewal::outcome::missing ? renewal::outcome::refused : each.result;
        // A refusal counts only from the server that granted the lock. During a failover, these
        // links may lead to another one.
        const auto key = key_of_(each.held->claim.name);
        const bool is_same_server = servers.link_of(key).current().run_id ==
                                    access_.servers().link_of(key).current().run_id;
        if (outcome == renewal::outcome::refused && is_same_server) break;
        outcome = renewal::outcome::unknown;
    }
    co_return outcome;
}

asio::awaitable<void> durable_grants::close(time_point give_up_at) {
    if (acknowledgements_) co_await acknowledgements_->close(give_up_at);
}

}  // namespace pawl::redis
