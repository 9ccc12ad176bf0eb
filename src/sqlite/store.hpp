// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The steps of the protocol, each in one transaction; serving the queue may be a transaction of its
// own. docs/backends/sqlite.md explains it.
#pragma once

#include "lock_file.hpp"

#include "core/store/lease_table.hpp"

#include <map>
#include <optional>
#include <span>

namespace pawl::sqlite {

using core::attempt_result;

// The values that `examine` reads from the file.
struct file_report {
    std::string file_system, sqlite_version, journal_mode, integrity;
    std::int64_t bytes = 0;
    duration commit_time{};  // for one transaction, to the disk
    bool can_notify = false;
    file_rights rights;
};

// One client's locks in the file. Only the worker uses it; the first use opens the file.
// Every member that is not noexcept may throw pawl::error; afterwards the same call may be made
// again.
class store {
public:
    using settings = lock_file::settings;
    // Called on the worker.
    struct event_handlers {
        std::function<void(notification)> on_notification;
        // The file was replaced: the hold of this owner has ended.
        std::function<void(const std::string& owner)> on_loss;
    };

    store(settings store_settings, runtime& time, boost::asio::any_io_executor worker_executor,
          event_handlers handlers);

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
    void stop_waiting() noexcept { file_.stop_waiting(); }
    // Closes the file and the socket; the next use opens them again.
    void close() noexcept;
    // For latches.
    [[nodiscard]] lock_file& file() noexcept { return file_; }

private:
    // Runs a step with the lock's `lease_table` in a transaction.
    template <class Step>
    auto run(const std::string& name, sync_level level, Step step);
    // As `run`, without waiting for the disk unless the step must serve the queue.
    template <class Step>
    auto run_cheaply(const std::string& name, Step step);
    attempt_result remember_grant(const std::string& owner, attempt_result result);

    // This client's holds, by owner, with the ends of their leases. Only these are renewed: in
    // another file, a row of the same owner proves nothing.
    std::map<std::string, time_point> own_holds_;
    lock_file file_;
};

}  // namespace pawl::sqlite
