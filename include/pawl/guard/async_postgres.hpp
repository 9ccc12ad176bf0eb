// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A view of a connection of libpq, for coroutines.
#pragma once

#include <pawl/guard/async_connection.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

// libpq's PGconn.
struct pg_conn;

namespace pawl::guard {

// As postgres_connection. It waits for the connection's socket on the executor, which is that of
// its coroutines. The program must make a view after it has connected, and again after PQreset.
class async_postgres_connection final : public async_connection {
public:
    // Makes the connection a non-blocking one. Throws boost::system::system_error if the system has
    // no room for another socket to wait for, and database_error for a closed connection.
    async_postgres_connection(const boost::asio::any_io_executor& executor, pg_conn* handle);
    // The socket stays open.
    ~async_postgres_connection() override;
    async_postgres_connection(const async_postgres_connection&) = delete;
    async_postgres_connection& operator=(const async_postgres_connection&) = delete;

    // As `async_connection`.
    using async_connection::execute;
    boost::asio::awaitable<rows> execute(const statement& to_run) override;
    [[nodiscard]] guard::dialect dialect() const noexcept override { return dialect::postgres; }
    [[nodiscard]] bool in_transaction() const noexcept override;

private:
    boost::asio::awaitable<void> send();
    boost::asio::awaitable<void> wait_for_result();

    pg_conn* handle_;
    boost::asio::posix::stream_descriptor socket_;
};

}  // namespace pawl::guard
