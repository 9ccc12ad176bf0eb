// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The bounds of a client of the Redis backend. The simulation makes some of them tiny, so that it
// reaches every bound.
#pragma once

#include "../../core/util/back_off.hpp"

#include <pawl/types.hpp>

#include <cstddef>
#include <cstdint>

namespace pawl::redis {

struct limits {
    // The pauses before a refused or unanswered request is repeated.
    duration first_pause = std::chrono::milliseconds(100);
    duration longest_pause = std::chrono::seconds(2);
    // Pending undos for one server. While this many are pending, no request that may need an undo
    // is sent to that server.
    std::size_t max_undos = 4096;
    // Undos that are sent to one server at the same time.
    std::size_t max_concurrent_undos = 64;
    // The releases that a client repeats after a failover: at most so many, and none that is older.
    // The old master may go on for a while, but the client leaves it when the Sentinels name
    // another one, so most releases are known to the new master.
    std::size_t max_recent_releases = 1000;
    duration recent_release_age = std::chrono::seconds(10);
    // How long a waiter's place in the queue lasts; each refresh extends it. A dead waiter blocks
    // the waiters behind it no longer than this.
    std::int64_t waiter_place_ms = 1900;
    // The same for the first waiter behind an exclusive holder. If this waiter is dead, it delays
    // the others only by the claim window: the lock is granted to it, and then passed on.
    std::int64_t first_waiter_place_ms = 9500;
    // A queued waiter must confirm its grant by a renewal within this time.
    duration claim_window = std::chrono::milliseconds(1200);
    // The least time between refreshes that are caused by reports of a changed key. Other libraries
    // may renew their locks many times a second.
    duration invalidation_pause = std::chrono::milliseconds(250);
    // How often in a row one process may pass a lock to its own waiter while other processes wait.
    unsigned max_local_hand_offs = 8;
    // The largest number of names for which these hand-offs are counted.
    std::size_t max_counted_hand_offs = 4096;
    // The largest number of holds that one script renews.
    std::size_t renewals_per_script = 256;
    // The renewals of one hold that have no answer yet. They are at least ttl/6 apart, and answers
    // count up to 2/3 of the ttl after their request, so no more than these can count. While as
    // many are unanswered, no other is sent; in such an outage the hold ends at its deadline.
    std::size_t unanswered_renewals = 4;
    // Unread messages of a latch's waiter. With more of them the waiter reads the latch instead.
    std::size_t max_unread_messages = 64;
    // The bounds of one listing: time, requests, and different keys. A server whose list never ends
    // reaches one of them.
    duration max_scan_time = std::chrono::seconds(60);
    std::size_t max_scan_requests = 1'000'000;
    std::size_t max_scanned_keys = 1'000'000;

    [[nodiscard]] core::pause_lengths pauses() const noexcept {
        return {first_pause, longest_pause};
    }
};

}  // namespace pawl::redis
