// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#pragma once

#include "locks.hpp"

#include "../common/acquire_attempt.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace pawl::redis {

// An attempt that may wait, and its waiter.
class locks::waiting_attempt {
public:
    // The undo of `guard` removes every trace of the record's owner from the server.
    waiting_attempt(locks& parent, const claim& requested, acquire_attempt& guard,
                    std::shared_ptr<owner_record> record)
        : own_waiter(parent.time(), parent.context_.strand), undo_guard(guard), parent_(parent) {
        own_waiter.name = requested.name;
        own_waiter.record = std::move(record);
        own_waiter.ttl = requested.ttl;
        own_waiter.claim_window = parent.claim_window_for(requested.ttl);
        if (requested.mode == lock_mode::shared) own_waiter.mode_code = "s";
        if (requested.mode == lock_mode::permits)
            own_waiter.mode_code = "p" + std::to_string(requested.permits);
        own_waiter.total_permits = std::to_string(requested.total_permits);
    }
    ~waiting_attempt() {
        if (is_in_table_) parent_.waiters_.remove(own_waiter);
    }
    waiting_attempt(const waiting_attempt&) = delete;
    waiting_attempt& operator=(const waiting_attempt&) = delete;

    void add_to_table() {
        is_in_table_ = true;  // before `add`, which may fail halfway for lack of memory
        parent_.waiters_.add(own_waiter);
    }
    // The server may execute the refresh at any later time, also when the hold has ended: the
    // waiter then has a place in the queue again, or the lock. So the attempt needs its undo.
    void note_unanswered_refresh() noexcept { has_unanswered_refresh_ = true; }
    // The attempt holds the lock with this value. `may_leave_trace`: see `accept_grant`.
    void settle_granted(const std::string& stored_value, bool may_leave_trace) {
        own_waiter.record->kept_value = stored_value;
        undo_guard.set_state(may_leave_trace || has_unanswered_refresh_
                                 ? acquire_attempt::state::held_but_queued
                                 : acquire_attempt::state::settled);
    }

    waiter own_waiter;
    acquire_attempt& undo_guard;

private:
    locks& parent_;
    bool is_in_table_ = false;
    bool has_unanswered_refresh_ = false;
};

}  // namespace pawl::redis
