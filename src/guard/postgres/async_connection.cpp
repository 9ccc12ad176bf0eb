// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "parameters.hpp"
#include "results.hpp"

#include <pawl/guard/async_postgres.hpp>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace pawl::guard {

namespace asio = boost::asio;
using descriptor_base = asio::posix::descriptor_base;

async_postgres_connection::async_postgres_connection(const asio::any_io_executor& executor,
                                                     PGconn* handle)
    : handle_(handle), socket_(executor) {
    if (::PQsocket(handle) < 0 || ::PQsetnonblocking(handle, 1) != 0)
        throw_postgres_failure(handle);
    socket_.assign(::PQsocket(handle));
}

async_postgres_connection::~async_postgres_connection() {
    try {
        socket_.release();
    } catch (...) {  // the socket is libpq's in any case
    }
}

// A server whose answers nobody reads may wait for that, and read no further.
asio::awaitable<void> async_postgres_connection::send() {
    using namespace asio::experimental::awaitable_operators;
    int unsent = ::PQflush(handle_);
    while (unsent > 0) {
        (void)co_await (socket_.async_wait(descriptor_base::wait_write, asio::use_awaitable) ||
                        socket_.async_wait(descriptor_base::wait_read, asio::use_awaitable));
        if (::PQconsumeInput(handle_) == 0) throw_postgres_failure(handle_);
        unsent = ::PQflush(handle_);
    }
    if (unsent < 0) throw_postgres_failure(handle_);
}

asio::awaitable<void> async_postgres_connection::wait_for_result() {
    while (::PQisBusy(handle_) != 0) {
        co_await socket_.async_wait(descriptor_base::wait_read, asio::use_awaitable);
        if (::PQconsumeInput(handle_) == 0) throw_postgres_failure(handle_);
    }
}

asio::awaitable<rows> async_postgres_connection::execute(const statement& to_run) {
    const postgres_parameters all(to_run);
    if (::PQsendQueryParams(handle_, to_run.text.c_str(), all.count(), nullptr, all.values(),
                            all.lengths(), all.formats(), 0) == 0)
        throw_postgres_failure(handle_);
    co_await send();
    postgres_result result;
    for (;;) {
        co_await wait_for_result();
        postgres_result next(::PQgetResult(handle_));
        if (!next) break;
        if (!result) result = std::move(next);  // an error that follows is of the connection
    }
    if (!result) throw_postgres_failure(handle_);
    co_return rows_of(handle_, result.get(), to_run.text);
}

bool async_postgres_connection::in_transaction() const noexcept {
    return is_in_postgres_transaction(handle_);
}

}  // namespace pawl::guard
