// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// As `redis_connection`, for coroutines on the caller's event loop.
#pragma once

#include <pawl/detail/asio_settings.hpp>
#include <pawl/guard/redis.hpp>

#include <boost/asio/awaitable.hpp>

namespace pawl::guard {

// A view of the caller's connection, which must outlive it. Used by one coroutine after another, or
// by several at a time if the connection allows that, as Boost.Redis' does.
class async_redis_connection {
public:
    virtual ~async_redis_connection() = default;
    // As `redis_connection::execute`. The command outlives the operation. A cancelled operation
    // throws, and the server may have executed the command.
    virtual boost::asio::awaitable<redis_reply> execute(const redis_command& command) = 0;
};

}  // namespace pawl::guard
