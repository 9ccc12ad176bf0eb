// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "async_guarded.hpp"
#include "async_rollback.hpp"
#include "async_runner.hpp"
#include "once_outcome.hpp"
#include "transaction_statements.hpp"

namespace pawl::guard {

namespace asio = boost::asio;

namespace {

asio::awaitable<outcome> work_and_commit(async_connection& db, const async_once_work& work,
                                         const attempt& alone) {
    const auto begin = begin_statement(db.dialect());
    co_await db.execute(begin);
    outcome result = co_await work(alone);
    const statement commit{"COMMIT"};
    if (std::holds_alternative<std::string>(result)) co_await db.execute(commit);
    co_return result;
}

asio::awaitable<once_result> work_alone(async_connection& db, const once_key& operation,
                                        const async_once_work& work, bool is_inside,
                                        std::stop_token lost) {
    const attempt alone = lone_attempt(operation, std::move(lost));
    outcome result;
    std::exception_ptr failure;
    try {
        if (is_inside)
            result = co_await work_and_commit(db, work, alone);
        else
            result = co_await work(alone);
    } catch (...) {
        failure = std::current_exception();
    }
    const auto state = co_await asio::this_coro::cancellation_state;
    if (is_cancelled(state)) co_await asio::this_coro::reset_cancellation_state();
    if (is_inside) co_await roll_back(db);
    if (failure) std::rethrow_exception(failure);
    co_return lone_result(result);
}

asio::awaitable<once_result> run_once(async_connection& db, const once_key& operation,
                                      const once_options& options, const async_once_work& work,
                                      bool is_inside, std::stop_token lost = {}) {
    async_runner runner(db, operation, options, std::move(lost));
    once_result result = co_await runner.run(work, is_inside);
    co_return result;
}

asio::awaitable<std::optional<once_result>> replay(async_connection& db, const once_key& operation,
                                                   const once_options& options) {
    async_runner runner(db, operation, options);
    std::optional<once_result> known = co_await runner.replay();
    co_return known;
}

asio::awaitable<once_result> run_guarded(client& locks, async_connection& db, std::string name,
                                         const once_key& operation, const once_options& options,
                                         const async_once_work& work, bool is_inside) {
    if (!is_inside) check_outside(options);
    check_once(operation, options, db.in_transaction());
    const auto give_up_at = end_of_wait(options, spi::real_runtime());
    std::optional<once_result> known;
    if (uses(options, layers::record)) known = co_await replay(db, operation, options);
    if (known) co_return *std::move(known);
    std::optional<held_lock> lock =
        co_await async_acquire_in_front(locks, std::move(name), options);
    if (!lock) co_return busy_result(options);
    auto lost = *lock ? lock->lost() : std::stop_token();
    once_result result;
    const auto rest = with_rest_of_wait(options, give_up_at);
    if (uses(options, layers::record))
        result = co_await run_once(db, operation, rest, work, is_inside, std::move(lost));
    else
        result = co_await work_alone(db, operation, work, is_inside, std::move(lost));
    co_return result;
}

}  // namespace

asio::awaitable<once_result> async_once(async_connection& db, once_key operation,
                                        once_options options, const async_once_work& work) {
    once_result result = co_await run_once(db, operation, options, work, true);
    co_return result;
}

asio::awaitable<once_result> async_at_least_once(async_connection& db, once_key operation,
                                                 once_options options,
                                                 const async_once_work& work) {
    check_outside(options);
    once_result result = co_await run_once(db, operation, options, work, false);
    co_return result;
}

asio::awaitable<once_result> async_guarded_once(client& locks, async_connection& db,
                                                std::string name, once_key operation,
                                                once_options options, const async_once_work& work) {
    once_result result =
        co_await run_guarded(locks, db, std::move(name), operation, options, work, true);
    co_return result;
}

asio::awaitable<once_result> async_guarded_at_least_once(client& locks, async_connection& db,
                                                         std::string name, once_key operation,
                                                         once_options options,
                                                         const async_once_work& work) {
    once_result result =
        co_await run_guarded(locks, db, std::move(name), operation, options, work, false);
    co_return result;
}

asio::awaitable<once_claim> async_claim(async_connection& db, once_key operation,
                                        once_options options) {
    check_outside(options);
    async_runner runner(db, operation, options);
    once_claim claimed = co_await runner.claim();
    co_return claimed;
}

asio::awaitable<bool> async_finish(async_connection& db, const attempt& claimed,
                                   const outcome& result, once_options options) {
    const auto update = finish_statement(db.dialect(), claimed, result, options);
    const rows answer = co_await db.execute(update);
    co_return answer.matched == 1;
}

asio::awaitable<bool> async_give_up(async_connection& db, const attempt& claimed, duration pause) {
    const auto update = give_up_statement(db.dialect(), claimed, pause);
    const rows answer = co_await db.execute(update);
    co_return answer.matched == 1;
}

}  // namespace pawl::guard
