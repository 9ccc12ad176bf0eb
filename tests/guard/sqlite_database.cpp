// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "test_database.hpp"

#if PAWL_WITH_SQLITE

#include <support/temp_folder.hpp>

#include <pawl/guard/async_sqlite.hpp>
#include <pawl/guard/sqlite.hpp>

#include <boost/asio/thread_pool.hpp>

#include <sqlite3.h>

#include <optional>
#include <stdexcept>

namespace guard_tests {
namespace {

using sqlite_handle = std::unique_ptr<sqlite3, decltype(&::sqlite3_close)>;

sqlite_handle open_file(const std::string& path) {
    sqlite3* made = nullptr;
    const int code = ::sqlite3_open(path.c_str(), &made);
    sqlite_handle handle(made, &::sqlite3_close);
    if (code != SQLITE_OK) throw std::runtime_error(path + " cannot be opened");
    ::sqlite3_busy_timeout(made, 10'000);
    if (::sqlite3_exec(made, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL", nullptr,
                       nullptr, nullptr) != SQLITE_OK)
        throw std::runtime_error(::sqlite3_errmsg(made));
    return handle;
}

class sqlite_opened final : public open_connection {
public:
    explicit sqlite_opened(const std::string& path) : handle_(open_file(path)) {}
    guard::connection& view() override { return view_; }

private:
    sqlite_handle handle_;
    guard::sqlite_connection view_{handle_.get()};
};

class async_sqlite_opened final : public open_async_connection {
public:
    explicit async_sqlite_opened(const std::string& path) : handle_(open_file(path)) {}
    ~async_sqlite_opened() override { worker_.join(); }
    guard::async_connection& view() override { return view_; }
    guard::connection& blocking_view() override { return blocking_view_; }

private:
    sqlite_handle handle_;
    asio::thread_pool worker_{1};
    guard::async_sqlite_connection view_{worker_.get_executor(), handle_.get()};
    guard::sqlite_connection blocking_view_{handle_.get()};
};

class sqlite_database final : public test_database {
public:
    explicit sqlite_database(const std::string& address) : path_(address) {
        if (path_.empty()) path_ = folder_.emplace().file("test.db");
    }
    [[nodiscard]] guard::dialect dialect() const override { return guard::dialect::sqlite; }
    [[nodiscard]] std::string address() const override { return path_; }
    std::unique_ptr<open_connection> connect(const std::string&) override {
        return std::make_unique<sqlite_opened>(path_);
    }
    std::unique_ptr<open_async_connection> connect(asio::any_io_executor) override {
        return std::make_unique<async_sqlite_opened>(path_);
    }

private:
    std::optional<support::temp_folder> folder_;
    std::string path_;
};

}  // namespace

std::unique_ptr<test_database> make_sqlite(const std::string& address) {
    return std::make_unique<sqlite_database>(address);
}

}  // namespace guard_tests

#endif
