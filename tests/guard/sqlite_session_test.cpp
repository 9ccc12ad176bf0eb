// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Connections to SQLite that are set up in an unusual way.
#include "test_database.hpp"

#if PAWL_WITH_SQLITE

#include <pawl/guard/async_sqlite.hpp>
#include <pawl/guard/sqlite.hpp>
#include <support/eventually.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include <sqlite3.h>

#include <atomic>
#include <chrono>
#include <future>

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

struct slow_statement {
    std::atomic<bool> runs = false;
    std::atomic<bool> may_end = false;
};

// A function of SQL that ends when it may.
void wait_slowly(sqlite3_context* call, int, sqlite3_value**) {
    auto* state = static_cast<slow_statement*>(::sqlite3_user_data(call));
    state->runs = true;
    state->may_end.wait(false);
    ::sqlite3_result_int(call, 7);
}

// The handle belongs to the thread that runs a statement, until its end.
TEST(AsyncSqliteSession, EndsAStatementBeforeACancellation) {
    const auto handle = open_shared(":memory:");
    slow_statement state;
    ASSERT_EQ(::sqlite3_create_function(handle.get(), "wait_slowly", 0, SQLITE_UTF8, &state,
                                        &wait_slowly, nullptr, nullptr),
              SQLITE_OK);
    asio::thread_pool worker(1);
    guard::async_sqlite_connection view(worker.get_executor(), handle.get());
    const guard::statement create{"CREATE TABLE facts AS SELECT wait_slowly() AS id"};
    asio::io_context loop;
    asio::cancellation_signal cancel;
    auto ended = asio::co_spawn(loop, view.execute(create),
                                asio::bind_cancellation_slot(cancel.slot(), asio::use_future));
    EXPECT_TRUE(support::eventually([&] {
        loop.poll();
        return state.runs.load();
    }));
    cancel.emit(asio::cancellation_type::terminal);
    loop.poll();
    EXPECT_EQ(ended.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
    state.may_end = true;
    state.may_end.notify_all();
    loop.run();
    worker.join();
    EXPECT_EQ(ended.wait_for(std::chrono::seconds(0)), std::future_status::ready);
    guard::sqlite_connection blocking(handle.get());
    const auto facts = blocking.execute({"SELECT id FROM facts"});
    EXPECT_EQ(guard::as_number(facts.values.at(0).at(0)), 7) << "the statement has run to its end";
}

}  // namespace
}  // namespace guard_tests

#endif
