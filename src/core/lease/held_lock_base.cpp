// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include <pawl/detail/held_lock_base.hpp>

#include "lease.hpp"

#include <pawl/detail/lock_set.hpp>
#include <pawl/detail/lock_work.hpp>
#include <pawl/error.hpp>

namespace pawl::detail {
namespace {

int severity(release_result result) noexcept {
    switch (result) {
    case release_result::released: return 0;
    case release_result::still_held: return 1;
    case release_result::unknown: return 2;
    case release_result::expired: return 3;
    case release_result::taken_over: return 4;
    }
    return 4;
}

}  // namespace

void throw_empty_handle() {
    throw error(errc::not_held,
                "This handle is empty: it was moved from, or a try found the lock taken; test it "
                "before this call.");
}

release_result worse(release_result a, release_result b) noexcept {
    return severity(b) > severity(a) ? b : a;
}

std::optional<error> loss_during_work(const held_lock_base& lock) {
    if (!lock || lock.state() != lock_state::lost) return std::nullopt;
    return error(errc::lost, "The work under the lock '" + std::string(lock.name()) +
                                 "' has returned, but the hold had ended before its release (" +
                                 describe(lock.why_lost()) +
                                 "): a part of the work may have run without the lock; check its "
                                 "effects, or let the resource compare fencing tokens.");
}

bool held_lock_base::owns_lock() const noexcept { return lease_ && lease_->is_held(); }
std::string_view held_lock_base::name() const { return lease()->granted_hold().claim.name; }
// The service may need its own number of a hold for which the caller wanted none.
fencing_token held_lock_base::token() const {
    const auto& held = lease()->granted_hold();
    return held.claim.fenced ? held.grant.token : fencing_token();
}
lock_state held_lock_base::state() const { return lease()->state(); }
loss_reason held_lock_base::why_lost() const { return lease()->why_lost(); }
time_point held_lock_base::safe_until() const { return lease()->safe_until(); }
std::stop_token held_lock_base::lost() const { return lease()->lost(); }

}  // namespace pawl::detail
