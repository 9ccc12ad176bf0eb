// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "holds.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <string>
#include <utility>

namespace asio = boost::asio;

namespace pawl::etcd {
namespace {

// The renewals of one call that share a lease.
struct lease_group {
    core::session_ptr lease;
    std::vector<std::size_t> indexes{};
};

std::string key_of(const lock_client& client, const claim& held) {
    return client.keys().line(held.name) + held.owner;
}

time_point limit_of(const lock_client& client, const renewal_batch& batch) {
    auto limit = client.now();
    for (const auto& each : batch.renewals())
        limit = std::max(limit, each.useful_until);
    return std::min(limit, client.try_deadline());
}

// The lease's end, or an earlier one that the core has asked for.
void settle_extended(renewal_batch& batch, std::size_t index, const core::pooled_session& lease,
                     time_point asked_at) {
    const auto ttl = batch.renewals()[index].ttl;
    batch.settle(index, renewal::outcome::extended,
                 std::min(lease.deadline(), asked_at + ttl - drift(ttl)));
}

// A key that is gone: whether another holder has the lock.
asio::awaitable<void> settle_missing(std::shared_ptr<lock_client> client, renewal_batch& batch,
                                     std::size_t index, time_point give_up_at) {
    const auto& held = batch.renewals()[index].held->claim;
    const transaction asked{.success = {operation::get_all(client->keys().line(held.name), 1)}};
    auto result = renewal::outcome::refused;
    try {
        const auto answer = co_await client->run(asked.encode(), give_up_at);
        if (answer.at(0).values.empty()) result = renewal::outcome::missing;
    } catch (const std::exception&) {}
    batch.settle(index, result);
}

// Keys whose create revisions are those of the holds prove them.
asio::awaitable<void> prove_keys(std::shared_ptr<lock_client> client, renewal_batch& batch,
                                 std::span<const std::size_t> indexes, core::session_ptr lease,
                                 time_point asked_at, time_point give_up_at) {
    transaction asked;
    for (const auto index : indexes)
        asked.success.push_back(
            operation::get(key_of(*client, batch.renewals()[index].held->claim)));
    const auto answer = co_await client->run(asked.encode(), give_up_at);
    for (std::size_t i = 0; i < indexes.size(); ++i) {
        const auto index = indexes[i];
        const auto& found = answer.at(i).values;
        const auto stored = stored_hold::decode(batch.renewals()[index].held->grant.stored_value);
        if (!found.empty() && found.front().create_revision == stored.created)
            settle_extended(batch, index, *lease, asked_at);
        else
            co_await settle_missing(client, batch, index, give_up_at);
    }
}

// A confirmation proves its key, too. Returns the holds that need none.
asio::awaitable<std::vector<std::size_t>> confirm_grants(std::shared_ptr<lock_client> client,
                                                         renewal_batch& batch, lease_group group,
                                                         time_point asked_at,
                                                         time_point give_up_at) {
    std::vector<std::size_t> confirmed;
    for (const auto index : group.indexes) {
        const auto& owner = batch.renewals()[index].held->claim.owner;
        const auto granted = client->find_unconfirmed(owner);
        if (!granted) {
            confirmed.push_back(index);
            continue;
        }
        const auto revision = co_await client->confirm(*granted, give_up_at);
        client->forget_unconfirmed(owner);
        if (revision)
            settle_extended(batch, index, *group.lease, asked_at);
        else
            co_await settle_missing(client, batch, index, give_up_at);
    }
    co_return confirmed;
}

// A keep-alive may succeed for a lease that has just ended, so the keys are read after it.
asio::awaitable<void> renew_group(std::shared_ptr<lock_client> client, renewal_batch& batch,
                                  lease_group group, time_point give_up_at) {
    const auto asked_at = client->now();
    const bool is_proved = co_await client->pool().prove(group.lease, {}, give_up_at);
    if (!is_proved) {
        if (!group.lease->is_over()) co_return;  // unknown
        for (const auto index : group.indexes)
            co_await settle_missing(client, batch, index, give_up_at);
        co_return;
    }
    const auto confirmed = co_await confirm_grants(client, batch, group, asked_at, give_up_at);
    for (std::size_t begin = 0; begin < confirmed.size(); begin += most_operations) {
        const auto count = std::min(most_operations, confirmed.size() - begin);
        co_await prove_keys(client, batch, std::span(confirmed).subspan(begin, count), group.lease,
                            asked_at, give_up_at);
    }
}

}  // namespace

asio::awaitable<void> renew(std::shared_ptr<lock_client> client, renewal_batch& batch) {
    const core::in_flight::guard operation(client->operations());
    const auto limit = limit_of(*client, batch);
    std::map<std::string, lease_group> groups;
    for (std::size_t i = 0; i < batch.renewals().size(); ++i) {
        const auto stored = stored_hold::decode(batch.renewals()[i].held->grant.stored_value);
        if (const auto lease = client->pool().find(stored.session)) {
            auto& group = groups[stored.session];
            group.lease = lease;
            group.indexes.push_back(i);
        } else {
            co_await settle_missing(client, batch, i, limit);
        }
    }
    for (const auto& [session, group] : groups) {
        try {
            co_await renew_group(client, batch, group, limit);
        } catch (const std::exception&) {}  // the outcomes are unknown
    }
}

asio::awaitable<std::optional<grant>> downgrade(std::shared_ptr<lock_client> client,
                                                const hold& requested) {
    const core::in_flight::guard operation(client->operations());
    const auto& held = requested.claim;
    const auto limit = client->try_deadline();
    const auto stored = stored_hold::decode(requested.grant.stored_value);
    const auto lease = client->pool().find(stored.session);
    if (!lease) co_return std::nullopt;
    const bool is_proved = co_await client->pool().prove(lease, {}, limit);
    if (!is_proved && lease->is_over()) co_return std::nullopt;
    if (!is_proved)
        throw error(errc::unreachable, client->link().subject() + " did not answer in time.");
    unconfirmed_grant changed{.key = {.key = key_of(*client, held), .lease = lease},
                              .created = stored.created};
    changed.value.share = {.mode = lock_mode::shared};
    changed.value.place = token_place::stored;
    changed.value.token = requested.grant.token.value();
    if (changed.value.token == 0)  // readers share one, also with a holder that wants none
        changed.value.token = static_cast<std::uint64_t>(stored.created);
    changed.value.process = client->context().process;
    changed.value.since_ms =
        client->context().time->wall_clock().time_since_epoch() / std::chrono::milliseconds(1);
    const auto revision = co_await client->confirm(changed, limit);
    if (!revision) co_return std::nullopt;
    client->forget_unconfirmed(held.owner);
    grant made = requested.grant;
    made.deadline = lease->deadline();
    made.needs_renewal = false;
    co_return made;
}

}  // namespace pawl::etcd
