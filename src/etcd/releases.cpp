// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "holds.hpp"

#include "../core/store/queue_policy.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::etcd {
namespace {

constexpr duration longest_batch = 5s;
constexpr int most_batch_requests = 10;

// The result for a hold whose key is gone.
release_result result_without_key(const lock_client& client, const claim& held,
                                  const transaction_answer& answer) {
    const auto line =
        lock_line(answer.at(0), client.keys().line(held.name), answer.revision).entries();
    core::occupancy present;
    if (!line.empty()) present.add(line.front().value.share);
    return core::result_of_missing_hold(held.mode, present);
}

// What remains of a hold: no waiter's lease is needed any more.
lock_key remaining_key(lock_client& client, const claim& held, const stored_hold& stored) {
    return {.key = client.keys().line(held.name) + held.owner,
            .lease = client.pool().find(stored.session)};
}

// The claims of a batch, with their keys and leases.
struct batch_keys {
    std::vector<lock_key> keys{};
    std::vector<core::session_ptr> leases{};  // each once
};

asio::awaitable<batch_keys> make_keys(std::shared_ptr<lock_client> client,
                                      std::span<const claim> claims, time_point give_up_at) {
    batch_keys result;
    for (const auto& each : claims) {
        const auto lease = co_await client->pool().get(each.ttl, give_up_at);
        lock_key key{.key = client->keys().line(each.name) + each.owner, .lease = lease};
        result.keys.push_back(std::move(key));
        if (std::ranges::find(result.leases, lease) == result.leases.end())
            result.leases.push_back(lease);
    }
    co_return result;
}

transaction batch_request(const lock_client& client, std::span<const claim> claims,
                          const batch_keys& batch) {
    transaction request;
    for (const auto& each : batch.leases)
        client.add_guard(request, each);
    for (std::size_t i = 0; i < claims.size(); ++i) {
        entry_value value{.share = core::share_of(claims[i])};
        if (!claims[i].fenced) value.place = token_place::none;
        value.process = client.context().process;
        value.since_ms = client.context().time->wall_clock().time_since_epoch() / 1ms;
        request.conditions.push_back(condition::none_under(client.keys().line(claims[i].name)));
        request.success.push_back(
            operation::put(batch.keys[i].key, value.encode(), lease_of(batch.keys[i].lease->id())));
    }
    return request;
}

std::vector<grant> batch_grants(std::span<const claim> claims, const batch_keys& batch,
                                std::int64_t revision) {
    std::vector<grant> grants;
    for (std::size_t i = 0; i < claims.size(); ++i) {
        grant made;
        made.deadline = batch.keys[i].lease->deadline();
        if (claims[i].fenced) made.token = fencing_token(static_cast<std::uint64_t>(revision));
        made.stored_value = stored_hold{revision, batch.keys[i].lease->id()}.encode();
        grants.push_back(std::move(made));
    }
    return grants;
}

// Undoes the batch, unless it is settled.
struct batch_guard {
    lock_client& client;
    const batch_keys& batch;
    bool is_settled = true;
    ~batch_guard() {
        if (is_settled) return;
        for (const auto& each : batch.keys)
            client.undo_in_background(each);
    }
};

}  // namespace

asio::awaitable<std::vector<grant>> acquire_batch(std::shared_ptr<lock_client> client,
                                                  std::span<const claim> claims,
                                                  time_point give_up_at) {
    const core::in_flight::guard operation(client->operations());
    const auto now = client->now();
    const auto limit =
        give_up_at > now ? std::min(give_up_at, now + longest_batch) : client->try_deadline();
    const auto batch = co_await make_keys(client, claims, limit);
    batch_guard guard{*client, batch};
    for (int repetition = 0; repetition < most_batch_requests; ++repetition) {
        transaction_answer answer;
        const auto compared = client->guards_of(batch.leases);
        try {
            guard.is_settled = false;
            answer = co_await client->run(batch_request(*client, claims, batch).encode(), limit);
        } catch (const call_error& failed) {
            guard.is_settled = !may_have_effect(failed);
            if (failed.code() == call_status::not_found)
                for (const auto& each : batch.keys)
                    client->on_missing_lease(each);
            throw;
        }
        guard.is_settled = true;
        if (answer.succeeded) co_return batch_grants(claims, batch, answer.revision);
        if (answer.answers.size() < batch.leases.size())
            throw error(errc::protocol, "The server's answer to a transaction has too few parts.");
        if (!client->take_guards(batch.leases, compared, answer.answers.data())) break;
    }
    co_return std::vector<grant>{};
}

// A release whose answer is missing is sent once more; what that finds does not tell what the first
// one has done.
asio::awaitable<release_result> release(std::shared_ptr<lock_client> client,
                                        const hold& requested) {
    const core::in_flight::guard operation(client->operations());
    const auto& held = requested.claim;
    const auto stored = stored_hold::decode(requested.grant.stored_value);
    auto key = remaining_key(*client, held, stored);
    client->forget_unconfirmed(held.owner);
    const transaction removal{.conditions = {condition::created_at(key.key, stored.created)},
                              .success = {operation::remove(key.key)},
                              .failure = {operation::get_all(client->keys().line(held.name), 1)}};
    const auto limit = client->try_deadline();
    for (int sent = 0; sent < 2 && client->now() < limit; ++sent) {
        try {
            const auto answer = co_await client->run(removal.encode(), limit);
            if (answer.succeeded) co_return release_result::released;
            if (sent > 0) co_return release_result::unknown;
            co_return result_without_key(*client, held, answer);
        } catch (const std::exception&) {}
    }
    if (key.lease) client->undo_in_background(std::move(key));
    co_return release_result::unknown;
}

}  // namespace pawl::etcd
