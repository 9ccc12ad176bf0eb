// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// As pawl/guard/idempotency_key.hpp, for coroutines on the program's event loop.
#pragma once

#include <pawl/guard/async_once.hpp>
#include <pawl/guard/idempotency_key.hpp>

#include <boost/asio/awaitable.hpp>

#include <functional>

namespace pawl::guard {

// As http_once and http_handler. Named coroutines, or functions that call one; for async_once such
// as
//   [&](once_key key, const async_once_work& work) { return async_once(db, key, {}, work); }
using async_http_once =
    std::function<boost::asio::awaitable<once_result>(once_key, const async_once_work&)>;
using async_http_handler = std::function<boost::asio::awaitable<http_answer>(const attempt&)>;

// As `idempotent`. The functions must outlive the operation. Cancellation is as `run_once` and the
// handler support it.
boost::asio::awaitable<http_answer> async_idempotent(idempotent_request request,
                                                     idempotency_options options,
                                                     const async_http_once& run_once,
                                                     const async_http_handler& handler);

}  // namespace pawl::guard
