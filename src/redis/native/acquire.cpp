// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "waiting_attempt.hpp"

#include "../common/lock_errors.hpp"
#include "../common/values.hpp"
#include "../transport/server_errors.hpp"
#include "calls/acquire_calls.hpp"
#include "permits_error.hpp"

#include <algorithm>

#if defined(__GNUC__) && !defined(__clang__)
// A false alarm of GCC 12: it sees the delete of a coroutine's frame, but not the new.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis {
namespace {

// Needs no memory: an allocation could fail, and nothing would undo the grant any more.
grant make_grant(const claim& requested, const acquire_reply& reply, std::string&& value,
                 time_point sent_at) noexcept {
    grant result;
    result.deadline = sent_at + requested.ttl - drift(requested.ttl);
    result.token = reply.token;
    result.stored_value = std::move(value);
    return result;
}

}  // namespace

std::shared_ptr<owner_record> locks::make_record(std::string_view name,
                                                 std::string_view owner) const {
    return std::make_shared<owner_record>(scheme_.keys_of(name), client_, owner,
                                          prefix_without_owner_);
}

// The undo refers to the record, so both are used again together, and only if no other owner of the
// record is left.
locks::prepared_attempt locks::prepare_attempt(std::string_view name, std::string_view owner) {
    auto attempt = std::exchange(spare_attempt_, {});
    if (attempt.undo.empty() || attempt.record.use_count() != 2) {
        attempt.record = make_record(name, owner);
        attempt.undo = undo_queue::prepare(leave_of(attempt.record));
        return attempt;
    }
    attempt.record->assign(scheme_.keys_of(name, attempt.record->take_key_text()), client_, owner,
                           prefix_without_owner_);
    attempt.undo.front().action.lock = attempt.record->lock_keys.lock();
    return attempt;
}

// A plain exclusive claim may take a free lock although others wait. The usual first request asks
// for no place in the queue, so it is shorter.
asio::awaitable<std::optional<grant>> locks::acquire(const claim& requested,
                                                     time_point give_up_at) {
    if (!requested.value.empty()) co_return co_await acquire_caller_value(requested);
    const bool is_blocking = give_up_at > now();
    const auto wait_until = is_blocking ? give_up_at : time_point::min();
    const bool is_plain = requested.mode == lock_mode::exclusive && !requested.fair;
    const bool asks_for_place =
        !is_plain || requested.was_taken || (is_blocking && expects_to_wait_);
    auto attempt = prepare_attempt(requested.name, requested.owner);
    const auto& record = attempt.record;
    acquire_attempt undo_guard(std::move(attempt.undo), requested.ttl);
    std::optional<grant> result;
    try {
        if (asks_for_place)
            result = co_await queue_up(undo_guard, record, requested, wait_until);
        else
            result = co_await take_free_lock(undo_guard, *record, requested, wait_until);
    } catch (const connection_lost& e) {
        throw lock_unreachable(requested.name, e.what());
    }
    if (result) spare_attempt_ = {record, undo_guard.take_unused_undo()};
    // Even if this request found the lock free: with holds that are shorter than a round trip, this
    // client's next acquire will find it taken again.
    if (requested.was_taken) expects_to_wait_ = true;
    co_return result;
}

asio::awaitable<std::optional<grant>> locks::take_free_lock(acquire_attempt& undo_guard,
                                                            const owner_record& record,
                                                            const claim& requested,
                                                            time_point give_up_at) {
    // Not a comparison with the present: a wait that has begun may be over.
    const bool is_blocking = give_up_at != time_point::min();
    const auto deadline = reply_deadline(is_blocking, give_up_at);
    auto* server_link = &link_of(record.lock_keys);
    if (!server_link->connected())
        server_link = co_await connected_link_of(record.lock_keys.lock(), deadline);
    check_room_for_undo(*server_link);
    undo_guard.about_to_send(undos_.of(*server_link));
    auto value = make_value(record.value_prefix(), wall_ms());
    const acquire_call call{.lock_keys = record.lock_keys,
                            .value = value,
                            .ttl_ms = milliseconds_text(requested.ttl),
                            .fenced = requested.fenced};
    sending_time sent{time()};
    const auto server_reply =
        co_await run(record.lock_keys, call, deadline, prelude::none, server_link, &sent);
    round_trip_ = now() - sent.at;
    if (server_reply.type == reply::kind::error) {
        if (proves_no_change(server_reply.text))
            undo_guard.set_state(acquire_attempt::state::settled);
        co_await throw_if_lock_error(server_reply, record.lock_keys);
    }
    const auto outcome = call.read(server_reply);
    undo_guard.set_state(acquire_attempt::state::settled);
    expects_to_wait_ = !outcome.granted;
    if (!outcome.granted) co_return std::nullopt;
    co_return make_grant(requested, outcome, std::move(value), sent.at);
}

