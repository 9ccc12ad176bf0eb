// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "locks.hpp"

#include "node_request.hpp"

#include <algorithm>

namespace asio = boost::asio;

namespace pawl::redlock {

// The answers of one round of renewals. Only answers of the same round count together.
struct locks::renewal_round {
    renewal_batch& batch;
    std::vector<requested_lock> locks;
    std::size_t nodes;
    time_point sent_at;
    time_point give_up_at;
    struct tally {
        std::size_t extended = 0, refused = 0;
    };
    std::vector<tally> tallies;

    void count(std::size_t index, renewal::outcome answer) {
        auto& [extended, refused] = tallies[index];
        const auto& requested = batch.renewals()[index];
        if (answer == renewal::outcome::extended && ++extended == majority_of(nodes))
            batch.settle(index, answer, sent_at + requested.ttl - drift(requested.ttl));
        // A majority can no longer extend it.
        if (answer == renewal::outcome::refused && ++refused == nodes - majority_of(nodes) + 1)
            batch.settle(index, answer);
    }
};

// One request to each node for all writers of the batch, and one for all readers.
asio::awaitable<void> locks::renew_at(redis::topology&, renewal_batch& batch) {
    renewal_round round{.batch = batch,
                        .locks = {},
                        .nodes = members_.size(),
                        .sent_at = now(),
                        .give_up_at = now(),
                        .tallies = {}};
    for (const auto& each : batch.renewals()) {
        round.locks.push_back(lock_of(*each.held));
        round.give_up_at = std::max(round.give_up_at, round.sent_at + node_timeout(each.ttl));
    }
    round.tallies.resize(round.locks.size());
    std::vector<asio::awaitable<void>> requests;
    for (const auto mode : {lock_mode::exclusive, lock_mode::shared}) {
        if (std::ranges::find(round.locks, mode, &requested_lock::mode) == round.locks.end())
            continue;
        for (std::size_t i = 0; i < members_.size(); ++i)
            requests.push_back(renew_at_node(round, mode, i));
    }
    co_await run_all(std::move(requests));
}

asio::awaitable<void> locks::renew_at_node(renewal_round& round, lock_mode mode, std::size_t node) {
    try {
        renew_call call(set_);
        const auto renewals = round.batch.renewals();
        std::vector<std::size_t> indices;
        for (std::size_t i = 0; i < renewals.size(); ++i) {
            if (round.locks[i].mode != mode) continue;
            call.add(round.locks[i], renewals[i].held->grant.token, renewals[i].ttl);
            indices.push_back(i);
        }
        const auto reply = co_await ask_node(members_.link_of(node), call, round.give_up_at);
        members_.set_silent(node, false);
        if (reply.type == redis::reply::kind::error) co_return;
        const auto answer = call.read(reply);
        members_.on_objection(node, answer.standing);
        for (std::size_t i = 0; i < answer.outcomes.size(); ++i)
            round.count(indices[i], answer.outcomes[i]);
    } catch (const redis::connection_lost& e) {
        members_.set_silent(node, true);
        log(members_.name_of(node) + ": a renewal was not answered: " + e.what());
    } catch (const std::exception&) {}  // the node is away, which the link has logged
}

// The renewal of a reader also turns its exclusive hold into a shared one, at each node where that
// has not happened. So a downgrade that reaches a majority is completed by the next renewals.
asio::awaitable<std::optional<grant>> locks::downgrade(const hold& held) {
    auto shared = held;
    shared.claim.mode = lock_mode::shared;
    // Copied before the requests, so that a downgrade that was carried out cannot fail here.
    std::optional<grant> result = held.grant;
    renewal_batch batch({renewal{.held = &shared, .ttl = held.claim.ttl}});
    co_await renew_at(*servers_, batch);
    const auto& answer = batch.renewals().front();
    if (answer.result == renewal::outcome::refused) co_return std::nullopt;
    if (answer.result != renewal::outcome::extended)
        throw error(errc::no_quorum, "The lock '" + held.claim.name +
                                         "' was not made shared at a majority of the nodes. " +
                                         members_.objections());
    result->deadline = answer.deadline;
    co_return result;
}

}  // namespace pawl::redlock
