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

#include <functional>

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

}  // namespace pawl::guard
