// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Connections to SQLite that are set up in an unusual way.
#include "test_database.hpp"

#if PAWL_WITH_SQLITE

#include <pawl/guard/sqlite.hpp>

#include <sqlite3.h>

namespace guard_tests {
namespace {

using sqlite_handle = std::unique_ptr<sqlite3, decltype(&::sqlite3_close)>;

sqlite_handle open_shared(const char* name) {
    sqlite3* made = nullptr;
    EXPECT_EQ(
        ::sqlite3_open_v2(name, &made, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI,
                          nullptr),
        SQLITE_OK);
    return {made, &::sqlite3_close};
}

// With extended codes, a lost lock has another number than SQLITE_LOCKED.
TEST(SqliteSession, KnowsAConflictByItsExtendedCode) {
    const auto* name = "file:extended?mode=memory&cache=shared";
    const auto writer = open_shared(name), other = open_shared(name);
    ::sqlite3_extended_result_codes(other.get(), 1);
    guard::sqlite_connection first(writer.get()), second(other.get());
    first.execute({"CREATE TABLE facts(id INTEGER)"});
    first.execute({"BEGIN IMMEDIATE"});
    first.execute({"INSERT INTO facts VALUES(1)"});
    try {
        second.execute({"INSERT INTO facts VALUES(2)"});
        FAIL() << "two writers";
    } catch (const guard::conflict& lost) {
        EXPECT_EQ(lost.code(), std::to_string(SQLITE_LOCKED_SHAREDCACHE));
    }
}

}  // namespace
}  // namespace guard_tests

#endif
