// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "forced_releases.hpp"

#include "node_failures.hpp"
#include "node_request.hpp"

#include "../transport/server_errors.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace asio = boost::asio;

namespace pawl::redlock {

// The nodes' answers to one half of a forced release.
struct forced_releases::round {
    node_failures failures;
    std::size_t took_part = 0;  // nodes
    std::int64_t highest = 0;   // of their counters
    bool is_held = false;       // at one of them
};

// First a majority says how far its counters are; then a majority raises them above all of these,
// and gives the lock up. So no earlier hold can be renewed, and a later one keeps its keys:
// models/redlock/force.pml. That includes a hold that no node has at the moment: its next renewal
// would restore it.
// With an expected token, a majority raises its counters to the next number only: this ends the
// hold with that token and earlier ones, and a later hold keeps its keys.
asio::awaitable<bool> forced_releases::release(std::string_view name, fencing_token expected) {
    co_await inspection_.require_majority();
    const auto lock = locks_.lock_with(name, {});
    if (expected) {
        const auto is_present = co_await inspection_.has_holder(name, expected);
        if (!is_present) co_return false;
        co_await raise_counters(lock, static_cast<std::int64_t>(expected.value()) + 1);
        const auto is_still_held = co_await inspection_.has_holder(name, expected);
        co_return !is_still_held;
    }
    round current{.failures = node_failures(nodes_.size())};
    std::vector<asio::awaitable<void>> requests;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        requests.push_back(read_counter_at(lock.keys, i, current));
    co_await client_.tasks.join(std::move(requests));
    require_part_of_majority(current, name);
    // Without fencing, no renewal restores anything.
    if (!client_.set.is_fenced && !current.is_held) co_return false;
    co_await raise_counters(lock, current.highest + 1);
    co_return current.is_held;
}

asio::awaitable<void> forced_releases::read_counter_at(const redis::keys& lock_keys,
                                                       std::size_t node, round& current) {
    try {
        const counter_call call{*client_.layout, lock_keys};
        const auto reply = co_await ask_node(nodes_.link_of(node), call, client_.reply_deadline());
        redis::throw_if_error(reply, nodes_.name_of(node));
        const auto answer = call.read(reply);
        const bool takes_part = add_to_round(node, answer.standing, current);
        if (!takes_part) co_return;
        current.highest = std::max(current.highest, answer.counter);
        current.is_held = current.is_held || answer.is_held;
    } catch (const error& e) {
        current.failures.add(node, e);
    }
}

bool forced_releases::add_to_round(std::size_t node, const standing_reply& answer, round& current) {
    client_.membership.on_objection(node, answer);
    if (answer.refusal == objection::none) {
        ++current.took_part;
        return true;
    }
    current.failures.add(node, error(client_.membership.diagnosis().reason_of(node),
                                     client_.membership.diagnosis().objection_of(node)));
    return false;
}

void forced_releases::require_part_of_majority(const round& current, std::string_view name) const {
    if (current.took_part >= nodes_.majority()) return;
    throw error(current.failures.lasting_reason().value_or(errc::no_quorum),
                "The lock '" + std::string(name) +
                    "' may still be held; fewer than a majority of the nodes took part in the "
                    "release: " +
                    current.failures.text(nodes_.names()) + ".");
}

// The second half of a forced release. Throws unless a majority has taken part.
asio::awaitable<void> forced_releases::raise_counters(const requested_lock& lock,
                                                      std::int64_t limit) {
    round current{.failures = node_failures(nodes_.size())};
    std::vector<asio::awaitable<void>> requests;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        requests.push_back(raise_counter_at(lock, limit, i, current));
    co_await client_.tasks.join(std::move(requests));
    require_part_of_majority(current, lock.name);
}

asio::awaitable<void> forced_releases::raise_counter_at(const requested_lock& lock,
                                                        std::int64_t limit, std::size_t node,
                                                        round& current) {
    try {
        const barrier_call call{*client_.layout, lock, std::to_string(limit)};
        const auto reply = co_await ask_node(nodes_.link_of(node), call, client_.reply_deadline());
        redis::throw_if_error(reply, nodes_.name_of(node));
        static_cast<void>(add_to_round(node, call.read(reply), current));
    } catch (const error& e) {
        current.failures.add(node, e);
    }
}

// A single node cannot end a hold, so the client waits for the messages of a majority. If some are
// lost, the next renewal finds the loss.
void forced_releases::on_message(std::string_view owner, std::string_view run) {
    if (owner.empty()) return;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (run_of(nodes_.link_of(i).current()) != run) continue;
        if (messages_.size() >= max_owners) messages_.clear();
        auto& nodes = messages_[std::string(owner)];
        nodes.insert(i);
        const auto count = nodes.size();
        if (count == nodes_.size()) messages_.erase(std::string(owner));
        if (count != nodes_.majority()) return;
        // The grant may still be on its way to the caller.
        attempts_.abandon(owner);
        client_.context.listener->on_loss(owners_.claimed_as(owner), loss_reason::forced);
        return;
    }
}

}  // namespace pawl::redlock
