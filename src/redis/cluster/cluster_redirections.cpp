// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What a request does after MOVED, ASK and TRYAGAIN: the "redirection and resharding" part of the
// Redis Cluster specification.
#include "cluster_topology.hpp"

#include "../../core/util/random.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace asio = boost::asio;

namespace pawl::redis {
namespace {

// HOST:PORT in the reply of a node; without a host, it is the node's own.
struct target_address {
    std::string_view host;
    std::uint16_t port = 0;
};

target_address parse_target(std::string_view refusal) {
    const auto address = refusal.substr(std::min(refusal.rfind(' ') + 1, refusal.size()));
    const auto colon = address.rfind(':');
    target_address result;
    if (colon == std::string_view::npos) return result;
    result.host = address.substr(0, colon);
    const auto digits = address.substr(colon + 1);
    std::from_chars(digits.data(), digits.data() + digits.size(), result.port);
    return result;
}

}  // namespace

cluster_node* cluster_topology::find_node(std::string_view host,
                                          std::uint16_t port) const noexcept {
    for (const auto& [id, number] : numbers_) {
        auto& node = *nodes_[number];
        if (node.server().port == port &&
            (node.server().host == host || node.server().tls_name == host))
            return &node;
    }
    return nullptr;
}

bool cluster_topology::may_follow(const reply& refusal) const noexcept {
    static constexpr std::array<std::string_view, 4> codes{"MOVED ", "ASK ", "TRYAGAIN ",
                                                           "CLUSTERDOWN "};
    return refusal.type == reply::kind::error &&
           std::ranges::any_of(codes, [&](auto code) { return refusal.text.starts_with(code); });
}

asio::awaitable<void> cluster_topology::pause(unsigned attempt, time_point give_up_at) {
    core::wakeup pause_timer(*context_.time, context_.strand);
    const auto longest = std::min(settings_.bounds.shortest_pause * (1 << std::min(attempt, 8U)),
                                  settings_.bounds.longest_pause);
    co_await pause_timer.wait_until(
        std::min(give_up_at, now() + core::random_between(*context_.time, longest / 2, longest)));
}

// The node that has the slot by now knows best with which epoch. If it is not known, the node that
// named it tells its address, and it is asked when it is connected.
asio::awaitable<void> cluster_topology::follow_move(std::string_view key, link& asked,
                                                    cluster_node* target) {
    const auto slot = slot_of(key);
    const auto number = slots_.master_of(slot);
    if (number != slot_map::nobody && nodes_[number].get() == &asked) slots_.give_up(slot);
    if (target != nullptr && target->connected() && target != &asked)
        co_await query_node(*target);
    else
        co_await query_node(static_cast<cluster_node&>(asked));
}

asio::awaitable<bool> cluster_topology::follow(redirection& progress, std::string_view key,
                                               link& asked, reply& refusal, time_point give_up_at) {
    progress.asked_next = nullptr;
    if (refusal.text.starts_with("CLUSTERDOWN ")) {
        ask_again();
        co_return false;
    }
    if (++progress.attempts > settings_.bounds.max_attempts || now() >= give_up_at) {
        if (!refusal.text.starts_with("TRYAGAIN "))
            refusal.text = "TRYAGAIN the nodes of the cluster disagree about the slot";
        co_return false;
    }
    if (refusal.text.starts_with("TRYAGAIN ")) {
        co_await pause(progress.attempts - 1, give_up_at);
        co_return true;
    }
    auto [host, port] = parse_target(refusal.text);
    const auto asked_host = static_cast<cluster_node&>(asked).server().host;
    if (host.empty()) host = asked_host;
    auto* target = find_node(host, port);
    if (refusal.text.starts_with("MOVED ")) {
        co_await follow_move(key, asked, target);
        if (&link_of(key) == &asked) co_await pause(progress.attempts - 1, give_up_at);
        co_return true;
    }
    if (target == nullptr) {
        // A master that has no slot yet.
        co_await query_node(static_cast<cluster_node&>(asked));
        const auto listed = std::ranges::find_if(last_view_, [&](const listed_node& each) {
            return each.is_master && each.port == port && (each.host == host || each.name == host);
        });
        if (listed != last_view_.end() && !is_over())
            target = nodes_[find_or_add_node(*listed, asked_host)].get();
    }
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
    co_return true;
}

}  // namespace pawl::redis
