// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "queue_client.hpp"

#include "../transport/numbers.hpp"
#include "../transport/server_errors.hpp"
#include "calls/acquire_calls.hpp"
#include "waiting_attempt.hpp"

#include "../common/values.hpp"

#include <charconv>

namespace asio = boost::asio;

namespace pawl::redis::native {
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

asio::awaitable<std::optional<grant>> queue_client::queue_up(acquire_attempt& undo_guard,
                                                             std::shared_ptr<owner_record> record,
                                                             const claim& requested,
                                                             time_point give_up_at) {
    waiting_attempt attempt(access_, scripts_, waiters_, requested, undo_guard, std::move(record));
    const bool is_blocking = give_up_at != time_point::min();
    if (is_blocking) attempt.add_to_table();
    auto& own_waiter = attempt.own_waiter;
    const auto& own_record = *own_waiter.record;
    const auto deadline = access_.reply_deadline(is_blocking, give_up_at);
    const bool is_plain = requested.mode == lock_mode::exclusive && !requested.fair;
    std::string value;
    acquire_call call{.lock_keys = own_record.lock_keys,
                      .value = {},
                      .ttl_ms = milliseconds_text(requested.ttl),
                      .fenced = requested.fenced,
                      .waiter = is_blocking ? own_record.member() : std::string_view(),
                      .value_prefix = own_record.value_prefix(),
                      .claim_window_ms = milliseconds_text(own_waiter.claim_window),
                      .place_ms = std::to_string(access_.bounds().waiter_place_ms)};
    const acquire_any_mode_call any_mode_call{
        .acquire = call, .mode = own_waiter.mode_code, .total_permits = own_waiter.total_permits};
    const auto compose_call = [&](const link& asked) {
        access_.check_room_for_undo(asked);
        undo_guard.about_to_send(access_.undos().of(asked));
        // From now on the attempt has an undo, also for a hold that a release in this process gives
        // it.
        own_waiter.can_be_successor = is_plain;
        value = make_value(own_record.value_prefix(), scripts_.wall_ms());
        call.value = value;
        own_waiter.sent_at = access_.now();
        const auto& words = scripts_.words_at(asked);
        return is_plain ? call.command(words) : any_mode_call.command(words);
    };
    const auto server_reply =
        co_await follow_key(access_.servers(), own_record.lock_keys.lock(), deadline, compose_call);
    scripts_.note_round_trip(access_.now() - own_waiter.sent_at);
    if (server_reply.type == reply::kind::error) {
        // A release in this process may have handed the lock to this waiter meanwhile.
        if (proves_no_change(server_reply.text) && !own_waiter.received_grant)
            undo_guard.set_state(acquire_attempt::state::settled);
        co_await scripts_.throw_if_lock_error(server_reply, own_record.lock_keys);
    }
    const auto outcome = is_plain ? call.read(server_reply) : any_mode_call.read(server_reply);
    undo_guard.set_state(outcome.queued ? acquire_attempt::state::queued
                                        : acquire_attempt::state::settled);
    if (outcome.refusal) throw_permits_error(*outcome.refusal, outcome.total_permits, requested);
    if (is_plain) expects_to_wait_ = !outcome.granted;
    if (outcome.granted)
        co_return make_grant(requested, outcome, std::move(value), own_waiter.sent_at);
    if (!outcome.queued) co_return std::nullopt;
    co_return co_await attempt.wait(requested, *outcome.queued, give_up_at);
}

void queue_client::on_message(std::string_view payload) {
    const auto verb = consume_word(payload);
    const auto owner = consume_word(payload);
    if (verb == "lost") {
        // The waiter may not have run yet since its grant. It then drops the grant, and waits on.
        auto* recipient = waiters_.find_by_owner(owner);
        if (recipient == nullptr || !recipient->received_grant)
            return access_.context().listener->on_loss(owner, loss_reason::forced);
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
        recipient->received_grant =
            pushed_grant(*recipient, token, server_ms, window, access_.now());
        recipient->granted_server_ms = server_ms;
        recipient->wakeup.notify();
    } else if (verb == "look") {
        if (auto* recipient = waiters_.find_by_owner(owner)) recipient->notify_change();
    }
}

void queue_client::on_connected(const link& connected_link) {
    waiters_.notify_if([&](const keys& lock_keys) {
        return &access_.servers().link_of(lock_keys.lock()) == &connected_link;
    });
}

}  // namespace pawl::redis::native
