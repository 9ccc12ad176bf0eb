// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "locks.hpp"

#include "../common/values.hpp"
#include "../topology/channel_tag.hpp"
#include "../topology/epoch.hpp"
#include "../transport/options.hpp"
#include "redis_scripts.hpp"

#include "../../core/util/clock_token.hpp"
#include "../../core/util/random.hpp"

#include <array>
#include <charconv>

namespace pawl::redis {
namespace {

std::string_view consume_word(std::string_view& text) {
    const auto end = std::min(text.find(' '), text.size());
    const auto word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return word;
}

// The claim window in the message of a grant to one of very many waiters. Without it the window is
// the waiter's own.
duration granted_window(std::string_view text, duration own_window) {
    std::int64_t ms = 0;
    (void)std::from_chars(text.data(), text.data() + text.size(), ms);
    const auto window = milliseconds_of(ms);
    const bool is_possible = window > own_window && window <= longest_window(own_window);
    return is_possible ? window : own_window;
}

}  // namespace

std::unique_ptr<backend> make_backend(const options& server_options, const backend_context& context,
                                      const topology_factory& connect, const limits& bounds) {
    return std::make_unique<locks>(server_options, context, connect, bounds);
}

locks::locks(const options& server_options, backend_context context,
             const topology_factory& connect, const limits& bounds)
    : locks(server_options, context, connect, bounds, core::random_hex(*context.time, 8)) {}

locks::locks(const options& server_options, backend_context context,
             const topology_factory& connect, const limits& bounds, std::string client)
    : lock_base(server_options, std::move(context), connect,
                key_scheme(server_options.name_space, server_options.key, server_options.database)
                        .channel_prefix() +
                    client,
                bounds),
      scheme_(server_options.name_space, server_options.key, server_options.database),
      client_(std::move(client)),
      channel_(scheme_.channel_prefix() + client_),
      prefix_without_owner_(make_value_prefix("", client_, context_.process)),
      latches_(options_, context_, scheme_, *servers_, bounds_),
      recent_releases_(bounds_) {}

std::int64_t locks::wall_ms() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               time().wall_clock().time_since_epoch())
        .count();
}

// The same arithmetic as in _token.lua, with the server's clock at the time of the handshake.
short_text locks::token_floor(const session& server_session) const {
    const std::chrono::microseconds since_1970(server_session.time_us);
    const auto& replication = server_session.replication;
    short_text floor;
    floor += epoch_base(server_session.epoch) +
             core::clock_token(std::chrono::system_clock::time_point(since_1970));
    floor += " ";
    floor += std::chrono::ceil<std::chrono::milliseconds>(options_.token_retention).count();
    if (!replication.empty()) {
        floor += " ";
        floor += replication;
    }
    return floor;
}

// Once for each request, so it asks for the session once.
server_words locks::words_of_server::operator()(const link& server_link) const {
    const auto& session = server_link.current();
    auto& texts = parent.session_texts_[&server_link];
    const std::chrono::microseconds since_1970(session.time_us);
    if (texts.since_1970 != since_1970 || texts.epoch != session.epoch ||
        texts.replication != session.replication) {
        texts.floor = parent.token_floor(session);
        texts.since_1970 = since_1970;
        texts.epoch = session.epoch;
        texts.replication = session.replication;
    }
    std::string_view channel_prefix = parent.scheme_.channel_prefix();
    if (!session.channel_tag.empty()) {
        if (texts.channel_prefix.empty())
            texts.channel_prefix = tagged_prefix(channel_prefix, session.channel_tag);
        channel_prefix = texts.channel_prefix;
    }
    // In a cluster the floor has the replication id, which serves for both.
    const auto run = session.replication.empty() ? std::string_view(session.run_id).substr(0, 16)
                                                 : std::string_view();
    return {session.publish_command(), session.count_command(), channel_prefix, texts.floor,
            short_text(run)};
}

void locks::on_message(std::string_view channel, std::string_view payload) {
    if (channel != channel_) return latches_.on_message(channel, payload);
    const auto verb = consume_word(payload);
    const auto owner = consume_word(payload);
    if (verb == "lost") {
        // The waiter may not have run yet since its grant. It then drops the grant, and waits on.
        auto* recipient = waiters_.find_by_owner(owner);
        if (recipient == nullptr || !recipient->received_grant)
            return context_.listener->on_loss(owner, loss_reason::forced);
        recipient->received_grant.reset();
        recipient->granted_server_ms = -1;
        recipient->notify_change();
    } else if (verb == "grant") {
        // A waiter that has left needs no grant: its undo passes the lock on.
        auto* recipient = waiters_.find_by_owner(owner);
        if (recipient == nullptr || recipient->received_grant) return;
        const auto token = consume_word(payload);
        const auto time_text = consume_word(payload);
        std::int64_t server_ms = 0;
        const auto parsed =
            std::from_chars(time_text.data(), time_text.data() + time_text.size(), server_ms);
        if (parsed.ec != std::errc{} || server_ms < 0) return;
        const auto window = granted_window(payload, recipient->claim_window);
        recipient->received_grant = pushed_grant(*recipient, token, server_ms, window, now());
        recipient->granted_server_ms = server_ms;
        recipient->wakeup.notify();
    } else if (verb == "look") {
        if (auto* recipient = waiters_.find_by_owner(owner)) recipient->notify_change();
    }
}

void locks::on_invalidate(std::string_view key) { waiters_.notify_key(key); }

// Messages that are published while there is no connection are lost. So every waiter refreshes,
// which also restores its place in the queue.
void locks::on_connected(const link& connected_link) {
    if (watch_.report_if_other_server(connected_link)) repeat_recent_releases(connected_link);
    undos_.of(connected_link).retry_now();
    waiters_.notify_if(
        [&](const keys& lock_keys) { return &link_of(lock_keys) == &connected_link; });
    latches_.on_connected(connected_link);
}

std::string locks::unreachable_reason(std::string_view name) const {
    return link_of(scheme_.keys_of(name)).connection_failure();
}

pawl::capabilities locks::capabilities() const noexcept {
    pawl::capabilities result;
    result.loss_is_pushed = true;
    result.shared = result.permits = result.strictly_fair = result.downgrades = true;
    result.caller_values = true;
    // In a cluster, only a key template can put several names into one slot.
    result.acquire_batch = !servers_->has_slots() || scheme_.is_shared_with_others();
    result.replica_durability = result.disk_durability = true;
    result.latches = result.barriers = true;
    return result;
}

}  // namespace pawl::redis
