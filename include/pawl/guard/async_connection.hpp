// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A program's own connection to its database, for coroutines: as pawl/guard/connection.hpp.
#pragma once

#include <pawl/detail/asio_settings.hpp>
#include <pawl/guard/connection.hpp>

#include <boost/asio/awaitable.hpp>

#include <functional>

namespace pawl::guard {

// A view of the program's connection, which it neither opens nor closes, and which must outlive the
// view. Not thread-safe: used by one coroutine at a time.
class async_connection {
public:
    virtual ~async_connection() = default;

    // Runs the statement, which must outlive the call: name it before the co_await. Throws
    // `conflict`, or another database_error.
    //
    // Cancellation: terminal. Throws boost::system::system_error with operation_aborted. It is not
    // known then whether the statement was carried out, and the connection cannot be used any more.
    virtual boost::asio::awaitable<rows> execute(const statement& to_run) = 0;
    // Does not compile: some compilers destroy a temporary inside a co_await twice.
    boost::asio::awaitable<rows> execute(statement&& to_run) = delete;
    // The same for every call.
    [[nodiscard]] virtual guard::dialect dialect() const noexcept = 0;
    // As connection::in_transaction.
    [[nodiscard]] virtual bool in_transaction() const noexcept = 0;

private:
    friend class table_checks;
    std::uint32_t checked_tables_ = 0;  // Pawl's tables, a bit each
};

// What async_transaction carries out: name it before the co_await.
using transaction_work = std::function<boost::asio::awaitable<void>()>;

// Begins a transaction, runs the work, and commits; if the work throws, rolls back and throws the
// same. As the class `transaction`, which has the details. `db` and `work` must outlive the call.
boost::asio::awaitable<void> async_transaction(async_connection& db, const transaction_work& work);

}  // namespace pawl::guard
