// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The steps of the protocol, each in one transaction; serving the queue is a transaction of its
// own. docs/backends/sqlite.md explains it.
#pragma once

#include "database.hpp"
#include "file_identity.hpp"
#include "file_location.hpp"
#include "notifier.hpp"
#include "statements.hpp"

#include "core/engine/queue_policy.hpp"

#include <pawl/spi/backend.hpp>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pawl::sqlite {

// The time within which a waiter that was granted the lock must confirm that it is alive.
inline constexpr duration claim_window = std::chrono::milliseconds(1800);
// How long a waiter's row outlives its last refresh.
inline constexpr duration waiter_lease = std::chrono::seconds(4);

// The result of a step of an acquisition.
struct attempt_result {
    // waiting: the claim is in the queue. not_queued: the lock is taken, and the claim is not in
    // the queue.
    enum class kind : std::uint8_t { granted, waiting, not_queued };
    kind outcome = kind::not_queued;
    time_point expires{};        // granted: the end of the lease; else the first end of a lease
    fencing_token token;         // only if granted
    bool needs_renewal = false;  // granted for the claim window only
    bool is_first = false;       // the first waiter of the queue
};

// The values that `examine` reads from the file.
struct file_report {
    std::string file_system, sqlite_version, journal_mode, integrity;
    std::int64_t bytes = 0;
    duration commit_time{};  // for one transaction, to the disk
    bool can_notify = false;
    file_rights rights;
};

// One client's access to the file. Only the worker thread uses it; the first use opens the file.
// Every member that is not noexcept may throw pawl::error; afterwards the same call may be made
// again.
class store {
public:
    struct settings {
        std::string path;
        std::string name_space;
        identity client_identity;
        std::function<void(std::string_view)> log;
        bool make_folder = false;
        std::function<std::string()> read_boot_id = current_boot_id;
    };
    // Called on the worker thread.
    struct event_handlers {
        std::function<void(notification)> on_notification;
        // The file was replaced: the hold of this owner has ended.
        std::function<void(const std::string& owner)> on_loss;
    };

    store(settings store_settings, runtime& time, boost::asio::any_io_executor worker_executor,
          event_handlers handlers);
    ~store();

    // Acquires the lock, or joins the queue if `may_wait`. Throws errc::bad_option for permits that
    // can never be granted; so does `refresh`. Waits at most this long for other users of the file.
    attempt_result try_acquire(const claim& requested, bool may_wait,
                               duration longest_wait = database::default_wait);
    // Keeps the place in the queue, and returns its state. Passes on a lock whose lease has ended.
    attempt_result refresh(const claim& requested);
    // The grant of the claim, if there is one, without a change of the file.
    std::optional<attempt_result> find_grant(const std::string& name, const std::string& owner);
    // Leaves the queue. A grant that came meanwhile is returned if `keep_grant`, else passed on.
    std::optional<attempt_result> leave(const claim& requested, bool keep_grant);
    release_result release(const claim& requested);
    void renew(std::span<renewal> batch);
    // Empty: the caller does not hold the lock any more.
    std::optional<attempt_result> downgrade(const claim& requested);
    void resize(const std::string& name, std::uint32_t permits);
    bool force_release(const std::string& name, fencing_token expected = {});
    lock_info inspect(const std::string& name);
    std::vector<lock_info> list(const std::string& prefix);
    file_report examine();
    // Ends a wait for other connections at once. May be called on any thread.
    void stop_waiting() noexcept { stop_waiting_ = true; }
    // Closes the file and the socket; the next use opens them again.
    void close() noexcept;

private:
    friend class latch_store;
    struct holder_record {
        std::string owner, client_address;
        identity client_identity;
        std::chrono::system_clock::time_point since{};
        time_point expires{};
        fencing_token token;
        lock_mode mode = lock_mode::exclusive;
        std::uint32_t permits = 0;
        bool is_live = false;  // whether the lease was live when the row was read
    };
    // The holders whose leases have not ended, all in one mode; and whether the file has expired
    // rows.
    struct holder_set {
        std::vector<holder_record> records;
        bool has_expired = false;

        [[nodiscard]] const holder_record* find(std::string_view owner) const noexcept;
    };
    struct waiter_record {
        std::string owner, client_address;
        identity client_identity;
        duration ttl{};
        bool is_live = false;  // the row has not expired; the client may have ended: see `is_dead`
        lock_mode mode = lock_mode::exclusive;
        std::uint32_t permits = 0;
    };

