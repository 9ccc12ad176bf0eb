// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "once_course.hpp"

#include <guard/async_pause.hpp>
#include <pawl/error.hpp>
#include <pawl/guard/async_redis_once.hpp>

#include <exception>
#include <utility>

namespace pawl::guard {
namespace {

using boost::asio::awaitable;

awaitable<void> advance_to_work(async_redis_connection& server, redis::once_course& course) {
    using step = once_machine::step;
    once_machine& machine = course.machine();
    while (machine.next() != step::work && machine.next() != step::end) {
        if (machine.next() == step::pause) {
            co_await async_pause(spi::real_runtime(), machine.pause_time());
            machine.on_pause_over();
            continue;
        }
        const auto call = course.step_call();
        const auto reply = co_await redis::run(server, call);
        course.on_step(reply);
    }
}

template <class Work>
awaitable<void> work_and_end(async_redis_connection& server, redis::once_course& course,
                             const Work& work) {
    const attempt present = course.current();
    const auto answer = co_await work(present);
    const auto call = course.end_call(answer);
    const auto reply = co_await redis::run(server, call);
    course.on_end(reply);
}

// True: the failure passes. If the claim cannot be given up, it ends with its lease.
awaitable<bool> is_final_failure(async_redis_connection& server, redis::once_course& course) {
    const auto call = course.failure_call();
    redis_reply reply{};
    bool is_answered = true;
    try {
        reply = co_await redis::run(server, call);
    } catch (...) {
        is_answered = false;
    }
    co_return !is_answered || course.on_failure(reply);
}

template <class Work>
awaitable<once_result> run_course(async_redis_connection& server, redis::once_course& course,
                                  const Work& work) {
    for (;;) {
        co_await advance_to_work(server, course);
        if (course.machine().next() == once_machine::step::end) break;
        std::exception_ptr failure;
        try {
            co_await work_and_end(server, course, work);
        } catch (...) {
            failure = std::current_exception();
        }
        if (!failure) continue;
        const bool is_final = co_await is_final_failure(server, course);
        if (is_final) std::rethrow_exception(failure);
    }
    co_return std::move(course.machine().result());
}

}  // namespace

awaitable<once_result> async_once(async_redis_connection& server, once_key operation,
                                  once_options options, const async_redis_once_work& work) {
    redis::once_course course(operation, options);
    co_return co_await run_course(server, course, work);
}

awaitable<once_result> async_at_least_once(async_redis_connection& server, once_key operation,
                                           once_options options, const async_once_work& work) {
    redis::once_course course(operation, options);
    co_return co_await run_course(server, course, work);
}

}  // namespace pawl::guard
