// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lease.hpp"

#include "../util/wakeup.hpp"

namespace pawl::core {

namespace {

bool is_holding(lock_state state) noexcept {
    return state == lock_state::held || state == lock_state::at_risk;
}

}  // namespace

error hold_ended(const lease& lease) {
    return {errc::lost, "The lock '" + lease.granted_hold().claim.name +
                            "' is no longer held: it was lost or released; acquire it again."};
}

lease::lease(std::shared_ptr<engine> engine, runtime& time, claim claim, duration max_hold)
    : engine_(std::move(engine)),
      time_(time),
      hold_{.claim = std::move(claim), .grant = {}},
      max_hold_(max_hold) {}

lease::~lease() {
    if (is_watched() && !is_forked()) loss_watchdog::instance().forget(*this);
}

// The watchdog reports a loss half way between the event loop's report and the deadline. This
// leaves the report to the event loop if it runs, and leaves the watchdog's thread time to wake up.
std::optional<time_point> lease::report_at() const noexcept {
    if (!is_holding(status_.load().state)) return std::nullopt;
    return deadline() - loss_lead_time(hold_.claim.ttl) / 2;
}

void lease::lose_at_deadline() noexcept { lose(reason_at_deadline()); }

void lease::begin_attempt(std::string owner, bool was_taken) noexcept {
    hold_.claim.owner = std::move(owner);
    hold_.claim.was_taken = was_taken;
}

void lease::record_grant(grant grant) noexcept {
    hold_.grant = std::move(grant);
    end_of_max_hold_ = plus(time_.now(), max_hold_);
    deadline_ = std::min(hold_.grant.deadline, end_of_max_hold_).time_since_epoch().count();
}

lock_state lease::state() const noexcept {
    if (is_forked()) return lock_state::lost;
    const auto state = status_.load().state;
    // After the deadline the lease is lost, also if no code has run since.
    return is_holding(state) && time_.now() >= deadline() ? lock_state::lost : state;
}

loss_reason lease::why_lost() const noexcept {
    if (is_forked()) return loss_reason::forked;
    const auto reason = status_.load().reason;
    if (reason == loss_reason::none && state() == lock_state::lost) return reason_at_deadline();
    return reason;
}

time_point lease::safe_until() const noexcept {
    return state() == lock_state::lost ? std::min(deadline(), time_.now()) : deadline();
}

// The caller may have seen a loss in `state` that the notifier has not signalled yet.
std::stop_token lease::lost() const noexcept {
    if (state() == lock_state::lost) {
        std::stop_source stopped;
        stopped.request_stop();
        return stopped.get_token();
    }
    return stop_.get_token();
}

bool lease::replace_held_status(status next) noexcept {
    auto present = status_.load();
    while (is_holding(present.state))
        if (status_.compare_exchange_weak(present, next)) return true;
    return false;
}

bool lease::lose(loss_reason reason) noexcept {
    if (!replace_held_status({lock_state::lost, reason})) return false;
    time_.notify_losses(std::move(loss_notice_));
    return true;
}

bool lease::lose_at_release(loss_reason reason) noexcept {
    status present{lock_state::released, loss_reason::none};
    if (!status_.compare_exchange_strong(present, {lock_state::lost, reason})) return false;
    time_.notify_losses(std::move(loss_notice_));
    return true;
}

bool lease::mark_released() noexcept {
    if (time_.now() >= deadline()) {
        lose(reason_at_deadline());
        return false;
    }
    return replace_held_status({lock_state::released, loss_reason::none});
}

std::uint32_t lease::add_handle() {
    handles_.push_back(++last_handle_);
    return last_handle_;
}

bool lease::remove_handle(std::uint32_t handle) noexcept {
    if (handle == 0) first_handle_ = false;
    std::erase(handles_, handle);
    return !has_handles();
}

bool lease::mark_at_risk() noexcept {
    status present{lock_state::held, loss_reason::none};
    return status_.compare_exchange_strong(present, {lock_state::at_risk, loss_reason::none});
}

bool lease::extend(time_point new_deadline) noexcept {
    if (time_.now() >= deadline()) {
        lose(reason_at_deadline());
        return false;
    }
    const auto extended = std::min(new_deadline, end_of_max_hold_);
    // The answer to an older renewal says nothing new.
    if (extended < deadline() && !hold_.grant.needs_renewal)
        return is_holding(status_.load().state);
    const auto old_deadline = deadline_.exchange(extended.time_since_epoch().count());
    if (!replace_held_status({lock_state::held, loss_reason::none})) {
        deadline_ = old_deadline;  // the watchdog has reported the loss
        return false;
    }
    hold_.grant.deadline = extended;
    hold_.grant.needs_renewal = false;
    return true;
}

void lease::notify_replied() {
    for (const auto& each : std::exchange(reply_waiters, {}))
        each->notify();
}

void lease::become_shared(std::string stored_value) {
    hold_.claim.mode = lock_mode::shared;
    hold_.grant.stored_value = std::move(stored_value);
}

}  // namespace pawl::core
