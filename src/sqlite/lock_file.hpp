// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One client's connection to the file: it is opened, recognised and closed here, and every
// transaction runs here. docs/backends/sqlite.md explains it.
#pragma once

#include "core/util/spi.hpp"
#include "file_identity.hpp"
#include "file_location.hpp"
#include "notifier.hpp"
#include "statements.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::sqlite {

// Only the worker uses it; the first use opens the file. Every member that is not noexcept
// may throw pawl::error; afterwards the same call may be made again.
class lock_file {
public:
    struct settings {
        std::string path;
        std::string name_space;
        identity client_identity;
        std::function<void(std::string_view)> log;
        bool make_folder = false;
        std::function<std::string()> read_boot_id = current_boot_id;
        notifier_factory make_notifier = make_socket_notifier;
    };
    // Called on the worker.
    struct event_handlers {
        std::function<void(notification)> on_notification;
        std::function<void()> on_replaced;  // the holds in the file are lost
    };

    lock_file(settings file_settings, runtime& time, boost::asio::any_io_executor worker_executor,
              event_handlers handlers);
    ~lock_file();

    // The step gets the time. It is read after the wait for the file, and before another process
    // can see the changes. The notifications are sent when the changes are on the disk.
    template <class Step>
    auto transact(sync_level level, Step step);
    template <class Step>
    auto read(Step step);
    // How long the next transaction waits for other users of the file, at most.
    void limit_wait(duration longest) noexcept {
        longest_wait_ = std::min(longest, database::default_wait);
    }
    // Ends a wait for other connections at once. May be called on any thread.
    void stop_waiting() noexcept { stop_waiting_ = true; }
    // Closes the file and the socket; the next use opens them again.
    void close() noexcept;

    // These are for steps of `transact` and `read`.
    [[nodiscard]] database& connection() noexcept { return *database_; }
    [[nodiscard]] statements& sql() noexcept { return *sql_; }
    [[nodiscard]] const std::string& boot_id() const noexcept { return boot_id_; }
    [[nodiscard]] const std::string& name_space() const noexcept { return settings_.name_space; }
    [[nodiscard]] const identity& client_identity() const noexcept {
        return settings_.client_identity;
    }
    [[nodiscard]] runtime& time() const noexcept { return time_; }
    // Of this client, for the rows.
    [[nodiscard]] const std::string& address() const noexcept { return notifier_->address(); }
    // False: the client with this address has certainly ended.
    [[nodiscard]] bool is_alive(std::string_view address) {
        return notifier_->presence_of(address) != notifier::presence::gone;
    }
    [[nodiscard]] bool can_notify() {
        return notifier_->presence_of(address()) == notifier::presence::present;
    }
    [[nodiscard]] bool is_live(std::string_view boot_id, std::int64_t set_at, time_point expires,
                               time_point now) const noexcept;
    std::int64_t issue_token();
    // The client has received this token.
    void note_token(fencing_token token) noexcept {
        newest_token_ = std::max(newest_token_, static_cast<std::int64_t>(token.value()));
    }
    // Sends it after the transaction.
    void notify(std::string address, notification message) {
        notifications_.emplace_back(std::move(address), std::move(message));
    }

private:
    void open(duration longest_wait = database::default_wait);
    void connect(duration longest_wait);
    void disconnect() noexcept;
    [[nodiscard]] bool was_replaced(file_identity::state state_seen) const;
    // Closes a file that was deleted or replaced: the holds in it are lost.
    void abandon();
    void recheck_files();
    void expect_same_file();
    void delete_expired_rows();
    void send_notifications() noexcept;

    settings settings_;
    runtime& time_;
    boost::asio::any_io_executor worker_executor_;
    event_handlers handlers_;
    std::atomic<bool> stop_waiting_ = false;
    std::string boot_id_;
    std::shared_ptr<notifier> notifier_;
    std::unique_ptr<database> database_;
    std::unique_ptr<open_mark> open_mark_;
    std::unique_ptr<file_identity> files_;
    std::unique_ptr<statements> sql_;
    // The newest token that this client has issued, for itself or for others, or has received.
    std::int64_t newest_token_ = 0;
    duration longest_wait_ = database::default_wait;  // of the next transaction, for the file
    std::vector<std::pair<std::string, notification>> notifications_;  // by address
};

template <class Step>
auto lock_file::transact(sync_level level, Step step) {
    const auto longest_wait = std::exchange(longest_wait_, database::default_wait);
    try {
        open(longest_wait);
        notifications_.clear();
        database_->set_longest_wait(longest_wait);
        transaction current(*database_, level);
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
auto lock_file::read(Step step) {
    try {
        open();
        return step(time_.now());
    } catch (const database_error& failed) {
        if (!failed.is_transient()) disconnect();
        throw;
    }
}

}  // namespace pawl::sqlite
