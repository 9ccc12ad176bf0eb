// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Several locks in one request: all of them or none.
#include "waiting_attempt.hpp"

#include "../common/lock_errors.hpp"
#include "../transport/server_errors.hpp"
#include "calls/acquire_calls.hpp"
#include "values.hpp"
#include "wrong_type.hpp"

#include <algorithm>
#include <memory>

namespace asio = boost::asio;

namespace pawl::redis {

asio::awaitable<std::vector<grant>> locks::acquire_batch(std::span<const claim> requested,
                                                         time_point give_up_at) {
    std::vector<std::unique_ptr<waiting_attempt>> attempts;
    std::vector<grant> grants;
    try {
        const auto deadline =
            give_up_at > now() ? std::max(give_up_at, now() + min_reply_wait) : reply_deadline();
        if (!link_->connected()) co_await connect(deadline);
        check_room_for_undo();
        const auto floor = requested.front().fenced ? token_floor() : std::string();
        acquire_batch_call call{milliseconds_text(requested.front().ttl), floor, {}};
        grants.reserve(requested.size());
        for (const auto& requested_lock : requested) {
            const auto& own_waiter = attempts
                                         .emplace_back(std::make_unique<waiting_attempt>(
                                             *this, requested_lock, requested_lock.owner))
                                         ->own_waiter;
            auto& entry = grants.emplace_back();
            entry.stored_value = make_value(own_waiter.record->prefix, wall_ms());
            entry.owner = own_waiter.owner;
            call.locks.push_back({own_waiter.record->lock_keys, entry.stored_value});
        }
        for (const auto& attempt : attempts)
            attempt->undo_guard.about_to_send();
        const auto sent_at = now();
        const auto server_reply = co_await scripts_.run(call.command(), deadline);
        if (server_reply.type == reply::kind::error) {
            // The script uses two keys of each lock, and any of them may be of another type.
            std::vector<typed_key> used_keys;
            for (const auto& attempt : attempts) {
                if (proves_no_change(server_reply.text))
                    attempt->undo_guard.set_state(acquire_attempt::state::settled);
                const auto typed = typed_keys_of(attempt->own_waiter.record->lock_keys);
                used_keys.insert(used_keys.end(), typed.begin(), typed.begin() + 2);
            }
            co_await redis::throw_typed_error(*link_, server_reply, used_keys, reply_deadline());
        }
        const auto tokens = call.read(server_reply);
        for (const auto& attempt : attempts)
            attempt->undo_guard.set_state(acquire_attempt::state::settled);
        if (tokens.empty()) grants.clear();
        for (std::size_t i = 0; i < grants.size(); ++i) {
            grants[i].deadline = sent_at + requested[i].ttl - drift(requested[i].ttl);
            grants[i].token = tokens[i];
        }
    } catch (const connection_lost& e) {
        throw could_not_be_requested("The locks", e.what());
    }
    co_return grants;
}

}  // namespace pawl::redis
