// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "locks.hpp"

#include "node_request.hpp"
#include "renewal_tally.hpp"

#include <algorithm>
#include <list>

namespace asio = boost::asio;

namespace pawl::redlock {

// The answers of one round of renewals, for holds of one mode. Only answers of the same round count
// together.
struct locks::renewal_round {
    renewal_round(renewal_batch& renewals_of_round, std::size_t nodes)
        : batch(renewals_of_round), members(nodes) {}

    renewal_batch& batch;
    std::vector<requested_lock> locks{};
    std::vector<std::size_t> indices{};  // into the batch, of each lock
    time_point sent_at{};
    time_point give_up_at{};
    std::vector<membership_state> members;  // of the nodes that have answered
    std::vector<renewal_tally> tallies{};

    void count(std::size_t position, std::size_t node, renewal::outcome answer) {
        const auto index = indices[position];
        const auto ttl = batch.renewals()[index].ttl;
        const auto decided = tallies[position].count(members, node, answer);
        if (decided != renewal::outcome::unknown)
            batch.settle(index, decided, sent_at + ttl - drift(ttl));
    }
};

// One request to each node for all writers of the batch, and one for all readers.
asio::awaitable<void> locks::renew_at(redis::topology&, renewal_batch& batch) {
    std::list<renewal_round> rounds;
    std::vector<asio::awaitable<void>> requests;
    for (const auto mode : {lock_mode::exclusive, lock_mode::shared}) {
        auto& round = rounds.emplace_back(batch, members_.size());
        round.sent_at = round.give_up_at = now();
        for (std::size_t i = 0; i < batch.renewals().size(); ++i) {
            const auto& each = batch.renewals()[i];
            if (each.held->claim.mode != mode) continue;
            round.indices.push_back(i);
            round.locks.push_back(lock_of(*each.held));
            round.give_up_at = std::max(round.give_up_at, round.sent_at + node_timeout(each.ttl));
        }
        round.tallies.resize(round.locks.size());
        for (std::size_t i = 0; !round.locks.empty() && i < members_.size(); ++i)
            requests.push_back(renew_at_node(round, i));
    }
    co_await run_all(std::move(requests));
    for (const auto& round : rounds)
        if (std::ranges::any_of(round.tallies, &renewal_tally::has_outdated))
            members_.on_outdated();
}

asio::awaitable<void> locks::renew_at_node(renewal_round& round, std::size_t node) {
    try {
        renew_call call(set_);
        for (std::size_t i = 0; i < round.locks.size(); ++i) {
            const auto& requested = round.batch.renewals()[round.indices[i]];
            call.add(round.locks[i], requested.held->grant.token, requested.ttl);
        }
        const auto reply = co_await ask_node(members_.link_of(node), call, round.give_up_at);
        members_.set_silent(node, false);
        if (reply.type == redis::reply::kind::error) co_return;
        auto answer = call.read(reply);
        members_.on_objection(node, answer.standing);
        round.members[node] = std::move(answer.member);
        for (std::size_t i = 0; i < answer.outcomes.size(); ++i)
            round.count(i, node, answer.outcomes[i]);
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
