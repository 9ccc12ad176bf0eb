// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "../owned_connection.hpp"

#include <pawl/guard/open_database.hpp>
#include <pawl/guard/sqlite.hpp>
#include <pawl/sqlite.hpp>

#include <sqlite3.h>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace pawl::guard {
namespace {

constexpr int busy_ms = 5000;

struct close_sqlite {
    void operator()(sqlite3* handle) const noexcept { ::sqlite3_close(handle); }
};
using sqlite_handle = std::unique_ptr<sqlite3, close_sqlite>;

using owned_sqlite = owned_connection<sqlite_handle, sqlite_connection>;

// For this user alone, as the file with the locks.
void make_private_file(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
        throw database_error("The file " + path + " cannot be opened: " + std::strerror(errno) +
                             "; give this user the right to write it and its folder.");
    ::close(file);
}

void require_file(const std::string& path) {
    if (::access(path.c_str(), F_OK) != 0 && errno == ENOENT)
        throw database_error("There is no file " + path +
                             ", so no program has stored records there; check the path.");
}

}  // namespace

// Declared by the list that the build makes.
std::unique_ptr<connection> open_sqlite(std::string_view url, if_missing file);

std::unique_ptr<connection> open_sqlite(std::string_view url, if_missing file) {
    const auto path = sqlite::parse(url).path + ".records";
    if (file == if_missing::create)
        make_private_file(path);
    else
        require_file(path);
    sqlite3* opened = nullptr;
    const int code = ::sqlite3_open_v2(path.c_str(), &opened,
                                       SQLITE_OPEN_READWRITE | SQLITE_OPEN_EXRESCODE, nullptr);
    sqlite_handle handle(opened);
    if (code != SQLITE_OK)
        throw database_error("The file " + path + " cannot be opened: " + ::sqlite3_errstr(code) +
                             ".");
    ::sqlite3_busy_timeout(handle.get(), busy_ms);
    auto database = std::make_unique<owned_sqlite>(std::move(handle));
    database->execute({"PRAGMA journal_mode = WAL"});
    database->execute({"PRAGMA synchronous = FULL"});
    return database;
}

}  // namespace pawl::guard
