// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "waiting_attempt.hpp"

#include "../common/renewals.hpp"
#include "../common/server_access.hpp"
#include "../common/values.hpp"
#include "../transport/numbers.hpp"
#include "../transport/server_errors.hpp"
#include "calls/acquire_calls.hpp"
#include "calls/release_calls.hpp"
#include "refresh_pacer.hpp"

#include "../../core/util/random.hpp"

#include <algorithm>
#include <utility>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis::native {
namespace {

// The grant that a refresh found: its message was lost or is late. The rest of the claim window
// counts from the request. A rest above the longest window means that the server's clock was set
// back.
grant grant_from_refresh(const waiter& own_waiter, const refresh_reply& reply, time_point sent_at) {
    const auto left = milliseconds_of(reply.left_ms);
    // As in `pushed_grant`, no longer than a ttl.
    const auto rest = left > longest_window(own_waiter.claim_window)
                          ? own_waiter.claim_window
                          : std::min<duration>(left, own_waiter.ttl);
    grant result;
    result.deadline = sent_at + rest - drift(rest);
    result.token = reply.token;
    result.stored_value = make_value(own_waiter.record->value_prefix(), reply.since_ms);
    result.needs_renewal = true;
    return result;
}

}  // namespace

waiting_attempt::waiting_attempt(server_access& access, lock_scripts& scripts,
                                 waiter_table& waiters, const claim& requested,
                                 acquire_attempt& guard, std::shared_ptr<owner_record> record)
    : own_waiter(access.time(), access.context().strand),
      access_(access),
      scripts_(scripts),
      waiters_(waiters),
      undo_guard_(guard) {
    own_waiter.name = requested.name;
    own_waiter.record = std::move(record);
    own_waiter.ttl = requested.ttl;
    own_waiter.claim_window = claim_window_for(requested.ttl);
    if (requested.mode == lock_mode::shared) own_waiter.mode_code = "s";
    if (requested.mode == lock_mode::permits)
        own_waiter.mode_code = "p" + std::to_string(requested.permits);
    own_waiter.total_permits = std::to_string(requested.total_permits);
}

duration waiting_attempt::claim_window_for(duration ttl) const noexcept {
    const auto least = access_.bounds().claim_window;
    return std::min(std::max(least, 2 * scripts_.round_trip() + least / 6), ttl);
}

void waiting_attempt::settle_granted(const std::string& stored_value, bool may_leave_trace) {
    own_waiter.record->kept_value = stored_value;
    undo_guard_.set_state(may_leave_trace || has_unanswered_refresh_
                              ? acquire_attempt::state::held_but_queued
                              : acquire_attempt::state::settled);
}

// The first three waiters refresh when a holder's lease or a dead waiter's entry ends, 50 ms apart
// from each other.
time_point waiting_attempt::next_refresh(const queue_state& queued) const {
    auto latest = access_.now() +
                  core::random_between(access_.time(), min_refresh_interval, max_refresh_interval);
    // Early enough even if the server's clock runs 1.5 times as fast.
    if (queued.place_duration > milliseconds_of(access_.bounds().waiter_place_ms))
        latest = access_.now() + core::random_between(access_.time(), queued.place_duration / 2,
                                                      queued.place_duration * 5 / 8);
    if (queued.next_change_ms < 0 || queued.rank >= 3) return latest;
    const auto change = milliseconds_of(queued.next_change_ms) + 2ms + queued.rank * 50ms;
    return std::min(latest, access_.now() + change);
}

