// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One connection to one SQLite file: statements, transactions, and errors as sentences.
#pragma once

#include "core/util/spi.hpp"

#include <pawl/error.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace pawl::sqlite {

// A failure of the file or of SQLite. Transient: another connection was busy, or the disk was full.
class database_error : public error {
public:
    database_error(errc code, const std::string& sentence, bool is_transient)
        : error(code, sentence, is_transient) {}
};

class busy_error : public database_error {
public:
    explicit busy_error(const std::string& sentence)
        : database_error(errc::unavailable, sentence, true) {}
};

// Whether the system's error number says that the disk, or the user's quota, is full.
[[nodiscard]] bool is_out_of_space(int system_error) noexcept;
[[nodiscard]] database_error disk_full(const std::string& path);

// full: on the disk before the commit returns. normal: survives the process, not a power cut.
enum class sync_level : std::uint8_t { normal, full };

// Used by one thread at a time. Every member throws database_error.
class database {
public:
    // Opens an existing file. Waits for other connections as `set_longest_wait` says, or until
    // `stop_waiting`, which any thread may set.
    database(std::string path, runtime& time, const std::atomic<bool>& stop_waiting,
             duration longest_wait);
    ~database();
    database(const database&) = delete;
    database& operator=(const database&) = delete;

    void execute(const char* sql);
    [[nodiscard]] std::int64_t number(const char* sql);
    [[nodiscard]] std::string text(const char* sql);
    // The number of rows that the last statement changed.
    [[nodiscard]] int changes() const noexcept;
    // Whether the file was deleted or replaced: no other program sees what is written to it.
    [[nodiscard]] bool was_moved() const noexcept;
    // After this, closing does not touch the file that is now at the path.
    void abandon() noexcept;
    // Takes effect with the next transaction.
    void set_sync(sync_level level);
    // How long a transaction waits while others use the file.
    void set_longest_wait(duration longest) noexcept { longest_wait_ = longest; }
    // A transaction takes well under a millisecond, plus one write to the disk.
    static constexpr duration default_wait = std::chrono::seconds(3);
    // False: the wait for others that began at this time is over.
    [[nodiscard]] bool may_wait(time_point began) const noexcept {
        return !stop_waiting_ && time_.now() - began <= longest_wait_;
    }

    [[nodiscard]] sqlite3* handle() const noexcept { return handle_; }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[noreturn]] void fail(int code) const;

private:
    friend int wait_for_others(void* self, int tries) noexcept;

    void open();
    void confine();
    [[noreturn]] void fail_to_open(int system_error) const;

    std::string path_;
    runtime& time_;
    const std::atomic<bool>& stop_waiting_;
    sqlite3* handle_ = nullptr;
    time_point busy_since_{};
    duration longest_wait_ = default_wait;
    sync_level sync_ = sync_level::full;
};

// A prepared statement. `with` binds its arguments in order and starts it again.
class statement {
public:
    statement(database& connection, const char* sql);
    ~statement();
    statement(const statement&) = delete;
    statement& operator=(const statement&) = delete;

    template <class... Args>
    statement& with(const Args&... args) {
        reset();
        int index = 0;
        (bind(++index, args), ...);
        return *this;
    }
    // True: there is a row. False: the statement is finished, and reset.
    bool next();
    void run() {
        while (next()) {}
    }
    // Throws if it did not write exactly one row: then another program has changed the tables.
    void write_row();
    void reset() noexcept;

    [[nodiscard]] std::string text(int column) const;
    [[nodiscard]] std::int64_t number(int column) const noexcept;

private:
    void bind(int index, std::string_view value);
    void bind(int index, const std::string& value) { bind(index, std::string_view(value)); }
    void bind(int index, std::int64_t value);

    database& connection_;
    sqlite3_stmt* handle_ = nullptr;
};

// BEGIN IMMEDIATE until `commit`, or ROLLBACK. One at a time.
class transaction {
public:
    transaction(database& connection, sync_level level);
    ~transaction();
    transaction(const transaction&) = delete;
    transaction& operator=(const transaction&) = delete;
    void commit();

private:
    database& connection_;
    bool open_ = true;
};

}  // namespace pawl::sqlite
