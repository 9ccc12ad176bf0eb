// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Releases of the native layout: the hand-off to a waiter of this client, and the repetitions after
// a lost reply or a failover.
#pragma once

#include "../common/client_tasks.hpp"
#include "../common/recent_releases.hpp"
#include "../common/server_access.hpp"
#include "calls/release_calls.hpp"
#include "lock_scripts.hpp"
#include "owner_records.hpp"
#include "waiters.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::redis::native {

// Used on one strand.
class releases {
public:
    // The arguments must outlive the object.
    releases(server_access& access, client_tasks& tasks, lock_scripts& scripts,
             owner_records& records, waiter_table& waiters)
        : access_(access),
          tasks_(tasks),
          scripts_(scripts),
          records_(records),
          waiters_(waiters),
          recent_releases_(access.bounds()) {}
    releases(const releases&) = delete;
    releases& operator=(const releases&) = delete;

    // As backend::release.
    boost::asio::awaitable<release_result> release(const hold& held);
    // Releases the lock if it has the value, without a successor. The arguments must outlive the
    // operation.
    boost::asio::awaitable<reply> release_value(const std::string& name, const std::string& value,
                                                time_point give_up_at);
    // After a failover: the new master may not know these releases.
    void repeat_recent_releases(const link& connected_link);

private:
    // The waiter of this client to which a release hands the lock. The members are copies, because
    // the waiter may leave before the reply to the release.
    struct local_successor {
        std::shared_ptr<owner_record> record;  // null: no successor
        duration ttl{};
        std::string stored_value{};  // of the new hold, which begins now
        std::string ttl_ms{};
        [[nodiscard]] std::string_view owner() const noexcept {
            return record ? record->owner() : std::string_view();
        }
    };
    [[nodiscard]] local_successor choose_successor(const claim& released) const;
    [[nodiscard]] static release_call call_of(const keys& lock_keys, std::string_view stored_value,
                                              const local_successor& successor, bool queue_first);
    boost::asio::awaitable<answer> send_release(const keys& lock_keys,
                                                std::string_view stored_value,
                                                const local_successor& successor, bool queue_first,
                                                time_point give_up_at);
    boost::asio::awaitable<answer> send_release_by_mode(const hold& held, const keys& lock_keys,
                                                        const local_successor& successor,
                                                        bool queue_first, time_point give_up_at);
    // Without an outcome if the reply is an error.
    [[nodiscard]] static release_reply read(const reply& from, const hold& held,
                                            const keys& lock_keys,
                                            const local_successor& successor);
    // Repeats a release, without a successor.
    boost::asio::awaitable<reply> resend_release(const hold& held, time_point give_up_at);
    boost::asio::awaitable<void> release_later(hold held);
    boost::asio::awaitable<void> repeat_releases(std::vector<hold> released);
    // For a release that found a key of another type. Returns `taken_over` if a key of the hold
    // itself was overwritten, else `unknown`.
    boost::asio::awaitable<release_result> diagnose_wrong_type(const hold& held,
                                                               const keys& lock_keys,
                                                               time_point give_up_at);
    void hand_to_successor(const std::string& name, const local_successor& successor,
                           undo_queue& undos, undo_queue::prepared_entry undo,
                           const std::optional<fencing_token>& token, time_point sent_at) noexcept;
    static void grant_to_successor(waiter& waiting_successor, const local_successor& successor,
                                   fencing_token token, time_point sent_at);

    server_access& access_;
    client_tasks& tasks_;
    lock_scripts& scripts_;
    owner_records& records_;
    waiter_table& waiters_;
    std::string spare_key_text_;       // of an earlier release, for the next one
    recent_releases recent_releases_;  // of masters that may be replaced
    std::map<std::string, unsigned, std::less<>> local_hand_offs_;
};

}  // namespace pawl::redis::native
