// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// pawl/guard/redis_once.hpp for coroutines, on the program's event loop: the same promises and
// errors. Name the work before the co_await, and let it and the connection outlive the coroutine.
//
// Cancellation: terminal. A wait for another attempt ends with boost::system::system_error of
// operation_aborted, and a command as the connection supports it; it may have been executed.
#pragma once

#include <pawl/guard/async_once.hpp>
#include <pawl/guard/async_redis.hpp>
#include <pawl/guard/redis_once.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace pawl::guard {

// As redis_once_work. A named coroutine, or a function that calls one.
using async_redis_once_work = std::function<boost::asio::awaitable<redis_outcome>(const attempt&)>;

// As `once` and `at_least_once`.
boost::asio::awaitable<once_result> async_once(async_redis_connection& server, once_key operation,
                                               once_options options,
                                               const async_redis_once_work& work);
boost::asio::awaitable<once_result> async_at_least_once(async_redis_connection& server,
                                                        once_key operation, once_options options,
                                                        const async_once_work& work);
// As `guarded_once` and `guarded_at_least_once`.
boost::asio::awaitable<once_result> async_guarded_once(client& locks,
                                                       async_redis_connection& server,
                                                       std::string name, once_key operation,
                                                       once_options options,
                                                       const async_redis_once_work& work);
boost::asio::awaitable<once_result> async_guarded_at_least_once(
    client& locks, async_redis_connection& server, std::string name, once_key operation,
    once_options options, const async_once_work& work);
// As `claim`, `finish`, `give_up` and `unfinished`.
boost::asio::awaitable<once_claim> async_claim(async_redis_connection& server, once_key operation,
                                               once_options options);
boost::asio::awaitable<bool> async_finish(async_redis_connection& server, const attempt& claimed,
                                          const outcome& result, once_options options);
boost::asio::awaitable<bool> async_give_up(async_redis_connection& server, const attempt& claimed,
                                           duration pause = {});
[[nodiscard]] boost::asio::awaitable<std::vector<once_record>> async_unfinished(
    async_redis_connection& server, std::string scope, duration older_than = {},
    std::string after = {}, std::uint32_t limit = 100);

}  // namespace pawl::guard
