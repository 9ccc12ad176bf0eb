// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "idempotent_exchange.hpp"

#include <pawl/guard/async_idempotency_key.hpp>

#include <utility>

namespace pawl::guard {

http_answer idempotent(const idempotent_request& request, const idempotency_options& options,
                       const http_once& run_once, const http_handler& handler) {
    idempotent_exchange exchange(request, options);
    if (exchange.refusal()) return *exchange.refusal();
    if (!exchange.has_key()) return handler(idempotent_exchange::unkeyed_attempt());
    const once_work work = [&](const attempt& present) {
        exchange.on_begin();
        return exchange.on_answer(handler(present));
    };
    try {
        return exchange.answer_of(run_once(exchange.key(), work));
    } catch (const pawl::error& failure) {
        if (auto answer = exchange.answer_of(failure)) return *std::move(answer);
        throw;
    }
}

namespace {

using boost::asio::awaitable;

awaitable<outcome> handle(idempotent_exchange& exchange, const async_http_handler& handler,
                          const attempt& present) {
    exchange.on_begin();
    const http_answer answer = co_await handler(present);
    co_return exchange.on_answer(answer);
}

}  // namespace

awaitable<http_answer> async_idempotent(idempotent_request request, idempotency_options options,
                                        const async_http_once& run_once,
                                        const async_http_handler& handler) {
    idempotent_exchange exchange(request, options);
    if (exchange.refusal()) co_return *exchange.refusal();
    if (!exchange.has_key()) {
        const attempt unkeyed = idempotent_exchange::unkeyed_attempt();
        co_return co_await handler(unkeyed);
    }
    const async_once_work work = [&exchange, &handler](const attempt& present) {
        return handle(exchange, handler, present);
    };
    try {
        const once_result result = co_await run_once(exchange.key(), work);
        co_return exchange.answer_of(result);
    } catch (const pawl::error& failure) {
        if (auto answer = exchange.answer_of(failure)) co_return *std::move(answer);
        throw;
    }
}

}  // namespace pawl::guard
