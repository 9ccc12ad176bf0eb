// One connection to one SQLite file: statements, transactions, and errors as sentences.
#pragma once

#include <pawl/error.hpp>
#include <pawl/runtime.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace pawl::sqlite {

// `passing`: the same call may succeed later. Another connection was busy, or the disk was full.
class database_error : public error {
public:
    database_error(errc code, const std::string& sentence, bool is_passing)
        : error(code, sentence), passing(is_passing) {}
    bool passing;
};

class busy_error : public database_error {
public:
    explicit busy_error(const std::string& sentence)
        : database_error(errc::unavailable, sentence, true) {}
};

// Whether the system's error number says that the disk, or the user's share of it, is full.
[[nodiscard]] bool is_out_of_space(int system_error) noexcept;
[[nodiscard]] database_error disk_full(const std::string& path);

// full: on the disk before it returns. normal: survives the process, not a power cut.
enum class durability : std::uint8_t { normal, full };

// Used by one thread at a time. Every member throws database_error.
class database {
public:
    // Opens a file that is there. Waits for other connections up to 3 s, or until `hurry`, which
    // any thread may set.
    database(std::string path, runtime& time, const std::atomic<bool>& hurry);
    ~database();
    database(const database&) = delete;
    database& operator=(const database&) = delete;

    void execute(const char* sql);
    [[nodiscard]] std::int64_t number(const char* sql);
    [[nodiscard]] std::string text(const char* sql);
    // Rows that the newest statement changed.
    [[nodiscard]] int changes() const noexcept;
    // The file was deleted or replaced: what we write, nobody else sees.
    [[nodiscard]] bool moved() const noexcept;
    // Closing it will not touch what is now at the path.
    void abandon() noexcept;
    // Takes effect with the next transaction.
    void sync(durability how);

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
    const std::atomic<bool>& hurry_;
    sqlite3* handle_ = nullptr;
    time_point busy_since_{};
    durability sync_ = durability::full;
};

// A prepared statement; `with` binds its arguments in order and starts it again.
class statement {
public:
    statement(database& on, const char* sql);
    ~statement();
    statement(const statement&) = delete;
    statement& operator=(const statement&) = delete;

    template <class... Args>
    statement& with(const Args&... args) {
        reset();
        int at = 0;
        (bind(++at, args), ...);
        return *this;
    }
    // True: there is a row. False: done, and reset.
    bool next();
    void run() {
        while (next()) {}
    }
    // Throws when it did not write exactly one row: then the file is not as we made it.
    void write_row();
    void reset() noexcept;

    [[nodiscard]] std::string text(int column) const;
    [[nodiscard]] std::int64_t number(int column) const noexcept;

private:
    void bind(int at, std::string_view value);
    void bind(int at, const std::string& value) { bind(at, std::string_view(value)); }
    void bind(int at, std::int64_t value);

    database& on_;
    sqlite3_stmt* handle_ = nullptr;
};

// BEGIN IMMEDIATE until `commit`, or ROLLBACK. One at a time.
class transaction {
public:
    transaction(database& on, durability how);
    ~transaction();
    transaction(const transaction&) = delete;
    transaction& operator=(const transaction&) = delete;
    void commit();

private:
    database& on_;
    bool open_ = true;
};

}  // namespace pawl::sqlite