asio::awaitable<std::optional<grant>> waiting_attempt::wait(const claim& requested,
                                                            queue_state first_state,
                                                            time_point give_up_at) {
    auto sent_at = own_waiter.sent_at;
    bool tracking_was_armed = false;
    bool was_refreshed = false;
    // acquire.lua does not recognise its waiter's own hold. If a local release handed the lock over
    // first (-1: the grant was not pushed), the script found the lock taken and queued the waiter.
    // That entry must be undone.
    bool may_leave_trace = own_waiter.received_grant && own_waiter.granted_server_ms < 0;
    refresh_pacer pacer(access_.time(), access_.bounds());
    // Empty if the refresh found the waiter's own grant, or a grant came instead of a reply.
    std::optional<queue_state> queued = first_state;
    for (;;) {
        if (queued) {
            own_waiter.sent_at = sent_at;
            own_waiter.reply_server_ms = queued->server_ms;
            pacer.end_refusals();
        }
        const auto rank = queued ? queued->rank : 0;
        const auto refresh_at =
            pacer.next_time(sent_at, next_refresh(queued.value_or(queue_state{})));
        // A refresh starts tracking. So the first waiter refreshes at once if other libraries may
        // free the lock.
        const bool arms_tracking = scripts_.scheme().is_shared_with_others() && rank == 0 &&
                                   !std::exchange(tracking_was_armed, true);
        if (!own_waiter.received_grant && !arms_tracking)
            co_await wait_for_refresh(std::min(refresh_at, give_up_at));
        if (own_waiter.received_grant) {
            auto result = co_await accept_grant(was_refreshed, may_leave_trace);
            if (result) {
                ++access_.context().counts->hand_offs;
                co_return result;
            }
            co_await pacer.pause_after_refusal(own_waiter, give_up_at);
        }
        if (access_.now() >= give_up_at) co_return std::nullopt;
        const auto outcome = co_await refresh(rank == 0, give_up_at, sent_at);
        was_refreshed = true;
        queued = outcome ? outcome->queued : std::nullopt;
        if (outcome && outcome->refusal) {
            undo_guard_.set_state(acquire_attempt::state::settled);
            throw_permits_error(*outcome->refusal, outcome->total_permits, requested);
        }
        // The refresh was in flight when the grant came, and did not find the grant, or has no
        // reply.
        may_leave_trace = own_waiter.received_grant && (queued || !outcome);
        if (!own_waiter.received_grant && outcome && outcome->granted)
            own_waiter.received_grant = grant_from_refresh(own_waiter, *outcome, sent_at);
    }
}

// Waits for a grant, or for a reason to refresh. A report of a changed key counts as a reason only
// once per `invalidation_pause`.
asio::awaitable<void> waiting_attempt::wait_for_refresh(time_point refresh_at) {
    bool key_changed = false;
    for (;;) {
        const bool was_notified = co_await own_waiter.wakeup.wait_until(refresh_at);
        const bool only_key_changed = std::exchange(own_waiter.key_changed, false) &&
                                      was_notified && !own_waiter.received_grant;
        key_changed = key_changed || only_key_changed;
        if (!only_key_changed || access_.now() >= own_waiter.ignores_changes_until) break;
        refresh_at = std::min(refresh_at, own_waiter.ignores_changes_until);
    }
    if (key_changed)
        own_waiter.ignores_changes_until = access_.now() + access_.bounds().invalidation_pause;
}

asio::awaitable<std::optional<refresh_reply>> waiting_attempt::refresh(bool is_first_waiter,
                                                                       time_point give_up_at,
                                                                       time_point& sent_at) {
    const auto& record = *own_waiter.record;
    core::back_off pauses(access_.time(), access_.bounds().pauses());
    for (;;) {
        std::string trouble;
        try {
            const auto key = record.lock_keys.lock();
            if (!access_.servers().link_of(key).connected())
                co_await connected_link_of(access_.servers(), key, give_up_at);
            sent_at = access_.now();
            // Releases of other libraries do not serve the queue: only the first waiter learns of
            // them. So it must be alive, and its place is short, too.
            const auto first_place_ms = scripts_.scheme().is_shared_with_others()
                                            ? access_.bounds().waiter_place_ms
                                            : access_.bounds().first_waiter_place_ms;
            const refresh_call call{
                .lock_keys = record.lock_keys,
                .waiter = record.member(),
                .value_prefix = record.value_prefix(),
                .claim_window_ms = milliseconds_text(own_waiter.claim_window),
                .place_ms = std::to_string(access_.bounds().waiter_place_ms),
                .first_place_ms = std::to_string(first_place_ms),
                .far_place_ms = std::to_string(access_.bounds().first_waiter_place_ms),
                .mode = own_waiter.mode_code,
                .total_permits = own_waiter.total_permits};
            // Other libraries that share the key do not notify Pawl's waiters. With tracking, the
            // server reports a change of the key.
            const bool tracked = scripts_.scheme().is_shared_with_others() && is_first_waiter;
            own_waiter.is_tracking = tracked;
            const auto deadline = std::max(give_up_at, sent_at + min_reply_wait);
            const auto server_reply = co_await scripts_.run(
                record.lock_keys, call, deadline, tracked ? prelude::tracking : prelude::none);
            if (server_reply.type != reply::kind::error) {
                scripts_.note_round_trip(access_.now() - sent_at);
                co_return call.read(server_reply);
            }
            if (!is_transient(server_reply.text))
                co_await scripts_.throw_if_lock_error(server_reply, record.lock_keys);
            trouble = server_reply.text;
        } catch (const connection_lost& e) {
            has_unanswered_refresh_ = true;
            trouble = e.what();
        }
        // The queue entry outlives a short absence of the server. The next refresh finds the entry,
        // or makes a new one. A new connection or a grant ends the pause.
        if (!own_waiter.received_grant && access_.now() < give_up_at)
            co_await own_waiter.wakeup.wait_until(
                std::min(give_up_at, access_.now() + pauses.next_pause()));
        if (own_waiter.received_grant) co_return std::nullopt;
        if (access_.now() >= give_up_at) throw lock_unreachable(own_waiter.name, trouble);
    }
}

