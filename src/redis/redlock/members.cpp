// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "members.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redlock {
namespace {

// Once a majority may vote, nodes that have not failed yet get this long to connect, or half of the
// time that is left for them and for what follows.
constexpr auto connection_grace = 100ms;
constexpr auto standing_interval = 1s;

// A node counts its quarantine by its own clock, and a lease that was granted before may end late
// by its node's.
duration quarantine_for(duration longest_ttl) { return longest_ttl + longest_ttl / 10 + 10ms; }

}  // namespace

members::members(const std::vector<redis::link*>& nodes, std::vector<std::string> names,
                 const set_parameters& set, duration longest_ttl, duration reply_timeout,
                 const backend_context& context, const redis::limits& bounds, background& client)
    : reply_timeout_(reply_timeout),
      client_(client),
      changed_(*context.time, context.strand),
      nodes_(nodes, std::move(names), set, *context.time),
      timing_(nodes_),
      clocks_(nodes_),
      view_(nodes_),
      diagnosis_(nodes_, notes_),
      connections_(nodes_, reply_timeout, client, changed_),
      requests_(nodes_, timing_, reply_timeout, context, client),
      genesis_(nodes_, requests_, notes_, quarantine_for(longest_ttl), context, client),
      repair_({nodes_, timing_, connections_, requests_, genesis_, notes_, changed_},
              quarantine_for(longest_ttl), bounds.pauses(), context, client),
      asked_at_(nodes_.size(), time_point::min()) {}

asio::awaitable<bool> members::wait_until_ready(time_point give_up_at,
                                                bool (set_view::*is_ready)() const,
                                                bool may_repair) {
    std::optional<time_point> complete_by;
    for (;;) {
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            connections_.connect(i);
            ask_again(i);
        }
        // What is missing cannot be told before each node has answered or failed.
        if (may_repair && connections_.is_complete() && view_.needs_repair()) repair_.start();
        if ((view_.*is_ready)()) {
            if (!complete_by)
                complete_by = nodes_.now() +
                              std::min<duration>(connection_grace, (give_up_at - nodes_.now()) / 2);
            if (nodes_.now() >= *complete_by) connections_.note_wait();
            if (!connections_.may_soon_be_complete()) co_return true;
            co_await changed_.wait_until(*complete_by);
            continue;
        }
        if (is_settled() || view_.has_server_twice() || nodes_.now() >= give_up_at) co_return false;
        co_await changed_.wait_until(give_up_at);
    }
}

asio::awaitable<std::optional<error>> members::wait_for_majority(time_point give_up_at) {
    if (!std::exchange(notes_.may_begin_set, true)) repair_.end_pause();
    const bool is_ready = co_await wait_until_ready(give_up_at, &set_view::has_voters, true);
    if (is_ready) co_return std::nullopt;
    co_return std::make_optional<error>(diagnosis_.no_majority());
}

asio::awaitable<std::optional<error>> members::wait_for_readable(time_point give_up_at) {
    const bool is_ready = co_await wait_until_ready(give_up_at, &set_view::can_be_read, false);
    if (is_ready) co_return std::nullopt;
    co_return std::make_optional<error>(diagnosis_.no_majority());
}

void members::on_connected(const redis::link& node_link) {
    const auto node = nodes_.index_of(node_link);
    if (node == nodes_.size()) return;
    nodes_.forget_standing(node);
    clocks_.forget(node);
    const auto& session = node_link.current();
    if (session.time_us > 0)
        clocks_.note_clock(node, std::chrono::microseconds(session.time_us), session.asked_at);
    timing_.on_answer(node);
    asked_at_[node] = nodes_.now();
    connections_.on_connected(node);
    if (nodes_.set().is_fenced) return client_.spawn(learn_standing(node));
    nodes_.adopt_without_membership(node);
    changed_.notify_all();
}

void members::on_disconnected(const redis::link& node_link) noexcept {
    const auto node = nodes_.index_of(node_link);
    if (node != nodes_.size()) nodes_.forget_standing(node);
}

void members::ask_again(std::size_t node) {
    const auto& asked = nodes_[node];
    if (!asked.server->connected() || nodes_.may_vote(node)) return;
    if (!nodes_.set().is_fenced) {
        // There is nothing to ask for, but the other name of its server may have been corrected.
        if (asked.is_second_name && !nodes_.node_with_same_server(node))
            nodes_.adopt_without_membership(node);
        return;
    }
    if (asked.state == standing::forgetful || nodes_.now() < asked_at_[node] + standing_interval)
        return;
    asked_at_[node] = nodes_.now();
    client_.spawn(learn_standing(node));
}

asio::awaitable<void> members::learn_standing(std::size_t node) {
    const auto connection = nodes_.link_of(node).current().connection_number;
    member_requests::reports into(nodes_.size());
    co_await requests_.ask_standing(node, into);
    // A later connection asks for itself.
    if (nodes_.link_of(node).current().connection_number == connection && into[node])
        nodes_.adopt(node, *into[node]);
    repair_.repeat_without_requests();
    changed_.notify_all();
}

asio::awaitable<void> members::learn_standings() {
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        connections_.connect(i);
    const auto give_up_at = nodes_.now() + reply_timeout_;
    while (!is_settled() && nodes_.now() < give_up_at)
        co_await changed_.wait_until(give_up_at);
}

void members::on_objection(std::size_t node, const standing_reply& refusal) {
    nodes_.note_refusal(node, refusal);
    switch (refusal.refusal) {
    case objection::none:
    case objection::quarantine: return;
    case objection::other_set:
        asked_at_[node] = time_point::min();  // which one it is
        break;
    case objection::amnesia: repair_.start(); break;
    }
    changed_.notify_all();
}

asio::awaitable<void> members::begin_set(bool forget_members) {
    co_await learn_standings();
    co_await genesis_.begin_by_operator(forget_members);
}

asio::awaitable<void> members::repair_now() {
    repair_.set_operator();
    co_await learn_standings();
    co_await repair_.repair_once();
}

}  // namespace pawl::redlock
