// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A view of a connection to a SQLite file, for coroutines.
#pragma once

#include <pawl/guard/async_connection.hpp>

#include <boost/asio/any_io_executor.hpp>

// SQLite's sqlite3.
struct sqlite3;

namespace pawl::guard {

// As sqlite_connection. SQLite always blocks: it waits for the disk, and for other writers. So the
// statements run on an executor of their own, such as that of a boost::asio::thread_pool, which
// must outlive the view. The coroutine itself stays on its executor. A cancellation waits for the
// end of a statement that runs.
class async_sqlite_connection final : public async_connection {
public:
    // Runs nothing. The executor is that for the statements.
    async_sqlite_connection(boost::asio::any_io_executor worker, sqlite3* handle)
        : worker_(std::move(worker)), handle_(handle) {}

    // As `async_connection`.
    using async_connection::execute;
    boost::asio::awaitable<rows> execute(const statement& to_run) override;
    [[nodiscard]] guard::dialect dialect() const noexcept override { return dialect::sqlite; }
    [[nodiscard]] bool in_transaction() const noexcept override;

private:
    boost::asio::any_io_executor worker_;
    sqlite3* handle_;
};

}  // namespace pawl::guard
