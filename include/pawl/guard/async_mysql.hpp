// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A view of a connection of libmariadb, for coroutines.
#pragma once

#include <pawl/guard/async_connection.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

// libmariadb's MYSQL.
struct st_mysql;

namespace pawl::guard {

// As mysql_connection. The program must have set MYSQL_OPT_NONBLOCK before it connected. The view
// waits for the connection's socket on the executor, which is that of its coroutines. With TLS,
// libmariadb blocks the thread until an answer has come. Timeouts of the library do not apply.
// Each statement with parameters costs a round trip more, for MariaDB, too.
class async_mysql_connection final : public async_connection {
public:
    // Throws boost::system::system_error if the system has no room for another socket to wait for,
    // and database_error for a closed connection.
    async_mysql_connection(const boost::asio::any_io_executor& executor, st_mysql* handle);
    // The socket stays open.
    ~async_mysql_connection() override;
    async_mysql_connection(const async_mysql_connection&) = delete;
    async_mysql_connection& operator=(const async_mysql_connection&) = delete;

    // As `async_connection`.
    using async_connection::execute;
    boost::asio::awaitable<rows> execute(const statement& to_run) override;
    [[nodiscard]] guard::dialect dialect() const noexcept override { return dialect::mysql; }
    [[nodiscard]] bool in_transaction() const noexcept override;

private:
    boost::asio::awaitable<int> wait(int events);
    boost::asio::awaitable<rows> run_text(const statement& to_run);
    boost::asio::awaitable<rows> run_prepared(const statement& to_run);
    boost::asio::awaitable<void> roll_back();
    template <class Start, class Continue>
    boost::asio::awaitable<void> drive(Start start, Continue next);

    st_mysql* handle_;
    boost::asio::posix::stream_descriptor socket_;
};

}  // namespace pawl::guard
