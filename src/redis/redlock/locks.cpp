// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "locks.hpp"

#include "independent_servers.hpp"
#include "redlock_options.hpp"

#include "../common/values.hpp"

#include "../../core/util/random.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redlock {
namespace {

set_parameters parameters_of(const options& node_options, const redis::key_scheme& scheme) {
    const auto& first = node_options.nodes.front();
    auto layout = node_layout::fenced;
    if (!node_options.fenced)
        layout = first.layout == redis::key_layout::redisson ? node_layout::redisson
                                                             : node_layout::plain;
    return {.layout = layout,
            .member_key = first.name_space + ":redlock",
            .quarantine_key = first.name_space + ":redlock:q",
            .set = set_digest(node_options),
            .nodes = describe(node_options),
            // A renewal keeps the counter of its hold, and comes at least every ttl.
            .keep_ms = redis::milliseconds_text(
                std::max<duration>(first.token_retention, 2 * node_options.ttl_max)),
            .channel_prefix = scheme.channel_prefix()};
}

// In Redisson's layout the keys are the plain names, unless there is a template.
redis::key_scheme scheme_of(const redis::options& node) {
    const bool has_plain_names = node.layout == redis::key_layout::redisson && node.key.empty();
    return {node.name_space, has_plain_names ? "{name}" : node.key, node.database};
}

}  // namespace

std::unique_ptr<backend> make_backend(const options& node_options, const backend_context& context,
                                      const std::vector<redis::topology_factory>& nodes,
                                      const redis::limits& bounds) {
    return std::make_unique<locks>(node_options, context, nodes, bounds);
}

locks::locks(const options& node_options, backend_context context,
             const std::vector<redis::topology_factory>& nodes, const redis::limits& bounds)
    : locks(node_options, context, nodes, bounds, core::random_hex(*context.time, 8)) {}

locks::locks(const options& node_options, backend_context context,
             const std::vector<redis::topology_factory>& nodes, const redis::limits& bounds,
             std::string client)
    : lock_base(node_options.nodes.front(), std::move(context), independent_servers_factory(nodes),
                scheme_of(node_options.nodes.front()).channel_prefix() + client, bounds),
      redlock_options_(node_options),
      scheme_(scheme_of(node_options.nodes.front())),
      redisson_names_(node_options.nodes.front().key),
      client_(std::move(client)),
      prefix_without_owner_(redis::make_value_prefix("", client_, context_.process)),
      set_(parameters_of(node_options, scheme_)),
      members_({servers_->links().begin(), servers_->links().end()}, node_names(node_options), set_,
               node_options.ttl_max, options_.reply_timeout, context_, bounds_, *this),
      requests_in_flight_(members_.size()),
      unanswered_renewals_(members_.size()),
      request_ended_(*context_.time, context_.strand) {
    request_ended_.prepare();
}

pawl::capabilities locks::capabilities() const noexcept {
    pawl::capabilities result;
    result.loss_is_pushed = true;
    result.hands_over = result.modes_share_queue = false;
    result.order = fairness::none;
    result.acquire_batch = true;
    if (redlock_options_.fenced) {
        result.most_ttl = redlock_options_.ttl_max;
        result.shared = result.downgrades = true;
    } else {
        result.fencing = result.tokens_survive_data_loss = false;
    }
    return result;
}

std::string locks::capability_hint(lock_mode mode, bool fair) const {
    if (fair) return "use a service with one server, or a cluster, for a fair order";
    if (mode == lock_mode::permits)
        return "N servers cannot agree on a count of permits without a log; use a service with one "
               "server, or a cluster";
    return "classic Redlock has no readers; remove the option fenced=no, or use a service with one "
           "server, or a cluster";
}

std::string locks::unreachable_reason(std::string_view) const {
    std::size_t connected = 0;
    for (std::size_t i = 0; i < members_.size(); ++i)
        if (members_.link_of(i).connected()) ++connected;
    return connected >= members_.majority() ? std::string() : members_.objections();
}

bool locks::is_idle() {
    for (std::size_t i = 0; i < members_.size(); ++i) {
        const auto& server_link = members_.link_of(i);
        if (!server_link.connected() || members_.is_silent(i)) continue;
        if (requests_in_flight_[i] > 0 || !undos_.of(server_link).empty()) return false;
    }
    return true;
}

// While a majority answers, the rest of a hold at the other nodes keeps nobody from the lock, and
// ends with its lease.
asio::awaitable<void> locks::close(time_point give_up_at) {
    members_.stop();
    const auto look_again = std::chrono::milliseconds(5);  // an undo or a repair may have ended
    // Programs that make one try would otherwise form no set of far nodes, and let no node join.
    while (members_.repairs_soon() && now() < give_up_at)
        co_await request_ended_.wait_until(std::min(give_up_at, now() + look_again));
    undos_.begin_shutdown();  // otherwise they would be repeated until their leases end
    while (members_.has_answering_majority() && !is_idle() && now() < give_up_at)
        co_await request_ended_.wait_until(std::min(give_up_at, now() + look_again));
    if (members_.has_answering_majority()) give_up_at = std::min(give_up_at, now());
    co_await lock_base::close(give_up_at);
}

// Nodes that are known to be far away get more time, if the rest of the lease is worth it. An
// acquire may need two round trips.
duration locks::node_timeout(duration ttl) const {
    const auto longest = std::min<duration>(options_.reply_timeout, 1s);
    const auto usual = std::clamp<duration>(ttl / 10, std::min<duration>(50ms, longest), longest);
    const auto measured = 3 * members_.round_trip_of_majority();
    return std::max(usual, std::min({measured, ttl / 2, options_.reply_timeout}));
}

requested_lock locks::make_lock(const claim& wanted, std::string_view owner) const {
    const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(
        time().wall_clock().time_since_epoch());
    return lock_with(wanted.name,
                     redis::make_value(std::string(owner) + prefix_without_owner_, since.count()),
                     wanted.mode);
}

requested_lock locks::lock_of(const hold& held) const {
    return lock_with(held.claim.name, held.grant.stored_value, held.claim.mode);
}

requested_lock locks::lock_with(std::string_view name, std::string value, lock_mode mode) const {
    requested_lock result{.name = std::string(name),
                          .keys = scheme_.keys_of(name),
                          .value = std::move(value),
                          .mode = mode};
    if (set_.layout == node_layout::redisson)
        result.channel = redisson_names_.names_of(name).channel;
    return result;
}

void locks::spawn(asio::awaitable<void> operation) {
    asio::co_spawn(context_.strand, run_spawned(std::move(operation)), asio::detached);
}

asio::awaitable<void> locks::run_spawned(asio::awaitable<void> operation) {
    const operation_guard guard(lifecycle_);
    co_await std::move(operation);
}

asio::awaitable<bool> locks::pause_until(time_point when) {
    interruptible_pause pause(lifecycle_);
    const bool is_open = co_await pause.wait_until(when);
    co_return is_open;
}

void locks::on_connected(const redis::link& connected_link) {
    members_.on_connected(connected_link);
    report_if_other_server(connected_link);
    undos_.of(connected_link).retry_now();
    // Messages that were published while there was no connection are lost.
    for (const auto& [name, each] : waiters_)
        each->woken.notify();
}

}  // namespace pawl::redlock
