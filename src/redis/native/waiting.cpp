// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A waiter in the server's queue: it refreshes its entry until it is granted the lock.
#include "waiting_attempt.hpp"

#include "../common/lock_errors.hpp"
#include "../common/values.hpp"
#include "../transport/server_errors.hpp"
#include "calls/acquire_calls.hpp"
#include "calls/release_calls.hpp"
#include "permits_error.hpp"

#include "../../core/util/random.hpp"

#include <algorithm>

#if defined(__GNUC__) && !defined(__clang__)
// A false alarm of GCC 12: it sees the delete of a coroutine's frame, but not the new.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis {
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

// Prevents a tight loop of requests when a server reports again and again that a lease ends now, or
// grants the lock and refuses its renewal. The first two early refreshes and the first refusal
// cause no pause, since a race looks the same.
class refresh_pacer {
public:
    refresh_pacer(runtime& time, const limits& bounds)
        : time_(time), pauses_(time, bounds.pauses()) {}

    // The time of the next refresh. `sent_at` is the time of the last one.
    [[nodiscard]] time_point next_time(time_point sent_at, time_point refresh_at) noexcept {
        const auto soonest = sent_at + min_interval;
        early_refreshes_ = refresh_at < soonest ? early_refreshes_ + 1 : 0;
        return early_refreshes_ > max_early_refreshes ? soonest : refresh_at;
    }
    // Call this when a reply shows that the waiter is queued: a refused grant was only a race with
    // the server.
    void end_refusals() noexcept {
        was_refused_ = false;
        pauses_.reset();
    }
    // Call this after a grant that was not accepted. Another grant ends the pause.
    asio::awaitable<void> pause_after_refusal(waiter& own_waiter, time_point give_up_at) {
        if (!std::exchange(was_refused_, true)) co_return;
        const auto pause = std::min<duration>(pauses_.next_pause(), min_refresh_interval);
        co_await own_waiter.wakeup.wait_until(std::min(give_up_at, time_.now() + pause));
    }

private:
    static constexpr unsigned max_early_refreshes = 2;
    static constexpr duration min_interval = 50ms;

    runtime& time_;
    core::back_off pauses_;
    unsigned early_refreshes_ = 0;
    bool was_refused_ = false;
};

}  // namespace

// The first three waiters refresh when a holder's lease or a dead waiter's entry ends, 50 ms apart
// from each other.
time_point locks::next_refresh(const queue_state& queued) const {
    auto latest = now() + core::random_between(time(), min_refresh_interval, max_refresh_interval);
    // Early enough even if the server's clock runs 1.5 times as fast.
    if (queued.place_duration > milliseconds_of(bounds_.waiter_place_ms))
        latest = now() + core::random_between(time(), queued.place_duration / 2,
                                              queued.place_duration * 5 / 8);
    if (queued.next_change_ms < 0 || queued.rank >= 3) return latest;
    const auto change = milliseconds_of(queued.next_change_ms) + 2ms + queued.rank * 50ms;
    return std::min(latest, now() + change);
}

