// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "waiting_attempt.hpp"

#include "../common/lock_errors.hpp"
#include "../transport/server_errors.hpp"
#include "calls/acquire_calls.hpp"
#include "permits_error.hpp"
#include "values.hpp"

#include "../../core/util/random.hpp"
#include "../../core/util/wait_notice.hpp"

#include <algorithm>

#if defined(__GNUC__) && !defined(__clang__)
// A false alarm of GCC 12: it sees the delete of a coroutine's frame, but not the new.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis {

asio::awaitable<std::optional<grant>> locks::acquire(const claim& requested,
                                                     time_point give_up_at) {
    if (!requested.value.empty()) co_return co_await acquire_caller_value(requested);
    const bool is_blocking = give_up_at > now();
    back_off pauses(time(), bounds_);
    core::wait_notice notice(time(), context_.log);
    for (auto owner = requested.owner;; owner = core::random_hex(time(), 16)) {
        std::optional<error> trouble;
        {
            waiting_attempt attempt(*this, requested, owner);
            try {
                auto result = co_await run_attempt(attempt, requested,
                                                   is_blocking ? give_up_at : time_point::min());
                if (result) result->owner = std::move(owner);
                co_return result;
            } catch (const connection_lost& e) {
                trouble = lock_unreachable(requested.name, e.what());
            } catch (const error& e) {
                if (e.reason() != errc::unavailable) throw;
                trouble = e;
            }
            if (attempt.undo_guard.has_queue_entry()) pauses.reset();  // the server had answered
        }
        if (now() >= give_up_at) throw *trouble;
        notice.report(trouble->what());
        core::wakeup pause_timer(time(), context_.strand);
        co_await pause_timer.wait_until(std::min(give_up_at, now() + pauses.next_pause()));
    }
}

// A plain exclusive claim may take a free lock although others wait, so it can use the shorter
// script acquire.lua.
asio::awaitable<std::optional<grant>> locks::run_attempt(waiting_attempt& attempt,
                                                         const claim& requested,
                                                         time_point give_up_at) {
    const bool is_blocking = give_up_at != time_point::min();
    if (is_blocking) attempt.add_to_table();
    auto& own_waiter = attempt.own_waiter;
    const auto& record = *own_waiter.record;
    const auto deadline =
        is_blocking ? std::max(give_up_at, now() + min_reply_wait) : reply_deadline();
    auto* server_link = &link_of(record.lock_keys);
    if (!server_link->connected())
        server_link = co_await connected_link_of(record.lock_keys.lock(), deadline);
    check_room_for_undo(*server_link);
    const bool is_plain = requested.mode == lock_mode::exclusive && !requested.fair;
    attempt.undo_guard.about_to_send(undos_.of(*server_link));
    // From now on the attempt has an undo, also for a hold that a release in this process gives it.
    own_waiter.can_be_successor = is_plain;
    own_waiter.sent_at = now();
    auto value = make_value(record.prefix, wall_ms());
    const auto floor = token_floor(*server_link);
    const auto run_id = server_link->current().run_id;
    const acquire_call call{
        .lock_keys = record.lock_keys,
        .value = value,
        .ttl_ms = milliseconds_text(requested.ttl),
        .token_floor = requested.fenced ? std::string_view(floor) : std::string_view(),
        .waiter = is_blocking ? std::string_view(record.member) : std::string_view(),
        .prefix = record.prefix,
        .window_ms = milliseconds_text(own_waiter.claim_window),
        .lease_ms = std::to_string(bounds_.waiter_lease_ms)};
    const acquire_any_mode_call any_mode_call{.acquire = call,
                                              .channel_prefix = scheme_.channel_prefix(),
                                              .known_floor = floor,
                                              .mode = own_waiter.mode_code,
                                              .total_permits = own_waiter.total_permits,
                                              .run_id = run_id};
    reply server_reply;
    if (is_plain)
        server_reply = co_await run_script(*server_link, call.command(), deadline);
    else
        server_reply = co_await run_script(*server_link, any_mode_call.command(), deadline);
    if (server_reply.type == reply::kind::error) {
        // A release in this process may have handed the lock to this waiter meanwhile.
        if (proves_no_change(server_reply.text) && !own_waiter.received_grant)
            attempt.undo_guard.set_state(acquire_attempt::state::settled);
        co_await throw_typed_error(*server_link, server_reply, record.lock_keys);
    }
    const auto outcome = is_plain ? call.read(server_reply) : any_mode_call.read(server_reply);
    attempt.undo_guard.set_state(outcome.queued ? acquire_attempt::state::queued
                                                : acquire_attempt::state::settled);
    if (outcome.refusal) throw_permits_error(*outcome.refusal, outcome.total_permits, requested);
    if (outcome.granted) {
        grant result;
        result.deadline = own_waiter.sent_at + requested.ttl - drift(requested.ttl);
        result.token = outcome.token;
        // A move, since an allocation could fail, and nothing would undo the grant any more.
        result.stored_value = std::move(value);
        co_return result;
    }
    if (!outcome.queued) co_return std::nullopt;
    co_return co_await wait_in_queue(attempt, requested, *outcome.queued, give_up_at);
}

}  // namespace pawl::redis
