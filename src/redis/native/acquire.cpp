// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "locks.hpp"

#include "../common/server_access.hpp"
#include "../common/values.hpp"
#include "../transport/server_errors.hpp"
#include "calls/acquire_calls.hpp"

#include <algorithm>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis::native {

// A plain exclusive claim may take a free lock although others wait. The usual first request asks
// for no place in the queue, so it is shorter. Not a coroutine of its own, which would cost an
// allocation.
asio::awaitable<std::optional<grant>> locks::acquire(const claim& requested,
                                                     time_point give_up_at) {
    if (!requested.value.empty()) return caller_values_.acquire(requested);
    const bool is_blocking = give_up_at > now();
    const auto wait_until = is_blocking ? give_up_at : time_point::min();
    const bool is_plain = requested.mode == lock_mode::exclusive && !requested.fair;
    const bool asks_for_place =
        !is_plain || requested.was_taken || (is_blocking && queue_.expects_to_wait());
    if (asks_for_place) return take_place(requested, wait_until);
    return take_free_lock(requested, wait_until);
}

asio::awaitable<std::optional<grant>> locks::take_place(const claim& requested,
                                                        time_point give_up_at) {
    auto attempt = records_.prepare_attempt(requested.name, requested.owner);
    const auto& record = attempt.record;
    acquire_attempt undo_guard(std::move(attempt.undo), requested.ttl);
    std::optional<grant> result;
    try {
        result = co_await queue_.queue_up(undo_guard, record, requested, give_up_at);
    } catch (const connection_lost& e) {
        throw lock_unreachable(requested.name, e.what());
    }
    if (result) records_.keep_memory({record, undo_guard.take_unused_undo()});
    // Even if this request found the lock free: with holds that are shorter than a round trip, this
    // client's next acquire will find it taken again.
    if (requested.was_taken) queue_.set_expects_to_wait(true);
    co_return result;
}

asio::awaitable<std::optional<grant>> locks::take_free_lock(const claim& requested,
                                                            time_point give_up_at) {
    auto attempt = records_.prepare_attempt(requested.name, requested.owner);
    const auto& record = attempt.record;
    const auto& lock_keys = record->lock_keys;
    acquire_attempt undo_guard(std::move(attempt.undo), requested.ttl);
    // Not a comparison with the present: a wait that has begun may be over.
    const bool is_blocking = give_up_at != time_point::min();
    const auto deadline = reply_deadline(is_blocking, give_up_at);
    std::string value;
    acquire_call call{.lock_keys = lock_keys,
                      .value = {},
                      .ttl_ms = milliseconds_text(requested.ttl),
                      .fenced = requested.fenced};
    time_point sent_at;
    const auto compose_call = [&](const link& asked) {
        check_room_for_undo(asked);
        undo_guard.about_to_send(undos_.of(asked));
        value = make_value(record->value_prefix(), scripts_.wall_ms());
        call.value = value;
        sent_at = now();
        return call.command(scripts_.words_at(asked));
    };
    std::optional<grant> result;
    try {
        const auto server_reply =
            co_await follow_key(*servers_, lock_keys.lock(), deadline, compose_call);
        scripts_.note_round_trip(now() - sent_at);
        if (server_reply.type == reply::kind::error) {
            if (proves_no_change(server_reply.text))
                undo_guard.set_state(acquire_attempt::state::settled);
            co_await scripts_.throw_if_lock_error(server_reply, lock_keys);
        }
        const auto outcome = call.read(server_reply);
        undo_guard.set_state(acquire_attempt::state::settled);
        queue_.set_expects_to_wait(!outcome.granted);
        if (outcome.granted) result = make_grant(requested, outcome, std::move(value), sent_at);
    } catch (const connection_lost& e) {
        throw lock_unreachable(requested.name, e.what());
    }
    if (result) records_.keep_memory({record, undo_guard.take_unused_undo()});
    co_return result;
}

}  // namespace pawl::redis::native
