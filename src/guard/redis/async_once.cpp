// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "once_protocol.hpp"

#include <guard/async_guarded.hpp>
#include <guard/async_pause.hpp>
#include <guard/async_rollback.hpp>
#include <pawl/guard/async_redis_once.hpp>

#include <exception>
#include <utility>

namespace pawl::guard {
namespace {

using boost::asio::awaitable;

awaitable<void> advance_to_work(async_redis_connection& server, redis::once_protocol& protocol) {
    using step = once_machine::step;
    once_machine& machine = protocol.machine();
    while (machine.next() != step::work && machine.next() != step::end) {
        if (machine.next() == step::pause) {
            co_await async_pause(spi::real_runtime(), machine.pause_time());
            machine.on_pause_over();
            continue;
        }
        const auto call = protocol.step_call();
        const auto reply = co_await redis::run(server, call);
        protocol.on_step(reply);
    }
}

template <class Answer>
awaitable<void> end_work(async_redis_connection& server, redis::once_protocol& protocol,
                         const Answer& answer) {
    const auto call = protocol.end_call(answer);
    const auto reply = co_await redis::run(server, call);
    protocol.on_end(reply);
}

awaitable<void> work_and_end(async_redis_connection& server, redis::once_protocol& protocol,
                             const async_redis_once_work& work) {
    const attempt present = protocol.current();
    const redis_outcome answer = co_await work(present);
    co_await end_work(server, protocol, answer);
}

awaitable<void> work_and_end(async_redis_connection& server, redis::once_protocol& protocol,
                             const async_once_work& work) {
    const attempt present = protocol.current();
    const outcome answer = co_await work(present);
    // The effect has happened: no cancellation keeps it from being recorded.
    auto state = co_await boost::asio::this_coro::cancellation_state;
    if (is_cancelled(state)) co_await boost::asio::this_coro::reset_cancellation_state();
    auto recording = end_work(server, protocol, answer);
    co_await run_uncancelled(std::move(recording));
    state = co_await boost::asio::this_coro::cancellation_state;
    if (is_cancelled(state)) co_await boost::asio::this_coro::reset_cancellation_state();
}

// True: the failure passes. If the claim cannot be given up, it ends with its lease.
awaitable<bool> is_final_failure(async_redis_connection& server, redis::once_protocol& protocol) {
    const auto call = protocol.failure_call();
    redis_reply reply{};
    bool is_answered = true;
    try {
        reply = co_await redis::run(server, call);
    } catch (...) {
        is_answered = false;
    }
    co_return !is_answered || protocol.on_failure(reply);
}

template <class Work>
awaitable<once_result> run_protocol(async_redis_connection& server, redis::once_protocol& protocol,
                                    const Work& work) {
    for (;;) {
        co_await advance_to_work(server, protocol);
        if (protocol.machine().next() == once_machine::step::end) break;
        std::exception_ptr failure;
        try {
            co_await work_and_end(server, protocol, work);
        } catch (...) {
            failure = std::current_exception();
        }
        if (!failure) continue;
        const auto state = co_await boost::asio::this_coro::cancellation_state;
        if (is_cancelled(state)) co_await boost::asio::this_coro::reset_cancellation_state();
        const bool is_final = co_await is_final_failure(server, protocol);
        if (is_final) std::rethrow_exception(failure);
    }
    co_return std::move(protocol.machine().result());
}

template <class Work>
awaitable<once_result> run_guarded_protocol(client& locks, async_redis_connection& server,
                                            std::string name, const once_key& operation,
                                            const once_options& options, const Work& work) {
    redis::check_layers(options);
    const auto give_up_at = end_of_wait(options, spi::real_runtime());
    redis::once_protocol first_look(operation, options);
    const auto look = first_look.look_call();
    const auto reply = co_await redis::run(server, look);
    auto known = first_look.replay(reply);
    if (known) co_return *std::move(known);
    std::optional<held_lock> lock =
        co_await async_acquire_in_front(locks, std::move(name), options);
    if (!lock) co_return busy_result(options);
    redis::once_protocol protocol(operation, with_rest_of_wait(options, give_up_at),
                                  *lock ? lock->lost() : std::stop_token());
    once_result result = co_await run_protocol(server, protocol, work);
    co_return result;
}

}  // namespace

awaitable<once_result> async_once(async_redis_connection& server, once_key operation,
                                  once_options options, const async_redis_once_work& work) {
    redis::once_protocol protocol(operation, options);
    co_return co_await run_protocol(server, protocol, work);
}

awaitable<once_result> async_at_least_once(async_redis_connection& server, once_key operation,
                                           once_options options, const async_once_work& work) {
    redis::once_protocol protocol(operation, options);
    co_return co_await run_protocol(server, protocol, work);
}

awaitable<once_result> async_guarded_once(client& locks, async_redis_connection& server,
                                          std::string name, once_key operation,
                                          once_options options, const async_redis_once_work& work) {
    co_return co_await run_guarded_protocol(locks, server, std::move(name), operation, options,
                                            work);
}

awaitable<once_result> async_guarded_at_least_once(client& locks, async_redis_connection& server,
                                                   std::string name, once_key operation,
                                                   once_options options,
                                                   const async_once_work& work) {
    co_return co_await run_guarded_protocol(locks, server, std::move(name), operation, options,
                                            work);
}

awaitable<once_claim> async_claim(async_redis_connection& server, once_key operation,
                                  once_options options) {
    redis::once_protocol protocol(operation, options);
    co_await advance_to_work(server, protocol);
    once_claim claimed;
    if (protocol.machine().next() == once_machine::step::work)
        claimed.attempt = protocol.current();
    else
        claimed.known = std::move(protocol.machine().result());
    co_return claimed;
}

awaitable<bool> async_finish(async_redis_connection& server, const attempt& claimed,
                             const outcome& result, once_options options) {
    const auto call = redis::finish_call(claimed, result, options);
    const auto reply = co_await redis::run(server, call);
    co_return redis::is_changed(reply, call.subject());
}

awaitable<bool> async_give_up(async_redis_connection& server, const attempt& claimed,
                              duration pause) {
    const auto call = redis::give_up_call(claimed, pause);
    const auto reply = co_await redis::run(server, call);
    co_return redis::is_changed(reply, call.subject());
}

}  // namespace pawl::guard
