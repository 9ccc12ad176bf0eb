// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One claim at a store with a queue, from its request until it is granted, given up or cancelled.
// It has no I/O and no clock: `next` names the step that the client must carry out, and the client
// reports the outcome.
//
// A failed request counts as one that has changed nothing, as after the rollback of a local
// transaction. A client that got no answer from a server must undo the request by itself.
#pragma once

#include "attempt_result.hpp"

#include <algorithm>

namespace pawl::core {

class waiting_attempt {
public:
    enum class step : std::uint8_t {
        request,  // acquire the lock or join the queue
        wait,     // for a notification, until `wakes_at` at most
        refresh,
        leave,  // leave the queue; a late grant is kept unless the attempt is cancelled
        end     // the claim has the lock, or no place in the queue
    };

    explicit waiting_attempt(time_point give_up_at) noexcept : give_up_at_(give_up_at) {}

    [[nodiscard]] step next(time_point now) const noexcept {
        switch (state_) {
        case state::requesting: return is_cancelled_ ? step::end : step::request;
        case state::queued: return is_cancelled_ || now >= give_up_at_ ? step::leave : step::wait;
        case state::awake: return is_cancelled_ ? step::leave : step::refresh;
        case state::ended: break;
        }
        return is_cancelled_ && granted() != nullptr ? step::leave : step::end;
    }
    // The end of the wait, if the place must be refreshed at this time. Only the first waiter waits
    // for the end of a lease. After a failed refresh, nothing else ends the wait.
    [[nodiscard]] time_point wakes_at(time_point refresh_at = time_point::max()) const noexcept {
        const auto latest = std::min(give_up_at_, refresh_at);
        return result_.is_first ? std::min(latest, result_.expires) : latest;
    }

    // The result of a request or a refresh, or the grant that a notification or `leave` has found;
    // after a `leave` without a grant, the default result.
    void on_result(const attempt_result& result) noexcept {
        result_ = result;
        const bool is_queued = result.outcome == attempt_result::kind::waiting;
        was_queued_ = was_queued_ || is_queued;
        state_ = is_queued ? state::queued : state::ended;
    }
    // The wait is over, without a result.
    void on_wakeup() noexcept { state_ = state::awake; }
    // The step has failed. After a transient failure of a refresh, the next refresh comes after a
    // pause, not at once. Any other failure ends the attempt. True: the store may still have the
    // claim, so the client must undo it in the background.
    [[nodiscard]] bool on_failure(bool is_transient) noexcept {
        const bool waits_on = is_transient && state_ == state::awake;
        result_ = {};
        state_ = waits_on ? state::queued : state::ended;
        return was_queued_ && !waits_on;
    }
    // The caller does not want the lock any more.
    void cancel() noexcept { is_cancelled_ = true; }

    [[nodiscard]] bool is_cancelled() const noexcept { return is_cancelled_; }
    [[nodiscard]] bool was_queued() const noexcept { return was_queued_; }
    // Null without a grant.
    [[nodiscard]] const attempt_result* granted() const noexcept {
        return result_.outcome == attempt_result::kind::granted ? &result_ : nullptr;
    }

private:
    enum class state : std::uint8_t { requesting, queued, awake, ended };

    const time_point give_up_at_;
    state state_ = state::requesting;
    attempt_result result_;
    bool was_queued_ = false;
    bool is_cancelled_ = false;
};

}  // namespace pawl::core
