// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// `once` for coroutines, on the program's event loop. pawl/guard/once.hpp has the promises and the
// errors, which are the same.
//
// Await the operation at once. Name the work before the co_await: some compilers destroy a
// temporary inside it twice. The connection, the client and the work must outlive the coroutine,
// which runs on its own executor.
//
// Cancellation: terminal. A wait for another attempt ends with boost::system::system_error of
// operation_aborted, and so does a statement, after which the connection cannot be used any more.
// A wait for the lock ends with errc::cancelled. During the work it is as the work supports it; if
// the work then throws, the transaction is rolled back and the claim given up. When the work of
// async_at_least_once has returned, its effect is recorded in any case, and the call ends as usual.
#pragma once

#include <pawl/guard/async_connection.hpp>
#include <pawl/guard/once.hpp>
#include <pawl/guard/once_options.hpp>

#include <boost/asio/awaitable.hpp>

#include <functional>
#include <string>

namespace pawl {
class client;
}

namespace pawl::guard {

// As once_work. A named coroutine, or a function that calls one.
using async_once_work = std::function<boost::asio::awaitable<outcome>(const attempt&)>;

// As `once` and `at_least_once`.
boost::asio::awaitable<once_result> async_once(async_connection& db, once_key operation,
                                               once_options options, const async_once_work& work);
boost::asio::awaitable<once_result> async_at_least_once(async_connection& db, once_key operation,
                                                        once_options options,
                                                        const async_once_work& work);
// As `guarded_once` and `guarded_at_least_once`.
boost::asio::awaitable<once_result> async_guarded_once(client& locks, async_connection& db,
                                                       std::string name, once_key operation,
                                                       once_options options,
                                                       const async_once_work& work);
boost::asio::awaitable<once_result> async_guarded_at_least_once(client& locks, async_connection& db,
                                                                std::string name,
                                                                once_key operation,
                                                                once_options options,
                                                                const async_once_work& work);
// As `claim`, `finish` and `give_up`.
boost::asio::awaitable<once_claim> async_claim(async_connection& db, once_key operation,
                                               once_options options);
boost::asio::awaitable<bool> async_finish(async_connection& db, const attempt& claimed,
                                          const outcome& result, once_options options);
boost::asio::awaitable<bool> async_give_up(async_connection& db, const attempt& claimed,
                                           duration pause = {});

}  // namespace pawl::guard
