#include "lease.hpp"

#include "alarm.hpp"
#include "guard.hpp"

#include <pthread.h>

namespace pawl::core {
namespace {

std::atomic<std::uint32_t> forks{0};

const int watching_forks = [] {
    return ::pthread_atfork(nullptr, nullptr,
                            [] { forks.fetch_add(1, std::memory_order_relaxed); });
}();

}  // namespace

std::uint32_t fork_generation() noexcept { return forks.load(std::memory_order_relaxed); }

error client_of_parent() {
    return {errc::unsupported,
            "This client belongs to the process that this one was forked from; make a client "
            "after the fork."};
}

lease::lease(std::shared_ptr<engine> home, runtime& time, claim what, duration max_hold)
    : home_(std::move(home)),
      time_(time),
      what_{.claim = std::move(what), .grant = {}},
      max_hold_(max_hold) {}

lease::~lease() {
    if (guarded_ && !forked()) guard::instance().forget(*this);
}

void lease::begin(std::string owner, grant given) noexcept {
    what_.claim.owner = std::move(owner);
    what_.grant = std::move(given);
    max_until_ = plus(time_.now(), max_hold_);
    deadline_ = std::min(what_.grant.deadline, max_until_).time_since_epoch().count();
}

lock_state lease::state() const noexcept {
    if (forked()) return lock_state::lost;
    const auto state = state_.load(std::memory_order_acquire);
    const bool ours = state == lock_state::held || state == lock_state::at_risk;
    // Whoever asks after the deadline is told the truth even when nothing has run since.
    return ours && time_.now() >= deadline() ? lock_state::lost : state;
}

loss_reason lease::why() const noexcept {
    if (forked()) return loss_reason::forked;
    const auto why = why_.load(std::memory_order_acquire);
    if (why == loss_reason::none && state() == lock_state::lost)
        return ended_by_max_hold() ? loss_reason::max_hold : loss_reason::expired;
    return why;
}

time_point lease::safe_until() const noexcept {
    return state() == lock_state::lost ? std::min(deadline(), time_.now()) : deadline();
}

// The notifier's thread may be on its way to a loss that the caller has seen already.
std::stop_token lease::lost() const noexcept {
    if (state() == lock_state::lost) {
        std::stop_source stopped;
        stopped.request_stop();
        return stopped.get_token();
    }
    return stop_.get_token();
}

bool lease::lose(loss_reason why) noexcept {
    auto state = state_.load(std::memory_order_acquire);
    while (state == lock_state::held || state == lock_state::at_risk) {
        if (state_.compare_exchange_weak(state, lock_state::lost)) {
            why_.store(why, std::memory_order_release);
            time_.notify_losses(std::move(loss_notice_));
            return true;
        }
    }
    return false;
}

bool lease::give_back() noexcept {
    auto state = state_.load(std::memory_order_acquire);
    while (state == lock_state::held || state == lock_state::at_risk) {
        if (time_.now() >= deadline()) {
            lose(ended_by_max_hold() ? loss_reason::max_hold : loss_reason::expired);
            return false;
        }
        if (state_.compare_exchange_weak(state, lock_state::released)) return true;
    }
    return false;
}

std::uint32_t lease::add_handle() {
    handles_.push_back(++last_handle_);
    return last_handle_;
}

bool lease::let_go(std::uint32_t handle) noexcept {
    if (handle == 0) first_handle_ = false;
    std::erase(handles_, handle);
    return !has_handles();
}

bool lease::mark_at_risk() noexcept {
    auto state = lock_state::held;
    return state_.compare_exchange_strong(state, lock_state::at_risk);
}

bool lease::extend(time_point until) noexcept {
    if (time_.now() >= deadline()) {
        lose(ended_by_max_hold() ? loss_reason::max_hold : loss_reason::expired);
        return false;
    }
    what_.grant.deadline = std::min(until, max_until_);
    what_.grant.confirm = false;
    deadline_.store(what_.grant.deadline.time_since_epoch().count());
    auto state = lock_state::at_risk;
    return state_.compare_exchange_strong(state, lock_state::held) || state == lock_state::held;
}

void lease::tell_answered() {
    for (const auto& each : std::exchange(question_waiters, {}))
        each->ring();
}

void lease::become_shared(std::string proof) {
    what_.claim.mode = lock_mode::shared;
    what_.grant.proof = std::move(proof);
}

}  // namespace pawl::core
