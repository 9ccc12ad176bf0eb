// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Carries out what `redirections` decides about a refused request: asks the nodes, waits for their
// connections, and pauses.
#include "cluster_topology.hpp"

#include "../../core/util/random.hpp"

#include <algorithm>

namespace asio = boost::asio;

namespace pawl::redis {

asio::awaitable<void> cluster_topology::pause(unsigned attempt, time_point give_up_at) {
    core::wakeup pause_timer(*context_.time, context_.strand);
    const auto longest = redirections_.longest_pause(attempt);
    co_await pause_timer.wait_until(
        std::min(give_up_at, now() + core::random_between(*context_.time, longest / 2, longest)));
}

// The node that has the slot by now knows best with which epoch. If it is not known, the node that
// named it tells its address, and it is asked when it is connected.
asio::awaitable<void> cluster_topology::follow_move(std::string_view key, link& asked,
                                                    cluster_node* target) {
    const auto slot = slot_of(key);
    const auto number = view_.master_of(slot);
    if (number != slot_map::nobody && &nodes_.at(number) == &asked) view_.give_up(slot);
    if (target != nullptr && target->connected() && target != &asked)
        co_await query_node(*target);
    else
        co_await query_node(static_cast<cluster_node&>(asked));
}

asio::awaitable<void> cluster_topology::follow_ask(redirection& progress, link& asked,
                                                   cluster_node* target, time_point give_up_at) {
    const auto until = std::min(give_up_at, now() + settings_.connect_timeout);
    while (target != nullptr && !target->connected() && now() < until && !is_over()) {
        on_missing_connection(*target);
        if (target->connection() && target->connection()->connected()) on_connection(*target);
        co_await wait_for_change(until);
    }
    if (target != nullptr && target->connected()) {
        // If the request arrives when the target has the slot, its token must be above those of
        // the source's lost masters; the target may have no counter.
        target->raise_epoch(static_cast<cluster_node&>(asked).epoch());
        progress.asked_next = target;
        ++asked_elsewhere_;
    } else {
        co_await pause(progress.attempts - 1, give_up_at);
    }
}

asio::awaitable<bool> cluster_topology::follow(redirection& progress, std::string_view key,
                                               link& asked, reply& refusal, time_point give_up_at) {
    progress.asked_next = nullptr;
    const auto step = redirections_.next_step(progress, refusal, now() >= give_up_at);
    if (step == redirections::step::fail_and_look) ask_again();
    if (step == redirections::step::fail_and_look || step == redirections::step::fail)
        co_return false;
    if (step == redirections::step::pause) {
        co_await pause(progress.attempts - 1, give_up_at);
        co_return true;
    }
    auto [host, port] = redirections::parse_target(refusal.text);
    const auto asked_host = static_cast<cluster_node&>(asked).server().host;
    if (host.empty()) host = asked_host;
    auto* target = nodes_.find(host, port);
    if (step == redirections::step::follow_move) {
        co_await follow_move(key, asked, target);
        if (&link_of(key) == &asked) co_await pause(progress.attempts - 1, give_up_at);
        co_return true;
    }
    if (target == nullptr) {
        // A master that has no slot yet.
        co_await query_node(static_cast<cluster_node&>(asked));
        const auto* listed = view_.find_master(host, port);
        if (listed != nullptr && !is_over())
            target = &nodes_.at(find_or_add_node(*listed, asked_host));
    }
    co_await follow_ask(progress, asked, target, give_up_at);
    co_return true;
}

}  // namespace pawl::redis
