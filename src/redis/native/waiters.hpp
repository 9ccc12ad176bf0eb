// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// This client's waiters in the server's queues, and the grants that are pushed to them.
#pragma once

#include "../../core/util/wakeup.hpp"
#include "core/util/spi.hpp"
#include "owner_records.hpp"

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace pawl::redis::native {

struct waiter {
    waiter(runtime& time, const boost::asio::any_io_executor& executor) : wakeup(time, executor) {}

    std::string name;  // of the lock
    std::shared_ptr<owner_record> record;
    duration ttl{};
    // The same in each request of the waiter: the server may execute an old one late, and the next
    // grant then has the window of that.
    duration claim_window{};
    std::string mode_code = "x";  // the scripts' mode: "x" exclusive, "s" shared, "pK" K permits
    std::string total_permits = "0";  // total permits; "0": the server's total
    bool can_be_successor = false;    // a release in this process may hand it the lock

    // When the last request that found the waiter queued was sent, and the server's time in its
    // reply: a pushed grant was made later. `reply_server_ms` is -1 before the first reply, and
    // after a reconnection.
    time_point sent_at{};
    std::int64_t reply_server_ms = -1;

    // Whether the server reports a change of the lock's key to this waiter; whether it has reported
    // one, or asked for a refresh; and until when the waiter ignores further reports.
    bool is_tracking = false;
    bool key_changed = false;
    time_point ignores_changes_until{};
    void notify_change() {
        key_changed = true;
        wakeup.notify();
    }

    std::optional<grant> received_grant;
    std::int64_t granted_server_ms =
        -1;                   // the time of a pushed grant; -1: the grant was not pushed
    bool was_misled = false;  // an implausible grant was pushed before
    core::wakeup wakeup;
};

// Used on one strand.
class waiter_table {
public:
    void add(waiter& entry);
    void remove(waiter& entry);
    [[nodiscard]] waiter* find_by_owner(std::string_view owner) const;
    // The earliest waiter of the name that a local hand-off can give the lock to; null: none.
    [[nodiscard]] waiter* find_successor(std::string_view name) const;
    // Notifies the waiters whose locks satisfy `is_affected`, and forgets their server's time. Call
    // this for a new connection.
    template <class Predicate>
    void notify_if(Predicate is_affected) {
        for (const auto& [owner, entry] : by_owner_) {
            if (!is_affected(entry->record->lock_keys)) continue;
            entry->reply_server_ms = -1;
            entry->wakeup.notify();
        }
    }
    [[nodiscard]] bool empty() const noexcept { return by_owner_.empty(); }
    // Notifies the waiters that track the key; only the first waiter in a queue does so. With an
    // empty key, notifies those of every key.
    void notify_key(std::string_view lock_key);

private:
    // The map keys refer to strings of the waiters.
    std::map<std::string_view, waiter*> by_owner_;
    std::multimap<std::string_view, waiter*> by_name_;
};

// Of a waiter with this claim window, if it is one of very many: `window_in_crowd` in
// _grant_waiters.lua.
[[nodiscard]] constexpr duration longest_window(duration claim_window) noexcept {
    return 9 * claim_window;
}

// The grant from a pushed message. Its deadline counts the claim window from the earliest possible
// time of the grant.
[[nodiscard]] grant pushed_grant(const waiter& recipient, std::string_view token,
                                 std::int64_t server_ms, duration claim_window,
                                 time_point received);

// True: a pushed grant can come from the server. Its time is not in the future, as far as the
// server's clock is known, and its token fits that time; readers may share an older token. A forged
// token that is far ahead would outrank all later ones.
[[nodiscard]] bool is_plausible(const waiter& recipient, fencing_token token, std::uint64_t epoch,
                                std::int64_t server_ms, time_point now) noexcept;

}  // namespace pawl::redis::native
