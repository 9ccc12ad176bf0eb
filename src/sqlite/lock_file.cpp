// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "lock_file.hpp"

#include "schema.hpp"

#include "core/util/clock_token.hpp"

#include <boost/asio/post.hpp>

#include <sqlite3.h>

#include <limits>

namespace pawl::sqlite {

lock_file::lock_file(settings file_settings, runtime& time,
                     boost::asio::any_io_executor worker_executor, event_handlers handlers)
    : settings_(std::move(file_settings)),
      time_(time),
      worker_executor_(std::move(worker_executor)),
      handlers_(std::move(handlers)) {}

lock_file::~lock_file() = default;

void lock_file::open(duration longest_wait) {
    if (database_) {
        const auto state_seen = files_->current_state();
        if (was_replaced(state_seen))
            abandon();
        else
            files_->refuse_second_name(state_seen);
    }
    if (!database_) connect(longest_wait);
}

void lock_file::connect(duration longest_wait) {
    const auto path = path_without_links(checked_path(settings_.path));
    refuse_shared(path, file_system_of(path));
    boot_id_ = settings_.read_boot_id();
    expect_same_target(settings_.path, path);
    // Made before the file is opened: `open` takes an open file as ready, and each use of the file
    // needs the notifier.
    if (!notifier_)
        notifier_ = settings_.make_notifier(worker_executor_, time_, handlers_.on_notification);
    prepare_file(path, settings_.make_folder);
    expect_same_target(settings_.path, path);
    // The identity is read before anything is written under this name, and again with the log and
    // its index.
    const file_identity identity_before(settings_.path, path);
    identity_before.refuse_second_name(identity_before.current_state());
    try {
        open_mark_ = std::make_unique<open_mark>(path, [this] { recheck_files(); });
        database_ = std::make_unique<database>(path, time_, stop_waiting_, longest_wait);
        prepare_schema(*database_, time_, boot_id_);
        sql_ = std::make_unique<statements>(*database_);
        delete_expired_rows();
        files_ = std::make_unique<file_identity>(settings_.path, path);
        files_->refuse_second_name(files_->current_state());
        if (!open_mark_->shares_index(files_->index())) {
            open_mark_->warn_others();
            throw database_error(errc::unavailable,
                                 path +
                                     " was replaced under another client of this process, "
                                     "which is closing it; try again.",
                                 true);
        }
    } catch (...) {
        disconnect();
        throw;
    }
}

// Called on any thread.
void lock_file::recheck_files() {
    boost::asio::post(worker_executor_, [this] {
        try {
            if (database_ && was_replaced(files_->current_state())) abandon();
        } catch (...) {}  // the next use reports it
    });
}

bool lock_file::was_replaced(file_identity::state state_seen) const {
    return state_seen == file_identity::state::replaced || database_->was_moved();
}

void lock_file::abandon() {
    database_->abandon();
    open_mark_->warn_others();
    disconnect();
    handlers_.on_replaced();
    if (settings_.log)
        settings_.log(settings_.path +
                      ", or its -wal or -shm file, was deleted or replaced; its locks "
                      "are lost, and the new file is opened");
}

// Throws if the file is not at its path any more: no other program would see the changes.
void lock_file::expect_same_file() {
    if (!was_replaced(files_->current_state())) return;
    abandon();
    throw database_error(errc::unavailable,
                         settings_.path + " was deleted or replaced meanwhile; try again.", true);
}

// The transaction is on the disk, so this must not fail. A refresh finds what a lost message said.
void lock_file::send_notifications() noexcept {
    for (const auto& [address, message] : notifications_) {
        try {
            notifier_->send(address, message);
        } catch (const std::bad_alloc&) {}
    }
}

void lock_file::disconnect() noexcept {
    sql_.reset();
    files_.reset();
    database_.reset();
    // The mark is removed after the file is closed, so that no other connection takes itself for
    // the first one.
    open_mark_.reset();
}

void lock_file::close() noexcept {
    disconnect();
    notifier_.reset();
}

// Deletes the rows of dead clients at names that nobody has requested since.
void lock_file::delete_expired_rows() {
    const auto now = to_stored(time_.now());
    transaction deletion(*database_, sync_level::normal);
    for (const auto* ended : {"DELETE FROM waiters WHERE " PAWL_ROW_EXPIRED,
                              "DELETE FROM holders WHERE " PAWL_ROW_EXPIRED,
                              "DELETE FROM latches WHERE " PAWL_ROW_EXPIRED,
                              "DELETE FROM latch_places WHERE " PAWL_ROW_EXPIRED})
        statement(*database_, ended).with(boot_id_, now).run();
    deletion.commit();
}

// The same rule as PAWL_ROW_EXPIRED. A different boot id alone does not prove a reboot. A clock
// that is behind the row's `set_at` does: then the row's instants belong to another clock.
bool lock_file::is_live(std::string_view boot_id, std::int64_t set_at, time_point expires,
                        time_point now) const noexcept {
    return expires > now && (boot_id == boot_id_ || set_at <= to_stored(now));
}

// The new token is larger than the file's counter and than every token that this client has issued
// or received, and not smaller than the clock's: see docs/decisions/003.
std::int64_t lock_file::issue_token() {
    const auto least = std::max(core::clock_token(time_.wall_clock()), newest_token_ + 1);
    auto& counter_row = sql_->next_token.with(least);
    if (!counter_row.next()) database_->fail(SQLITE_CORRUPT);
    const auto token = counter_row.number(0);
    counter_row.run();
    if (token <= newest_token_ || token == std::numeric_limits<std::int64_t>::max())
        database_->fail(SQLITE_CORRUPT);
    newest_token_ = token;
    return token;
}

}  // namespace pawl::sqlite