    struct served_queue;

    void open(duration longest_wait = database::default_wait);
    void connect(duration longest_wait);
    void disconnect() noexcept;
    [[nodiscard]] bool was_replaced(file_identity::state state_seen) const;
    // Closes a file that was deleted or replaced: the holds in it are lost.
    void abandon();
    void recheck_files();
    void expect_same_file();
    void delete_expired_rows();
    std::optional<attempt_result> remember_grant(const claim& requested,
                                                 std::optional<attempt_result> result);
    void note_grant(const std::string& owner, time_point expires, fencing_token token);
    std::int64_t issue_token();
    [[nodiscard]] bool is_live(std::string_view boot_id, std::int64_t set_at, time_point expires,
                               time_point now) const noexcept;
    template <class Step>
    auto transact(durability level, Step step);
    void send_notifications() noexcept;
    template <class Step>
    auto read(Step step);

    attempt_result acquire_or_enqueue(const claim& requested, bool may_wait, bool already_queued);
    holder_record read_holder(const statement& row, time_point now) const;
    holder_set find_holders(const std::string& name, time_point now);
    std::optional<holder_record> find_holder(const std::string& name, const std::string& owner,
                                             time_point now);
    void insert_holder(const std::string& name, holder_record holder, holder_set& holders,
                       time_point now);
    void delete_expired_holders(const std::string& name, holder_set& holders, time_point now);
    void enqueue_waiter(const claim& requested, time_point now);
    std::optional<waiter_record> first_waiter(const std::string& name, time_point now);
    // True if its row has expired or its client has ended.
    bool is_dead(const waiter_record& waiter);

    std::uint32_t total_permits_of(const std::string& name);
    // `already_queued`: the total was checked when the claim joined the queue.
    void check_permits(claim requested, bool already_queued);
    // As `total_permits_of`; 0 without reading the file if the share is not of permits.
    std::uint32_t total_permits_for(const std::string& name, core::lock_share share);
    // True if `grant_waiters` would remove the first waiter from the queue: grant it the lock,
    // refuse it, or discard it as dead.
    bool can_serve_waiter(const std::string& name, const holder_set& holders, time_point now);
    // Grants the lock to the first waiters as long as they fit. True: a waiter is left that does
    // not fit. A granted waiter gets a claim window, except `caller`, which gets its whole ttl.
    bool grant_waiters(const std::string& name, holder_set& holders, time_point now,
                       const claim* caller = nullptr);
    attempt_result waiting_result(const claim& requested, const holder_set& holders,
                                  time_point now);
    lock_info describe(const std::string& name, holder_set holders, time_point now);

    settings settings_;
    runtime& time_;
    boost::asio::any_io_executor worker_executor_;
    event_handlers handlers_;
    std::atomic<bool> stop_waiting_ = false;
    std::string boot_id_;
    std::unique_ptr<notifier> notifier_;
    std::unique_ptr<database> database_;
    std::unique_ptr<open_mark> open_mark_;
    std::unique_ptr<file_identity> files_;
    std::unique_ptr<statements> sql_;
    // This client's holds, by owner, with the ends of their leases. Only these are renewed: in
    // another file, a row of the same owner proves nothing.
    std::map<std::string, time_point> own_holds_;
    // The newest token that this client has issued, for itself or for others, or has received.
    std::int64_t newest_token_ = 0;
    duration longest_wait_ = database::default_wait;  // of the next transaction, for the file
    std::vector<std::pair<std::string, notification>>
        pending_notifications_;  // sent when the transaction is on the disk
};

template <class Step>
auto store::transact(durability level, Step step) {
    const auto longest_wait = std::exchange(longest_wait_, database::default_wait);
    try {
        open(longest_wait);
        pending_notifications_.clear();
        database_->set_longest_wait(longest_wait);
        transaction current(*database_, level);
        // The time is read after the wait for the file, and before another process can see the
        // changes.
        auto result = step(time_.now());
        current.commit();
        expect_same_file();
        send_notifications();
        return result;
    } catch (const database_error& failed) {
        if (!failed.is_transient()) disconnect();
        throw;
    }
}

template <class Step>
auto store::read(Step step) {
    try {
        open();
        return step(time_.now());
    } catch (const database_error& failed) {
        if (!failed.is_transient()) disconnect();
        throw;
    }
}

}  // namespace pawl::sqlite
