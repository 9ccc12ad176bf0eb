// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A file that all clients use. Their kills and pauses are the most important faults: they happen
// within transactions, too.
#include "environments.hpp"

#include <support/temp_folder.hpp>

#include <filesystem>
#include <stdexcept>

#include <sqlite3.h>

namespace real {

namespace {

using namespace std::chrono_literals;

class database {
public:
    explicit database(const std::string& path) {
        if (::sqlite3_open_v2(path.c_str(), &handle_, SQLITE_OPEN_READWRITE, nullptr) != SQLITE_OK)
            throw std::runtime_error("cannot open " + path);
    }
    database(const database&) = delete;
    database& operator=(const database&) = delete;
    ~database() { ::sqlite3_close(handle_); }

    // False: another process uses the file.
    [[nodiscard]] bool execute(const char* statement) {
        const int result = ::sqlite3_exec(handle_, statement, nullptr, nullptr, nullptr);
        if (result != SQLITE_OK && result != SQLITE_BUSY && result != SQLITE_LOCKED)
            throw std::runtime_error(std::string(statement) + ": " + ::sqlite3_errmsg(handle_));
        return result == SQLITE_OK;
    }

private:
    sqlite3* handle_ = nullptr;
};

class sqlite_environment : public environment {
public:
    [[nodiscard]] client_access access(safeguards) override { return {.url = "sqlite:" + path_}; }
    [[nodiscard]] support::machine client_machine(std::size_t) const override { return {}; }
    [[nodiscard]] std::vector<fault> faults() override {
        return {{.name = "busy", .run = [this](pace& pace) { keep_busy(pace); }},
                {.name = "checkpoint", .run = [this](pace& pace) { write_back(pace); }}};
    }
    [[nodiscard]] std::vector<server_period> history() override { return {}; }
    [[nodiscard]] std::string logs() override { return {}; }

private:
    void wait_for_file(pace& pace) const {
        pace.until([this] { return std::filesystem::exists(path_); }, "no client makes the file");
    }

    // No client can write meanwhile.
    void keep_busy(pace& pace) {
        wait_for_file(pace);
        database file(path_);
        pace.until([&] { return file.execute("BEGIN IMMEDIATE"); }, "the file stays busy");
        pace.pause(50ms, 3s);
        (void)file.execute("ROLLBACK");
    }

    // The write-ahead log goes into the file, as far as the clients allow it.
    void write_back(pace& pace) {
        wait_for_file(pace);
        database file(path_);
        for (auto times = 1 + pace.pick(5); times > 0; --times) {
            (void)file.execute("PRAGMA wal_checkpoint(TRUNCATE)");
            pace.pause(0ms, 300ms);
        }
    }

    support::temp_folder folder_;
    const std::string path_ = folder_.file("locks.db");
};

}  // namespace

std::vector<std::string> sqlite_faults() { return {"busy", "checkpoint"}; }

std::unique_ptr<environment> start_sqlite(const environment_options&) {
    return std::make_unique<sqlite_environment>();
}

}  // namespace real