// A grant whose window leaves too little time for the core's renewal is renewed before it is
// accepted. A grant that is older than a refresh that found the waiter queued was taken back in
// between.
asio::awaitable<std::optional<grant>> waiting_attempt::accept_grant(bool was_refreshed,
                                                                    bool may_leave_trace) {
    auto result = std::move(
        *own_waiter.received_grant);  // the member stays set, so no other grant is accepted
    const auto granted_ms = std::exchange(own_waiter.granted_server_ms, -1);
    const bool times_are_comparable =
        was_refreshed && granted_ms >= 0 && own_waiter.reply_server_ms >= 0;
    // With equal milliseconds, the message may be about the grant that the refresh itself made, or
    // about an earlier one that was taken back. The two grants have the same value but different
    // tokens, so the next refresh decides.
    if (times_are_comparable && granted_ms <= own_waiter.reply_server_ms) {
        own_waiter.received_grant.reset();
        co_return std::nullopt;
    }
    const auto lock_key = own_waiter.record->lock_keys.lock();
    const auto epoch = access_.servers().link_of(lock_key).current().epoch;
    if (granted_ms >= 0 &&
        !is_plausible(own_waiter, result.token, epoch, granted_ms, access_.now())) {
        own_waiter.received_grant.reset();
        // The first such message causes a refresh at once, each further one only after a pause.
        if (std::exchange(own_waiter.was_misled, true))
            co_await access_.pause(access_.bounds().first_pause / 2, access_.bounds().first_pause);
        co_return std::nullopt;
    }
    auto outcome = renewal::outcome::extended;
    // The core renews after an eighth of the window at the latest, and must have the answer within
    // the window.
    const auto time_to_claim =
        std::max(own_waiter.claim_window / 2, scripts_.round_trip() + own_waiter.claim_window / 8);
    if (result.deadline <= access_.now() + time_to_claim) outcome = co_await renew_grant(result);
    // A forced release that was reported meanwhile has reset `received_grant`.
    if (outcome == renewal::outcome::extended && own_waiter.received_grant) {
        settle_granted(result.stored_value, may_leave_trace);
        co_return result;
    }
    own_waiter.received_grant.reset();
    // Pause, because a refresh may find the same grant again at once.
    if (outcome == renewal::outcome::unknown)
        co_await access_.pause(access_.bounds().first_pause / 2, access_.bounds().first_pause);
    co_return std::nullopt;
}

asio::awaitable<renewal::outcome> waiting_attempt::renew_grant(grant& received) {
    const auto sent_at = access_.now();
    const auto& lock_keys = own_waiter.record->lock_keys;
    const auto ttl_ms = milliseconds_text(own_waiter.ttl);
    renew_call exclusive_call(1);
    renew_non_exclusive_call non_exclusive_call(1);
    const bool is_exclusive = own_waiter.mode_code == "x";
    if (is_exclusive)
        exclusive_call.add(lock_keys, received.stored_value, ttl_ms);
    else
        non_exclusive_call.add(lock_keys, received.stored_value, ttl_ms);
    const renewal_call& call =
        is_exclusive ? static_cast<const renewal_call&>(exclusive_call) : non_exclusive_call;
    const auto server_reply = co_await send_renewals(access_, access_.servers(), lock_keys.lock(),
                                                     call, access_.reply_deadline());
    if (server_reply.type == reply::kind::error) co_return renewal::outcome::unknown;
    const auto outcome = call.read(server_reply).front();
    if (outcome == renewal::outcome::extended) {
        received.deadline = sent_at + own_waiter.ttl - drift(own_waiter.ttl);
        received.needs_renewal = false;
    }
    co_return outcome;
}

}  // namespace pawl::redis::native
