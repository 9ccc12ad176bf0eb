// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The Redis backend with the native layout. The members are in acquire.cpp, waiting.cpp,
// release.cpp, admin.cpp and others; docs/backends/redis.md describes the protocol.
#pragma once

#include "../common/acquire_attempt.hpp"
#include "../common/lock_base.hpp"
#include "../common/recent_releases.hpp"
#include "../scripting/short_text.hpp"
#include "backend.hpp"
#include "calls/acquire_calls.hpp"
#include "calls/release_calls.hpp"
#include "latches.hpp"
#include "waiters.hpp"

#include <algorithm>
#include <map>

namespace pawl::redis {

class locks final : public lock_base {
public:
    locks(const options& server_options, backend_context context, const topology_factory& connect,
          const limits& bounds);

    boost::asio::awaitable<std::optional<grant>> acquire(const claim& requested,
                                                         time_point give_up_at) override;
    boost::asio::awaitable<std::vector<grant>> acquire_batch(std::span<const claim> requested,
                                                             time_point give_up_at) override;
    boost::asio::awaitable<std::optional<grant>> adopt(const claim& requested) override;
    bool can_batch(std::span<const std::string> names) const override;
    boost::asio::awaitable<release_result> release(const hold& held) override;
    boost::asio::awaitable<lock_info> inspect(std::string_view name) override;
    boost::asio::awaitable<std::vector<lock_info>> list(std::string_view prefix) override;
    boost::asio::awaitable<bool> force_release(std::string_view name,
                                               fencing_token expected) override;
    boost::asio::awaitable<std::optional<grant>> downgrade(const hold& held) override;
    boost::asio::awaitable<void> resize(std::string_view name, std::uint32_t permits) override;
    boost::asio::awaitable<examination> examine() override;
    std::string unreachable_reason(std::string_view name) const override;
    pawl::latches* latches() noexcept override { return &latches_; }
    pawl::capabilities capabilities() const noexcept override;

private:
    class waiting_attempt;
    // The waiter of this client to which a release hands the lock. The members are copies, because
    // the waiter may leave before the reply to the release.
    struct local_successor {
        std::shared_ptr<owner_record> record;  // null: no successor
        duration ttl{};
        std::int64_t since = 0;  // when the new hold begins, in ms since 1970
        [[nodiscard]] std::string_view owner() const noexcept {
            return record ? record->owner() : std::string_view();
        }
    };

    locks(const options& server_options, backend_context context, const topology_factory& connect,
          const limits& bounds, std::string client);

    std::int64_t wall_ms() const;
    // "FLOOR KEEP_MS" for the scripts. FLOOR is the token of this server's clock when the
    // connection was made: every later token must be above it. KEEP_MS is how long the server keeps
    // an unused counter.
    [[nodiscard]] short_text token_floor(const session& server_session) const;
    struct words_of_server {
        const locks& parent;
        server_words operator()(const link& server_link) const;
    };
    // Runs the script of the call at the server of the lock. All arguments must outlive the
    // operation. `known` as in run_script.
    template <class Call>
    [[nodiscard]] boost::asio::awaitable<reply> run(const keys& lock_keys, const Call& call,
                                                    time_point give_up_at,
                                                    prelude usual = prelude::none,
                                                    link* known = nullptr,
                                                    sending_time* sent = nullptr) const {
        return run_script(*servers_, lock_keys.lock(), call, words_of_, give_up_at, usual, known,
                          nullptr, sent);
    }
    [[nodiscard]] link& link_of(const keys& lock_keys) const noexcept {
        return lock_base::link_of(lock_keys.lock());
    }

