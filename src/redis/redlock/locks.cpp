// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "locks.hpp"

#include "independent_servers.hpp"
#include "redlock_options.hpp"

#include "../common/values.hpp"
#include "../common/waits.hpp"

#include "../../core/util/random.hpp"
#include "../transport/numbers.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redlock {
namespace {

set_parameters parameters_of(const options& node_options, const redis::key_scheme& scheme) {
    return {.is_fenced = node_options.fenced,
            .member_key = node_options.name_space + ":redlock",
            .quarantine_key = node_options.name_space + ":redlock:q",
            .set = set_digest(node_options),
            .nodes = describe(node_options),
            // A renewal keeps the counter of its hold, and comes at least every ttl.
            .keep_ms = redis::milliseconds_text(
                std::max<duration>(node_options.token_retention, 2 * node_options.ttl_max)),
            .channel_prefix = scheme.channel_prefix()};
}

std::unique_ptr<const node_layout> layout_of(const options& node_options,
                                             const set_parameters& set) {
    if (node_options.fenced) return make_fenced_layout(set);
    return node_options.layout == redis::key_layout::redisson
               ? make_redisson_layout(set, node_options.key)
               : make_plain_layout(set);
}

// In Redisson's layout the keys are the plain names, unless there is a template.
redis::key_scheme scheme_of(const options& settings) {
    const bool has_plain_names =
        settings.layout == redis::key_layout::redisson && settings.key.empty();
    return {settings.name_space, has_plain_names ? "{name}" : settings.key, settings.database};
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
             const std::string& client)
    : options_(node_options),
      context_(std::move(context)),
      bounds_(bounds),
      scheme_(scheme_of(node_options)),
      set_(parameters_of(node_options, scheme_)),
      servers_(independent_servers_factory(nodes)(*this, scheme_.channel_prefix() + client)),
      tasks_(context_),
      watch_(context_),
      members_({servers_->links().begin(), servers_->links().end()}, node_names(node_options), set_,
               node_options.ttl_max, node_options.reply_timeout, context_, bounds_, *this),
      nodes_(members_.nodes()),
      client_(members_, layout_of(node_options, set_), servers_, context_, bounds_,
              node_options.reply_timeout, *this),
      lock_factory_(scheme_, *client_.layout,
                    redis::make_value_prefix("", client, context_.process), time()),
      releases_(client_, lock_factory_),
      renewals_(client_, lock_factory_),
      line_(client_, lock_factory_, client),
      attempts_(client_, releases_, client),
      inspection_(client_, scheme_),
      listing_(client_, scheme_, inspection_, independent_servers_factory(nodes), bounds_),
      forced_releases_(client_, lock_factory_, inspection_, attempts_, owners_) {}

spi::capabilities locks::capabilities() const noexcept {
    spi::capabilities result;
    result.loss_is_pushed = true;
    result.hands_over = result.modes_share_queue = false;
    result.order = fairness::none;
    result.acquire_batch = true;
    if (options_.fenced) {
        result.most_ttl = options_.ttl_max;
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
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (nodes_.link_of(i).connected()) ++connected;
    return connected >= nodes_.majority() ? std::string() : members_.diagnosis().objections();
}

// While a majority answers, the rest of a hold at the other nodes keeps nobody from the lock, and
// ends with its lease.
asio::awaitable<void> locks::close(time_point give_up_at) {
    members_.repair().stop();
    const auto look_again = std::chrono::milliseconds(5);  // an undo or a repair may have ended
    // Programs that make one try would otherwise form no set of far nodes, and let no node join.
    while (members_.repair().ends_soon() && now() < give_up_at)
        co_await client_.request_ended.wait_until(std::min(give_up_at, now() + look_again));
    client_.undos.begin_shutdown();  // otherwise they would be repeated until their leases end
    while (members_.timing().has_answering_majority() && !client_.is_idle() && now() < give_up_at)
        co_await client_.request_ended.wait_until(std::min(give_up_at, now() + look_again));
    if (members_.timing().has_answering_majority()) give_up_at = std::min(give_up_at, now());
    client_.undos.begin_shutdown();  // repeats what is left of them once more
    co_await tasks_.wait_until_idle(client_.undos, give_up_at);
    tasks_.end_pauses();
    client_.undos.stop();
    co_await servers_->close(give_up_at);
    co_await listing_.close(give_up_at);
    // On closed links every operation ends soon.
    co_await tasks_.wait_until_idle(client_.undos, time_point::max());
}

asio::awaitable<release_result> locks::release(const hold& held) {
    const core::in_flight::guard operation(tasks_.operations());
    renewals_.end_renewals_of(held);
    owners_.forget(held.claim.owner);
    const auto give_up_at = redis::release_deadline(held, now(), client_.reply_timeout);
    const auto result = co_await releases_.release(held, give_up_at);
    co_return result;
}

void locks::spawn(asio::awaitable<void> operation) {
    asio::co_spawn(context_.strand, run_spawned(std::move(operation)), asio::detached);
}

asio::awaitable<void> locks::run_spawned(asio::awaitable<void> operation) {
    const core::in_flight::guard guard(tasks_.operations());
    co_await std::move(operation);
}

asio::awaitable<bool> locks::pause_until(time_point when) {
    redis::client_tasks::interruptible_pause pause(tasks_);
    const bool is_open = co_await pause.wait_until(when);
    co_return is_open;
}

void locks::on_connected(const redis::link& connected_link) {
    members_.on_connected(connected_link);
    watch_.report_if_other_server(connected_link);
    client_.undos.of(connected_link).retry_now();
    // Messages that were published while there was no connection are lost.
    line_.wake_all();
}

// "wake NAME", or "lost OWNER RUN" after a forced release.
void locks::on_message(std::string_view, std::string_view payload) {
    constexpr std::string_view lost = "lost ";
    if (payload.starts_with(lost)) {
        const auto words = payload.substr(lost.size());
        const auto end = std::min(words.find(' '), words.size());
        return forced_releases_.on_message(words.substr(0, end),
                                           words.substr(std::min(end + 1, words.size())));
    }
    constexpr std::string_view wake = "wake ";
    if (!payload.starts_with(wake)) return;
    line_.wake(payload.substr(wake.size()));
}

}  // namespace pawl::redlock
