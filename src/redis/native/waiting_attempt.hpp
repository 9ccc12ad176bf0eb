// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// An attempt that may wait in the server's queue, and its waiter.
#pragma once

#include "../common/acquire_attempt.hpp"
#include "../common/server_access.hpp"
#include "calls/acquire_calls.hpp"
#include "lock_scripts.hpp"
#include "waiters.hpp"

#include <memory>
#include <optional>
#include <string>

namespace pawl::redis::native {

// Used on one strand.
class waiting_attempt {
public:
    // The undo of `guard` removes every trace of the record's owner from the server. The arguments
    // must outlive the object.
    waiting_attempt(server_access& access, lock_scripts& scripts, waiter_table& waiters,
                    const claim& requested, acquire_attempt& guard,
                    std::shared_ptr<owner_record> record);
    ~waiting_attempt() {
        if (is_in_table_) waiters_.remove(own_waiter);
    }
    waiting_attempt(const waiting_attempt&) = delete;
    waiting_attempt& operator=(const waiting_attempt&) = delete;

    void add_to_table() {
        is_in_table_ = true;  // before `add`, which may fail halfway for lack of memory
        waiters_.add(own_waiter);
    }
    // Refreshes the waiter's entry until it is granted the lock, or until `give_up_at`: nothing.
    // `first_state` is of the reply that found it queued. `requested` must outlive the operation.
    boost::asio::awaitable<std::optional<grant>> wait(const claim& requested,
                                                      queue_state first_state,
                                                      time_point give_up_at);

    waiter own_waiter;

private:
    // For a waiter with this ttl. A server that is far away needs a longer window: the grant takes
    // half of a round trip to the waiter, and the renewal that claims it a whole one.
    [[nodiscard]] duration claim_window_for(duration ttl) const noexcept;
    [[nodiscard]] time_point next_refresh(const queue_state& queued) const;
    boost::asio::awaitable<void> wait_for_refresh(time_point refresh_at);
    // Sets `sent_at` to the time at which the last request was sent. Returns nothing if a grant
    // arrived instead of a reply.
    boost::asio::awaitable<std::optional<refresh_reply>> refresh(bool is_first_waiter,
                                                                 time_point give_up_at,
                                                                 time_point& sent_at);
    // Returns nothing if the grant is not valid, or cannot be confirmed yet. `may_leave_trace`: the
    // server executed a request before the grant, and its reply came after it. That request may
    // have made another queue entry for the waiter, or even another grant.
    boost::asio::awaitable<std::optional<grant>> accept_grant(bool was_refreshed,
                                                              bool may_leave_trace);
    // Extends the grant to the whole ttl, and sets its deadline. Returns `unknown` if the server
    // replies with an error.
    boost::asio::awaitable<renewal::outcome> renew_grant(grant& received);
    // The attempt holds the lock with this value. `may_leave_trace`: see `accept_grant`.
    void settle_granted(const std::string& stored_value, bool may_leave_trace);

    server_access& access_;
    lock_scripts& scripts_;
    waiter_table& waiters_;
    acquire_attempt& undo_guard_;
    bool is_in_table_ = false;
    // The server may execute the refresh at any later time, also when the hold has ended: the
    // waiter then has a place in the queue again, or the lock. So the attempt needs its undo.
    bool has_unanswered_refresh_ = false;
};

}  // namespace pawl::redis::native
