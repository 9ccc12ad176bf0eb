// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "async_rollback.hpp"
#include "transaction_statements.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <utility>

namespace pawl::guard {

namespace asio = boost::asio;

asio::awaitable<void> run_uncancelled(asio::awaitable<void> to_run) {
    const auto executor = co_await asio::this_coro::executor;
    const asio::cancellation_slot none;
    co_await asio::co_spawn(executor, std::move(to_run),
                            asio::bind_cancellation_slot(none, asio::use_awaitable));
}

asio::awaitable<void> roll_back(async_connection& db) {
    if (!db.in_transaction()) co_return;
    const statement rollback{"ROLLBACK"};
    try {
        co_await db.execute(rollback);
    } catch (const database_error&) {  // the connection is broken, which ends the transaction
    }
}

asio::awaitable<void> async_transaction(async_connection& db, const transaction_work& work) {
    if (db.in_transaction()) throw open_transaction_error();
    const auto begin = begin_statement(db.dialect());
    co_await db.execute(begin);
    std::exception_ptr failure;
    try {
        co_await work();
        if (!db.in_transaction()) throw ended_transaction_error();
        const statement commit{"COMMIT"};
        co_await db.execute(commit);
    } catch (...) {
        failure = std::current_exception();
    }
    if (!failure) co_return;
    const auto state = co_await asio::this_coro::cancellation_state;
    if (is_cancelled(state)) co_await asio::this_coro::reset_cancellation_state();
    co_await roll_back(db);
    std::rethrow_exception(failure);
}

}  // namespace pawl::guard
