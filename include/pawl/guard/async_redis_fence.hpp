// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// As pawl/guard/redis_fence.hpp, for coroutines on the caller's event loop.
#pragma once

#include <pawl/guard/async_redis.hpp>
#include <pawl/guard/redis_fence.hpp>

#include <boost/asio/awaitable.hpp>

#include <string>

namespace pawl::guard {

// As `fenced`. If it is cancelled, the commands may have run.
[[nodiscard]] boost::asio::awaitable<fenced_replies> async_fenced(
    async_redis_connection& server, std::string resource, fencing_token token,
    std::vector<redis_command> commands);

}  // namespace pawl::guard
