// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Holds with a value of the caller's own, as other libraries use them.
#include "locks.hpp"

#include "../common/acquire_attempt.hpp"
#include "../common/lock_errors.hpp"
#include "../transport/server_errors.hpp"
#include "calls/acquire_calls.hpp"

#include <utility>

namespace asio = boost::asio;

namespace pawl::redis {
namespace {

void check_not_being_undone(const undo_queues& undos, const keys& lock_keys, const claim& requested,
                            const char* advice) {
    if (undos.contains(lock_keys.lock(), requested.value))
        throw error(errc::unavailable, "An earlier acquire of '" + requested.name +
                                           "' under this value is still being undone; " + advice);
}

}  // namespace

asio::awaitable<std::optional<grant>> locks::acquire_caller_value(const claim& requested) {
    const auto lock_keys = scheme_.keys_of(requested.name);
    check_not_being_undone(undos_, lock_keys, requested, "choose another value.");
    undo_queue::undo undo;
    undo.lock = lock_keys.lock();
    undo.value = requested.value;
    undo.send = [this, name = requested.name, value = requested.value](time_point deadline) {
        return send_undo(name, value, deadline);
    };
    acquire_attempt attempt(std::move(undo), requested.ttl);
    const auto deadline = try_deadline();
    try {
        auto* server_link = &link_of(lock_keys);
        check_room_for_undo(*server_link);
        if (!server_link->connected())
            server_link = co_await connected_link_of(lock_keys.lock(), deadline);
        const acquire_call call{.lock_keys = lock_keys,
                                .value = requested.value,
                                .ttl_ms = milliseconds_text(requested.ttl),
                                .fenced = requested.fenced};
        // Copied before the request, since an allocation could fail, and nothing would undo the
        // grant any more.
        std::optional<grant> result(std::in_place);
        result->stored_value = requested.value;
        attempt.about_to_send(undos_.of(*server_link));
        const auto sent_at = now();
        const auto server_reply = co_await run(lock_keys, call, deadline);
        if (server_reply.type == reply::kind::error) {
            if (proves_no_change(server_reply.text))
                attempt.set_state(acquire_attempt::state::settled);
            co_await throw_if_lock_error(server_reply, lock_keys);
        }
        const auto outcome = call.read(server_reply);
        attempt.set_state(acquire_attempt::state::settled);
        if (!outcome.granted) co_return std::nullopt;
        result->deadline = sent_at + requested.ttl - drift(requested.ttl);
        result->token = outcome.token;
        co_return result;
    } catch (const connection_lost& e) {
        throw lock_unreachable(requested.name, e.what());
    }
}

asio::awaitable<std::optional<grant>> locks::adopt(const claim& requested) {
    const auto lock_keys = scheme_.keys_of(requested.name);
    check_not_being_undone(undos_, lock_keys, requested,
                           "the hold may end now, so acquire the lock again.");
    const auto deadline = try_deadline();
    try {
        const adopt_call call{lock_keys, requested.value, milliseconds_text(requested.ttl),
                              requested.fenced};
        const auto sent_at = now();
        const auto server_reply = co_await run(lock_keys, call, deadline);
        if (server_reply.type == reply::kind::error)
            co_await throw_if_lock_error(server_reply, lock_keys);
        const auto token = call.read(server_reply);
        if (!token) co_return std::nullopt;
        grant result{.deadline = sent_at + requested.ttl - drift(requested.ttl),
                     .token = *token,
                     .stored_value = requested.value};
        co_return result;
    } catch (const connection_lost& e) {
        throw lock_unreachable(requested.name, e.what());
    }
}

asio::awaitable<reply> locks::send_undo(const std::string& name, const std::string& value,
                                        time_point give_up_at) {
    const auto lock_keys = scheme_.keys_of(name);
    const local_successor no_successor;
    auto sent = co_await send_release(lock_keys, value, no_successor, false, give_up_at);
    co_return std::move(sent.server_reply);
}

}  // namespace pawl::redis
