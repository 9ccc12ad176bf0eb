// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "database.hpp"

#include <sqlite3.h>

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <thread>

namespace pawl::sqlite {
namespace {

// A row has a name of at most 512 bytes, a command and some numbers.
constexpr int longest_row = 1 << 20;
constexpr int longest_statement = 1 << 16;
constexpr int most_columns = 64;
constexpr int most_depth = 50;
constexpr int longest_pattern = 50;

std::string why_not_opened(int system_error) {
    return system_error != 0 ? std::string(": ") + std::strerror(system_error) : std::string();
}

std::string wait_text(duration length) {
    using namespace std::chrono_literals;
    return length % 1s == 0s ? std::to_string(length / 1s) + " s"
                             : std::to_string(length / 1ms) + " ms";
}

}  // namespace

// SQLite's own handler sleeps up to 100 ms at a time, far longer than a client uses the file.
int wait_for_others(void* context, int tries) noexcept {
    auto& connection = *static_cast<database*>(context);
    if (tries == 0) connection.busy_since_ = connection.time_.now();
    if (!connection.may_wait(connection.busy_since_)) return 0;
    std::this_thread::sleep_for(std::chrono::microseconds(tries < 8 ? 50 << (tries / 2) : 2000));
    return 1;
}

database::database(std::string path, runtime& time, const std::atomic<bool>& stop_waiting,
                   duration longest_wait)
    : path_(std::move(path)),
      time_(time),
      stop_waiting_(stop_waiting),
      longest_wait_(longest_wait) {
    try {
        open();
    } catch (...) {
        ::sqlite3_close(handle_);
        throw;
    }
}

database::~database() { ::sqlite3_close(handle_); }

void database::open() {
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    if (const int code = ::sqlite3_open_v2(path_.c_str(), &handle_, flags, nullptr);
        code != SQLITE_OK) {
        if (handle_ == nullptr)
            throw database_error(errc::unavailable, "SQLite is out of memory; free some.", false);
        fail(code);
    }
    ::sqlite3_busy_handler(handle_, wait_for_others, this);
    confine();
    execute("PRAGMA synchronous = FULL");
}

// Other programs may have written the file: nothing in it is executed, and nothing in it costs more
// than the statements and rows of Pawl.
void database::confine() {
    ::sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    ::sqlite3_db_config(handle_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    ::sqlite3_db_config(handle_, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    ::sqlite3_db_config(handle_, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    ::sqlite3_db_config(handle_, SQLITE_DBCONFIG_ENABLE_FKEY, 0, nullptr);
    ::sqlite3_limit(handle_, SQLITE_LIMIT_LENGTH, longest_row);
    ::sqlite3_limit(handle_, SQLITE_LIMIT_SQL_LENGTH, longest_statement);
    ::sqlite3_limit(handle_, SQLITE_LIMIT_COLUMN, most_columns);
    ::sqlite3_limit(handle_, SQLITE_LIMIT_EXPR_DEPTH, most_depth);
    ::sqlite3_limit(handle_, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, longest_pattern);
    ::sqlite3_limit(handle_, SQLITE_LIMIT_ATTACHED, 0);
    ::sqlite3_limit(handle_, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
    ::sqlite3_limit(handle_, SQLITE_LIMIT_WORKER_THREADS, 0);
}

void database::execute(const char* sql) {
    if (const int code = ::sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr); code != SQLITE_OK)
        fail(code);
}

std::int64_t database::number(const char* sql) {
    statement query(*this, sql);
    return query.next() ? query.number(0) : 0;
}

std::string database::text(const char* sql) {
    statement query(*this, sql);
    return query.next() ? query.text(0) : std::string();
}

int database::changes() const noexcept { return ::sqlite3_changes(handle_); }

bool database::was_moved() const noexcept {
    int has_moved = 0;
    ::sqlite3_file_control(handle_, "main", SQLITE_FCNTL_HAS_MOVED, &has_moved);
    return has_moved != 0;
}

void database::abandon() noexcept {
    ::sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

void database::set_sync(sync_level level) {
    if (level == sync_) return;
    execute(level == sync_level::full ? "PRAGMA synchronous = FULL"
                                      : "PRAGMA synchronous = NORMAL");
    sync_ = level;
}

void database::fail(int code) const {
    const int system_error = ::sqlite3_system_errno(handle_);
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        throw busy_error(path_ + " was in use by another process for " + wait_text(longest_wait_) +
                         "; find a process that hangs or is stopped with `fuser`.");
    case SQLITE_NOTADB:
        throw database_error(
            errc::bad_option,
            path_ + " is not a SQLite database; choose another path for the locks.", false);
    case SQLITE_CORRUPT:
        throw database_error(
            errc::unavailable,
            path_ +
                " is damaged; stop all programs that use it and delete it with its -wal "
                "and -shm files.",
            false);
    case SQLITE_TOOBIG:
        throw database_error(
            errc::refused,
            path_ +
                " has a row or a definition that Pawl would not write; stop all programs "
                "that use it and delete it with its -wal and -shm files.",
            false);
    case SQLITE_FULL: throw disk_full(path_);
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        throw database_error(errc::refused,
                             path_ +
                                 " cannot be written; give this user the right to write it and "
                                 "its folder.",
                             false);
    case SQLITE_CANTOPEN: fail_to_open(system_error);
    default:
        if (is_out_of_space(system_error)) throw disk_full(path_);
        throw database_error(errc::unavailable,
                             path_ + ": " + ::sqlite3_errstr(code) + why_not_opened(system_error) +
                                 "; check the disk and the file's permissions.",
                             false);
    }
}

void database::fail_to_open(int system_error) const {
    if (is_out_of_space(system_error)) throw disk_full(path_);
    // SQLite tries again without the right to write, and then reports only that there is no file.
    if (::access(std::filesystem::path(path_).parent_path().c_str(), W_OK | X_OK) != 0)
        system_error = errno;
    const bool is_forbidden =
        system_error == EACCES || system_error == EPERM || system_error == EROFS;
    throw database_error(
        is_forbidden ? errc::refused : errc::unavailable,
        path_ + " cannot be opened" + why_not_opened(system_error) +
            "; choose a path in a folder that this user may write, or change its rights.",
        false);
}

bool is_out_of_space(int system_error) noexcept {
    return system_error == ENOSPC || system_error == EDQUOT;
}

database_error disk_full(const std::string& path) {
    return {errc::unavailable, "The disk of " + path + " is full; make room on it.", true};
}

statement::statement(database& connection, const char* sql) : connection_(connection) {
    const int code = ::sqlite3_prepare_v3(connection.handle(), sql, -1, SQLITE_PREPARE_PERSISTENT,
                                          &handle_, nullptr);
    if (code != SQLITE_OK) connection.fail(code);
}

statement::~statement() { ::sqlite3_finalize(handle_); }

bool statement::next() {
    const int code = ::sqlite3_step(handle_);
    if (code == SQLITE_ROW) return true;
    reset();
    if (code != SQLITE_DONE) connection_.fail(code);
    return false;
}

void statement::write_row() {
    run();
    if (connection_.changes() != 1) connection_.fail(SQLITE_CORRUPT);
}

void statement::reset() noexcept { ::sqlite3_reset(handle_); }

std::string statement::text(int column) const {
    const auto* data = ::sqlite3_column_text(handle_, column);
    const auto size = static_cast<std::size_t>(::sqlite3_column_bytes(handle_, column));
    return data == nullptr ? std::string() : std::string(reinterpret_cast<const char*>(data), size);
}

std::int64_t statement::number(int column) const noexcept {
    return ::sqlite3_column_int64(handle_, column);
}

void statement::bind(int index, std::string_view value) {
    const int code = ::sqlite3_bind_text(handle_, index, value.data(),
                                         static_cast<int>(value.size()), SQLITE_TRANSIENT);
    if (code != SQLITE_OK) connection_.fail(code);
}

void statement::bind(int index, std::int64_t value) {
    if (const int code = ::sqlite3_bind_int64(handle_, index, value); code != SQLITE_OK)
        connection_.fail(code);
}

transaction::transaction(database& connection, sync_level level) : connection_(connection) {
    connection.set_sync(level);
    connection.execute("BEGIN IMMEDIATE");
}

transaction::~transaction() {
    // Fails if SQLite has rolled back by itself; then there is nothing to do.
    if (open_) ::sqlite3_exec(connection_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void transaction::commit() {
    connection_.execute("COMMIT");
    open_ = false;
}

}  // namespace pawl::sqlite