asio::awaitable<std::optional<grant>> locks::queue_up(acquire_attempt& undo_guard,
                                                      std::shared_ptr<owner_record> record,
                                                      const claim& requested,
                                                      time_point give_up_at) {
    waiting_attempt attempt(*this, requested, undo_guard, std::move(record));
    const bool is_blocking = give_up_at != time_point::min();
    if (is_blocking) attempt.add_to_table();
    auto& own_waiter = attempt.own_waiter;
    const auto& own_record = *own_waiter.record;
    const auto deadline = reply_deadline(is_blocking, give_up_at);
    auto* server_link = &link_of(own_record.lock_keys);
    if (!server_link->connected())
        server_link = co_await connected_link_of(own_record.lock_keys.lock(), deadline);
    check_room_for_undo(*server_link);
    const bool is_plain = requested.mode == lock_mode::exclusive && !requested.fair;
    undo_guard.about_to_send(undos_.of(*server_link));
    // From now on the attempt has an undo, also for a hold that a release in this process gives it.
    own_waiter.can_be_successor = is_plain;
    own_waiter.sent_at = now();
    auto value = make_value(own_record.value_prefix(), wall_ms());
    const acquire_call call{.lock_keys = own_record.lock_keys,
                            .value = value,
                            .ttl_ms = milliseconds_text(requested.ttl),
                            .fenced = requested.fenced,
                            .waiter = is_blocking ? own_record.member() : std::string_view(),
                            .value_prefix = own_record.value_prefix(),
                            .claim_window_ms = milliseconds_text(own_waiter.claim_window),
                            .place_ms = std::to_string(bounds_.waiter_place_ms)};
    const acquire_any_mode_call any_mode_call{
        .acquire = call, .mode = own_waiter.mode_code, .total_permits = own_waiter.total_permits};
    reply server_reply;
    sending_time sent{time()};
    const auto& lock_keys = own_record.lock_keys;
    if (is_plain)
        server_reply = co_await run(lock_keys, call, deadline, prelude::none, nullptr, &sent);
    else
        server_reply =
            co_await run(lock_keys, any_mode_call, deadline, prelude::none, nullptr, &sent);
    round_trip_ = now() - sent.at;
    own_waiter.sent_at = sent.at;
    if (server_reply.type == reply::kind::error) {
        // A release in this process may have handed the lock to this waiter meanwhile.
        if (proves_no_change(server_reply.text) && !own_waiter.received_grant)
            undo_guard.set_state(acquire_attempt::state::settled);
        co_await throw_if_lock_error(server_reply, own_record.lock_keys);
    }
    const auto outcome = is_plain ? call.read(server_reply) : any_mode_call.read(server_reply);
    undo_guard.set_state(outcome.queued ? acquire_attempt::state::queued
                                        : acquire_attempt::state::settled);
    if (outcome.refusal) throw_permits_error(*outcome.refusal, outcome.total_permits, requested);
    if (is_plain) expects_to_wait_ = !outcome.granted;
    if (outcome.granted)
        co_return make_grant(requested, outcome, std::move(value), own_waiter.sent_at);
    if (!outcome.queued) co_return std::nullopt;
    co_return co_await wait_in_queue(attempt, requested, *outcome.queued, give_up_at);
}

}  // namespace pawl::redis
