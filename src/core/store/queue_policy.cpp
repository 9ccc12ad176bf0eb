// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "queue_policy.hpp"

namespace pawl::core {

lock_share share_of(const claim& requested) noexcept {
    return {requested.mode, requested.mode == lock_mode::permits ? requested.permits : 0};
}

void occupancy::add(const lock_share& holder) noexcept {
    is_mixed_ = is_mixed_ || (mode_ && mode_ != holder.mode);
    mode_ = holder.mode;
    permits_ += holder.permits;
}

bool occupancy::excludes_all() const noexcept { return is_mixed_ || mode_ == lock_mode::exclusive; }

bool occupancy::admits(lock_mode mode) const noexcept {
    return !mode_ || (mode == mode_ && !excludes_all());
}

bool occupancy::admits(lock_share share, std::uint32_t total_permits) const noexcept {
    if (!admits(share.mode)) return false;
    return share.mode != lock_mode::permits || permits_ + share.permits <= total_permits;
}

bool exceeds_total(lock_share share, std::uint32_t total_permits) noexcept {
    return share.mode == lock_mode::permits && share.permits > total_permits;
}

bool admits_newcomer(lock_share share, bool has_waiters, const occupancy& present,
                     std::uint32_t total_permits) noexcept {
    return !has_waiters && present.admits(share, total_permits);
}

queue_step step_of(const lock_share& first, bool is_dead, const occupancy& present,
                   std::uint32_t total_permits) noexcept {
    if (is_dead) return queue_step::discard;
    if (exceeds_total(first, total_permits)) return queue_step::refuse;
    return present.admits(first, total_permits) ? queue_step::grant : queue_step::wait;
}

release_result result_of_missing_hold(lock_mode mode, const occupancy& present) noexcept {
    return present.admits(mode) ? release_result::expired : release_result::taken_over;
}

}  // namespace pawl::core
