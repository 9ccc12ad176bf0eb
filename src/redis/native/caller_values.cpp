// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "caller_values.hpp"

#include "../common/acquire_attempt.hpp"
#include "../common/server_access.hpp"
#include "../transport/numbers.hpp"
#include "../transport/server_errors.hpp"
#include "calls/acquire_calls.hpp"

#include <utility>

namespace asio = boost::asio;

namespace pawl::redis::native {
namespace {

void check_not_being_undone(const undo_queues& undos, const keys& lock_keys, const claim& requested,
                            const char* advice) {
    if (undos.contains(lock_keys.lock(), requested.value))
        throw error(errc::unavailable, "An earlier acquire of '" + requested.name +
                                           "' under this value is still being undone; " + advice);
}

}  // namespace

asio::awaitable<std::optional<grant>> caller_values::acquire(const claim& requested) {
    const auto lock_keys = scripts_.scheme().keys_of(requested.name);
    check_not_being_undone(access_.undos(), lock_keys, requested, "choose another value.");
    undo_queue::undo undo;
    undo.lock = lock_keys.lock();
    undo.value = requested.value;
    undo.send = [this, name = requested.name, value = requested.value](time_point deadline) {
        return releases_.release_value(name, value, deadline);
    };
    acquire_attempt attempt(std::move(undo), requested.ttl);
    const auto deadline = access_.try_deadline();
    try {
        access_.check_room_for_undo(access_.servers().link_of(lock_keys.lock()));
        const acquire_call call{.lock_keys = lock_keys,
                                .value = requested.value,
                                .ttl_ms = milliseconds_text(requested.ttl),
                                .fenced = requested.fenced};
        // Copied before the request, since an allocation could fail, and nothing would undo the
        // grant any more.
        std::optional<grant> result(std::in_place);
        result->stored_value = requested.value;
        time_point sent_at;
        const auto compose_call = [&](const link& asked) {
            attempt.about_to_send(access_.undos().of(asked));
            sent_at = access_.now();
            return call.command(scripts_.words_at(asked));
        };
        const auto server_reply =
            co_await follow_key(access_.servers(), lock_keys.lock(), deadline, compose_call);
        if (server_reply.type == reply::kind::error) {
            if (proves_no_change(server_reply.text))
                attempt.set_state(acquire_attempt::state::settled);
            co_await scripts_.throw_if_lock_error(server_reply, lock_keys);
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

asio::awaitable<std::optional<grant>> caller_values::adopt(const claim& requested) {
    const auto lock_keys = scripts_.scheme().keys_of(requested.name);
    check_not_being_undone(access_.undos(), lock_keys, requested,
                           "the hold may end now, so acquire the lock again.");
    const auto deadline = access_.try_deadline();
    try {
        const adopt_call call{lock_keys, requested.value, milliseconds_text(requested.ttl),
                              requested.fenced};
        const auto sent_at = access_.now();
        const auto server_reply = co_await scripts_.run(lock_keys, call, deadline);
        if (server_reply.type == reply::kind::error)
            co_await scripts_.throw_if_lock_error(server_reply, lock_keys);
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

}  // namespace pawl::redis::native
