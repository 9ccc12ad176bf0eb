// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "run_statement.hpp"

#include <pawl/guard/async_sqlite.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <sqlite3.h>

namespace pawl::guard {

namespace asio = boost::asio;

namespace {

asio::awaitable<rows> run_on_worker(sqlite3* handle, const statement& to_run) {
    co_return run_statement(handle, to_run);
}

}  // namespace

asio::awaitable<rows> async_sqlite_connection::execute(const statement& to_run) {
    rows answer =
        co_await asio::co_spawn(worker_, run_on_worker(handle_, to_run), asio::use_awaitable);
    co_return answer;
}

bool async_sqlite_connection::in_transaction() const noexcept {
    return ::sqlite3_get_autocommit(handle_) == 0;
}

}  // namespace pawl::guard
