// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "prepared_statement.hpp"

#include <pawl/guard/async_mysql.hpp>

#include <boost/asio/use_awaitable.hpp>

#include <sys/socket.h>

#include <exception>
#include <optional>

namespace pawl::guard {

namespace asio = boost::asio;
using descriptor_base = asio::posix::descriptor_base;

async_mysql_connection::async_mysql_connection(const asio::any_io_executor& executor, MYSQL* handle)
    : handle_(handle), socket_(executor) {
    const auto socket = ::mysql_get_socket(handle);
    if (socket == MARIADB_INVALID_SOCKET) throw database_error("The connection is closed.");
    socket_.assign(socket);
}

async_mysql_connection::~async_mysql_connection() {
    try {
        socket_.release();
    } catch (...) {  // the socket is the library's in any case
    }
}

// The library waits for one direction, except while it connects with TLS.
asio::awaitable<int> async_mysql_connection::wait(int events) {
    const bool reads = (events & MYSQL_WAIT_READ) != 0;
    co_await socket_.async_wait(reads ? descriptor_base::wait_read : descriptor_base::wait_write,
                                asio::use_awaitable);
    co_return reads ? MYSQL_WAIT_READ : MYSQL_WAIT_WRITE;
}

// Runs a function of the library to its end.
template <class Start, class Continue>
asio::awaitable<void> async_mysql_connection::drive(Start start, Continue next) {
    int status = start();
    while (status != 0) {
        std::optional<int> events;
        try {
            events = co_await wait(status);
        } catch (...) {  // no function of the library may block for an answer after that
            ::shutdown(::mysql_get_socket(handle_), SHUT_RDWR);
            throw;
        }
        status = next(*events);
    }
}

asio::awaitable<rows> async_mysql_connection::run_text(const statement& to_run) {
    int failed = 0;
    const auto start = [&] {
        return ::mysql_real_query_start(&failed, handle_, to_run.text.data(), to_run.text.size());
    };
    const auto next = [&](int events) { return ::mysql_real_query_cont(&failed, handle_, events); };
    co_await drive(start, next);
    if (failed != 0) throw_mysql_failure(handle_);
    MYSQL_RES* stored = nullptr;
    const auto store = [&] { return ::mysql_store_result_start(&stored, handle_); };
    const auto store_on = [&](int events) {
        return ::mysql_store_result_cont(&stored, handle_, events);
    };
    co_await drive(store, store_on);
    const std::unique_ptr<MYSQL_RES, decltype(&::mysql_free_result)> owned(stored,
                                                                           &::mysql_free_result);
    co_return text_rows_of(handle_, stored, to_run.text);
}

asio::awaitable<rows> async_mysql_connection::run_prepared(const statement& to_run) {
    mysql_prepared prepared(handle_, to_run);
    auto* const open = prepared.get();
    int failed = 0;
    const auto prepare = [&] {
        return ::mysql_stmt_prepare_start(&failed, open, to_run.text.data(), to_run.text.size());
    };
    const auto prepare_on = [&](int events) {
        return ::mysql_stmt_prepare_cont(&failed, open, events);
    };
    co_await drive(prepare, prepare_on);
    if (failed != 0) prepared.throw_failure();
    prepared.bind_parameters();
    const auto run = [&] { return ::mysql_stmt_execute_start(&failed, open); };
    const auto run_on = [&](int events) {
        return ::mysql_stmt_execute_cont(&failed, open, events);
    };
    co_await drive(run, run_on);
    if (failed != 0) prepared.throw_failure();
    if (prepared.has_rows()) {
        const auto store = [&] { return ::mysql_stmt_store_result_start(&failed, open); };
        const auto store_on = [&](int events) {
            return ::mysql_stmt_store_result_cont(&failed, open, events);
        };
        co_await drive(store, store_on);
        if (failed != 0) prepared.throw_failure();
    }
    co_return prepared.read();
}

asio::awaitable<void> async_mysql_connection::roll_back() {
    const statement rollback{"ROLLBACK"};
    try {
        co_await run_text(rollback);
    } catch (const database_error&) {  // the connection is broken, which ends the transaction
    }
}

asio::awaitable<rows> async_mysql_connection::execute(const statement& to_run) {
    std::exception_ptr failure;
    try {
        rows answer;
        if (to_run.parameters.empty())
            answer = co_await run_text(to_run);
        else
            answer = co_await run_prepared(to_run);
        co_return answer;
    } catch (const conflict&) {
        failure = std::current_exception();
    }
    // A deadlock has ended the transaction, and the library does not know it yet.
    if (in_transaction()) co_await roll_back();
    std::rethrow_exception(failure);
}

bool async_mysql_connection::in_transaction() const noexcept {
    return is_in_mysql_transaction(handle_);
}

}  // namespace pawl::guard
