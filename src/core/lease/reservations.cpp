// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The leases whose grants are awaited, and reports of losses that may overtake a grant.
#include "lease_keeper.hpp"

namespace pawl::core {

lease_keeper::reservation::reservation(lease_keeper& keeper, std::shared_ptr<lease> lease)
    : keeper_(keeper), lease_(std::move(lease)) {
    keeper_.reserve(lease_);
}

lease_keeper::reservation::~reservation() {
    if (lease_) keeper_.forget(lease_);
}

void lease_keeper::reservation::begin_attempt(std::string owner, bool was_taken) noexcept {
    keeper_.begin_attempt(*lease_, std::move(owner), was_taken);
}

lease_handle lease_keeper::reservation::keep(grant grant) noexcept {
    lease_->record_grant(std::move(grant));
    keeper_.keep(lease_);
    return lease_handle(std::exchange(lease_, nullptr));
}

void lease_keeper::reserve(const std::shared_ptr<lease>& lease) {
    lease->in_keeper.self = lease;
    by_owner_.insert(*lease);
    lease->in_keeper.next_due = time_point::max();
    lease->in_keeper.number = ++reservations_;
    order_.insert(*lease);
}

void lease_keeper::begin_attempt(lease& lease, std::string owner, bool was_taken) noexcept {
    lease.in_keeper.pushed_loss = loss_reason::none;
    by_owner_.erase(by_owner_.iterator_to(lease));
    lease.begin_attempt(std::move(owner), was_taken);
    by_owner_.insert(lease);
}

// A report about an owner without a lease is about an earlier attempt, or false.
void lease_keeper::handle_pushed_loss(std::string_view owner, loss_reason reason) {
    const auto entry = by_owner_.find(owner);
    if (entry == by_owner_.end()) return;
    const auto lease = entry->in_keeper.self;
    // The report can overtake the grant on its way to the caller.
    if (!lease->in_keeper.is_kept) lease->in_keeper.pushed_loss = reason;
    lose(lease, reason);
}

}  // namespace pawl::core
