// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The leases whose grants are awaited, and reports of losses that may overtake a grant.
#include "lease_keeper.hpp"

#include <algorithm>
#include <new>

namespace pawl::core {

lease_keeper::reservation::reservation(lease_keeper& keeper, std::shared_ptr<lease> lease)
    : keeper_(keeper), lease_(std::move(lease)) {
    keeper_.reserve(lease_);
}

lease_keeper::reservation::~reservation() {
    if (!lease_) return;
    keeper_.end_reservation();
    keeper_.forget(lease_);
}

lease_handle lease_keeper::reservation::keep(std::string owner, grant grant) noexcept {
    keeper_.record_grant(*lease_, std::move(owner), std::move(grant));
    keeper_.keep(lease_);
    return lease_handle(std::exchange(lease_, nullptr));
}

void lease_keeper::reserve(const std::shared_ptr<lease>& lease) {
    lease->in_keeper.self = lease;
    by_owner_.insert(*lease);
    lease->in_keeper.next_due = time_point::max();
    lease->in_keeper.number = ++reservations_;
    order_.insert(*lease);
    ++awaited_grants_;
}

void lease_keeper::end_reservation() noexcept {
    if (--awaited_grants_ == 0) early_losses_.clear();
}

loss_reason lease_keeper::early_loss_of(std::string_view owner) const noexcept {
    const auto position = std::ranges::find(early_losses_, owner, &early_loss::owner);
    return position == early_losses_.end() ? loss_reason::none : position->reason;
}

void lease_keeper::record_grant(lease& lease, std::string owner, grant grant) noexcept {
    if (owner.empty() || owner == lease.granted_hold().claim.owner)
        return lease.record_grant({}, std::move(grant));
    lease.in_keeper.pushed_loss = early_loss_of(owner);  // the present one was another attempt's
    by_owner_.erase(by_owner_.iterator_to(lease));
    lease.record_grant(std::move(owner), std::move(grant));
    by_owner_.insert(lease);
}

// A report that is forgotten, also for lack of memory, is found by the next renewal.
void lease_keeper::note_early_loss(std::string_view owner, loss_reason reason) noexcept {
    if (awaited_grants_ == 0) return;
    if (early_losses_.size() == max_early_losses) early_losses_.pop_front();
    try {
        early_losses_.push_back({std::string(owner), reason});
    } catch (const std::bad_alloc&) {}
}

void lease_keeper::handle_pushed_loss(std::string_view owner, loss_reason reason) {
    const auto entry = by_owner_.find(owner);
    if (entry == by_owner_.end()) {
        note_early_loss(owner, reason);
        return;
    }
    const auto lease = entry->in_keeper.self;
    // The report can overtake the grant on its way to the caller.
    if (!lease->in_keeper.is_kept) lease->in_keeper.pushed_loss = reason;
    lose(lease, reason);
}

}  // namespace pawl::core