asio::awaitable<std::optional<grant>> locks::wait_in_queue(waiting_attempt& attempt,
                                                           const claim& requested,
                                                           queue_state first_state,
                                                           time_point give_up_at) {
    auto& own_waiter = attempt.own_waiter;
    auto sent_at = own_waiter.sent_at;
    bool tracking_was_armed = false;
    bool was_refreshed = false;
    // acquire.lua does not recognise its waiter's own hold. If a local release handed the lock over
    // first (-1: the grant was not pushed), the script found the lock taken and queued the waiter.
    // That entry must be undone.
    bool may_leave_trace = own_waiter.received_grant && own_waiter.granted_server_ms < 0;
    refresh_pacer pacer(time(), bounds_);
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
        const bool arms_tracking = scheme_.is_shared_with_others() && rank == 0 &&
                                   !std::exchange(tracking_was_armed, true);
        if (!own_waiter.received_grant && !arms_tracking)
            co_await wait_for_refresh(own_waiter, std::min(refresh_at, give_up_at));
        if (own_waiter.received_grant) {
            auto result = co_await accept_grant(attempt, was_refreshed, may_leave_trace);
            if (result) {
                ++context_.counts->hand_offs;
                co_return result;
            }
            co_await pacer.pause_after_refusal(own_waiter, give_up_at);
        }
        if (now() >= give_up_at) co_return std::nullopt;
        const auto outcome = co_await refresh(attempt, rank == 0, give_up_at, sent_at);
        was_refreshed = true;
        queued = outcome ? outcome->queued : std::nullopt;
        if (outcome && outcome->refusal) {
            attempt.undo_guard.set_state(acquire_attempt::state::settled);
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
asio::awaitable<void> locks::wait_for_refresh(waiter& own_waiter, time_point refresh_at) {
    bool key_changed = false;
    for (;;) {
        const bool was_notified = co_await own_waiter.wakeup.wait_until(refresh_at);
        const bool only_key_changed = std::exchange(own_waiter.key_changed, false) &&
                                      was_notified && !own_waiter.received_grant;
        key_changed = key_changed || only_key_changed;
        if (!only_key_changed || now() >= own_waiter.ignores_changes_until) break;
        refresh_at = std::min(refresh_at, own_waiter.ignores_changes_until);
    }
    if (key_changed) own_waiter.ignores_changes_until = now() + bounds_.invalidation_pause;
}

asio::awaitable<std::optional<refresh_reply>> locks::refresh(waiting_attempt& attempt,
                                                             bool is_first_waiter,
                                                             time_point give_up_at,
                                                             time_point& sent_at) {
    auto& own_waiter = attempt.own_waiter;
    const auto& record = *own_waiter.record;
    core::back_off pauses(time(), bounds_.pauses());
    for (;;) {
        std::string trouble;
        try {
            if (!link_of(record.lock_keys).connected())
                co_await connected_link_of(record.lock_keys.lock(), give_up_at);
            sent_at = now();
            // Releases of other libraries do not serve the queue: only the first waiter learns of
            // them. So it must be alive, and its place is short, too.
            const auto first_place_ms = scheme_.is_shared_with_others()
                                            ? bounds_.waiter_place_ms
                                            : bounds_.first_waiter_place_ms;
            const refresh_call call{.lock_keys = record.lock_keys,
                                    .waiter = record.member(),
                                    .value_prefix = record.value_prefix(),
                                    .claim_window_ms = milliseconds_text(own_waiter.claim_window),
                                    .place_ms = std::to_string(bounds_.waiter_place_ms),
                                    .first_place_ms = std::to_string(first_place_ms),
                                    .far_place_ms = std::to_string(bounds_.first_waiter_place_ms),
                                    .mode = own_waiter.mode_code,
                                    .total_permits = own_waiter.total_permits};
            // Other libraries that share the key do not notify Pawl's waiters. With tracking, the
            // server reports a change of the key.
            const bool tracked = scheme_.is_shared_with_others() && is_first_waiter;
            own_waiter.is_tracking = tracked;
            const auto deadline = std::max(give_up_at, sent_at + min_reply_wait);
            const auto server_reply = co_await run(record.lock_keys, call, deadline,
                                                   tracked ? prelude::tracking : prelude::none);
            if (server_reply.type != reply::kind::error) {
                round_trip_ = now() - sent_at;
                co_return call.read(server_reply);
            }
            if (!is_transient(server_reply.text))
                co_await throw_if_lock_error(server_reply, record.lock_keys);
            trouble = server_reply.text;
        } catch (const connection_lost& e) {
            attempt.note_unanswered_refresh();
            trouble = e.what();
        }
        // The queue entry outlives a short absence of the server. The next refresh finds the entry,
        // or makes a new one. A new connection or a grant ends the pause.
        if (!own_waiter.received_grant && now() < give_up_at)
            co_await own_waiter.wakeup.wait_until(
                std::min(give_up_at, now() + pauses.next_pause()));
        if (own_waiter.received_grant) co_return std::nullopt;
        if (now() >= give_up_at) throw lock_unreachable(own_waiter.name, trouble);
    }
}

// A grant whose window leaves too little time for the core's renewal is renewed before it is
// accepted. A grant that is older than a refresh that found the waiter queued was taken back in
// between.
asio::awaitable<std::optional<grant>> locks::accept_grant(waiting_attempt& attempt,
                                                          bool was_refreshed,
                                                          bool may_leave_trace) {
    auto& own_waiter = attempt.own_waiter;
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
    const auto epoch = link_of(own_waiter.record->lock_keys).current().epoch;
    if (granted_ms >= 0 && !is_plausible(own_waiter, result.token, epoch, granted_ms, now())) {
        own_waiter.received_grant.reset();
        // The first such message causes a refresh at once, each further one only after a pause.
        if (std::exchange(own_waiter.was_misled, true))
            co_await pause(bounds_.first_pause / 2, bounds_.first_pause);
        co_return std::nullopt;
    }
    auto outcome = renewal::outcome::extended;
    // The core renews after an eighth of the window, and must have the answer within it.
    const auto time_to_claim =
        std::max(own_waiter.claim_window / 2, round_trip_ + own_waiter.claim_window / 8);
    if (result.deadline <= now() + time_to_claim)
        outcome = co_await renew_grant(own_waiter, result);
    // A forced release that was reported meanwhile has reset `received_grant`.
    if (outcome == renewal::outcome::extended && own_waiter.received_grant) {
        attempt.settle_granted(result.stored_value, may_leave_trace);
        co_return result;
    }
    own_waiter.received_grant.reset();
    // Pause, because a refresh may find the same grant again at once.
    if (outcome == renewal::outcome::unknown)
        co_await pause(bounds_.first_pause / 2, bounds_.first_pause);
    co_return std::nullopt;
}

asio::awaitable<renewal::outcome> locks::renew_grant(const waiter& own_waiter, grant& received) {
    const auto sent_at = now();
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
    const auto server_reply =
        co_await run_script(*servers_, lock_keys.lock(), call, no_words, reply_deadline(),
                            prelude::none, nullptr, &known_scripts_);
    if (server_reply.type == reply::kind::error) co_return renewal::outcome::unknown;
    const auto outcome = call.read(server_reply).front();
    if (outcome == renewal::outcome::extended) {
        received.deadline = sent_at + own_waiter.ttl - drift(own_waiter.ttl);
        received.needs_renewal = false;
    }
    co_return outcome;
}

// The undo names one owner, so it affects only the requests of this owner.
undo_queue::undo locks::leave_of(std::shared_ptr<const owner_record> record) {
    undo_queue::undo undo;
    undo.lock = record->lock_keys.lock();
    undo.send = [this, record = std::move(record)](time_point deadline) {
        return send_leave(record, deadline);
    };
    return undo;
}

asio::awaitable<reply> locks::send_leave(std::shared_ptr<const owner_record> record,
                                         time_point give_up_at) {
    const leave_call call{record->lock_keys, record->member(), record->value_prefix(),
                          record->kept_value};
    auto server_reply = co_await run(record->lock_keys, call, give_up_at);
    if (server_reply.type != reply::kind::error) (void)call.read(server_reply);
    co_return server_reply;
}

}  // namespace pawl::redis
