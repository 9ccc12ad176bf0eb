// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// As `script::run`, for coroutines on the caller's event loop.
#pragma once

#include <pawl/guard/async_redis.hpp>
#include <pawl/guard/script.hpp>

#include <boost/asio/awaitable.hpp>

namespace pawl::detail {

[[nodiscard]] boost::asio::awaitable<guard::redis_reply> async_run(
    guard::async_redis_connection& server, const script_base& code, std::vector<std::string> keys,
    std::vector<std::string> arguments);

}  // namespace pawl::detail

namespace pawl::guard {

// The script must outlive the operation. A cancelled call may have run.
template <class Result>
boost::asio::awaitable<Result> async_run(async_redis_connection& server, const script<Result>& code,
                                         std::vector<std::string> keys,
                                         std::vector<script_argument> arguments = {}) {
    const std::string subject = keys.empty() ? "Redis" : keys.front();
    auto texts = script<Result>::texts(arguments);
    const auto reply =
        co_await detail::async_run(server, code.base(), std::move(keys), std::move(texts));
    co_return detail::read_reply<Result>(detail::reply_item(reply, subject));
}

}  // namespace pawl::guard