    boost::asio::awaitable<void> renew_at(topology& servers, renewal_batch& batch) override;
    std::string key_of(std::string_view name) const override {
        return std::string(scheme_.keys_of(name).lock());
    }
    // If the reply is an error, throws the matching error for that lock.
    boost::asio::awaitable<void> throw_if_lock_error(const reply& reply, const keys& lock_keys);
    [[nodiscard]] std::shared_ptr<owner_record> make_record(std::string_view name,
                                                            std::string_view owner) const;
    // One attempt's record and its undo, which shares the record.
    struct prepared_attempt {
        std::shared_ptr<owner_record> record;
        undo_queue::prepared_entry undo;
    };
    // Uses the memory of an earlier attempt, if there is one.
    [[nodiscard]] prepared_attempt prepare_attempt(std::string_view name, std::string_view owner);
    // Takes the lock if it is free, whether or not others wait for it. `give_up_at` =
    // time_point::min(): for an acquire that does not wait.
    boost::asio::awaitable<std::optional<grant>> take_free_lock(acquire_attempt& undo_guard,
                                                                const owner_record& record,
                                                                const claim& requested,
                                                                time_point give_up_at);
    // Takes the lock if its mode and the queue allow it; else waits in the queue. `give_up_at` =
    // time_point::min(): one attempt without a place in the queue.
    boost::asio::awaitable<std::optional<grant>> queue_up(acquire_attempt& undo_guard,
                                                          std::shared_ptr<owner_record> record,
                                                          const claim& requested,
                                                          time_point give_up_at);
    // For a waiter with this ttl. A server that is far away needs a longer window: the grant takes
    // half of a round trip to the waiter, and the renewal that claims it a whole one.
    [[nodiscard]] duration claim_window_for(duration ttl) const noexcept {
        const auto least = bounds_.claim_window;
        return std::min(std::max(least, 2 * round_trip_ + least / 6), ttl);
    }
    [[nodiscard]] time_point next_refresh(const queue_state& queued) const;
    boost::asio::awaitable<std::optional<grant>> wait_in_queue(waiting_attempt& attempt,
                                                               const claim& requested,
                                                               queue_state first_state,
                                                               time_point give_up_at);
    boost::asio::awaitable<void> wait_for_refresh(waiter& own_waiter, time_point refresh_at);
    // Sets `sent_at` to the time at which the last request was sent. Returns nothing if a grant
    // arrived instead of a reply.
    boost::asio::awaitable<std::optional<refresh_reply>> refresh(waiting_attempt& attempt,
                                                                 bool is_first_waiter,
                                                                 time_point give_up_at,
                                                                 time_point& sent_at);
    // Returns nothing if the grant is not valid, or cannot be confirmed yet. `may_leave_trace`:
    // a request that was in flight when the grant arrived did not find the grant. So the server may
    // have a queue entry for the waiter, or even another grant.
    boost::asio::awaitable<std::optional<grant>> accept_grant(waiting_attempt& attempt,
                                                              bool was_refreshed,
                                                              bool may_leave_trace);
    // Extends the grant to the whole ttl, and sets its deadline. Returns `unknown` if the server
    // replies with an error.
    boost::asio::awaitable<renewal::outcome> renew_grant(const waiter& own_waiter, grant& received);
    // The undo that removes the waiter and its grants from the server, except for its `kept_value`.
    [[nodiscard]] undo_queue::undo leave_of(std::shared_ptr<const owner_record> record);
    boost::asio::awaitable<reply> send_leave(std::shared_ptr<const owner_record> record,
                                             time_point give_up_at);
    boost::asio::awaitable<void> release_later(hold held);
    // After a failover: the new master may not know these releases.
    boost::asio::awaitable<void> repeat_releases(std::vector<hold> released);
    void repeat_recent_releases(const link& connected_link);
    [[nodiscard]] local_successor choose_successor(const claim& released) const;
    struct sent_release {
        reply server_reply;
        release_reply outcome{};  // default-constructed if the reply is an error
    };
    boost::asio::awaitable<sent_release> send_release(const keys& lock_keys,
                                                      std::string_view stored_value,
                                                      const local_successor& successor,
                                                      bool queue_first, time_point give_up_at,
                                                      link* known = nullptr);
    boost::asio::awaitable<sent_release> send_non_exclusive_release(const keys& lock_keys,
                                                                    std::string_view stored_value,
                                                                    time_point give_up_at);
    boost::asio::awaitable<sent_release> send_release_by_mode(
        const hold& held, const keys& lock_keys, const local_successor& successor, bool queue_first,
        time_point give_up_at, link* known = nullptr);
    // Repeats a release, without a successor.
    boost::asio::awaitable<reply> resend_release(const hold& held, time_point give_up_at);
    // For a release that found a key of another type. Returns `taken_over` if a key of the hold
    // itself was overwritten, else `unknown`.
    boost::asio::awaitable<release_result> diagnose_wrong_type(const hold& held,
                                                               const keys& lock_keys,
                                                               time_point give_up_at);
    // Renews the group with the script of `Call`, which must fit the modes of its holds. `all_keys`
    // has the keys of each renewal of the whole batch.
    template <class Call>
    boost::asio::awaitable<void> renew_group(topology& servers, renewal_batch& batch,
                                             std::span<const keys> all_keys, renewal_group group);
    void hand_to_successor(const std::string& name, const local_successor& successor,
                           undo_queue& undos, undo_queue::prepared_entry undo,
                           const std::optional<fencing_token>& token, time_point sent_at) noexcept;
    static void grant_to_successor(waiter& waiting_successor, const local_successor& successor,
                                   fencing_token token, time_point sent_at);

    // Holds with a value of the caller's own: caller_value.cpp.
    boost::asio::awaitable<std::optional<grant>> acquire_caller_value(const claim& requested);
    // Undoes an acquire with this value: releases the lock if it has the value.
    boost::asio::awaitable<reply> send_undo(const std::string& name, const std::string& value,
                                            time_point give_up_at);

    void on_message(std::string_view channel, std::string_view payload) override;
    void on_invalidate(std::string_view key) override;
    void on_connected(const link& connected_link) override;

    const key_scheme scheme_;
    const std::string client_;                // 16 hex digits
    const std::string channel_;               // the channel for messages to this client
    const std::string prefix_without_owner_;  // what follows the owner in a value's prefix
    const words_of_server words_of_{*this};
    // What is made from a server's session, until the session changes. Never erased, since requests
    // refer to it.
    struct session_texts {
        std::string channel_prefix;  // if the session has a channel tag
        std::chrono::microseconds since_1970{-1};
        std::uint64_t epoch = 0;
        std::string replication;
        short_text floor;
    };
    mutable std::map<const link*, session_texts> session_texts_;
    native_latches latches_;
    prepared_attempt spare_attempt_;   // of an earlier acquire, for the next one
    std::string spare_key_text_;       // of an earlier release, for the next one
    recent_releases recent_releases_;  // of masters that may be replaced
    waiter_table waiters_;
    std::map<std::string, unsigned, std::less<>> local_hand_offs_;
    // The first request of the last plain exclusive acquire or try found its lock taken. Then the
    // next acquire that may wait asks for a place in the queue with its first request.
    bool expects_to_wait_ = false;
    duration round_trip_{};  // of the last request of an acquire or a waiter
};

}  // namespace pawl::redis
