// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "pauses.hpp"

#include <pawl/spi/runtime.hpp>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <span>

namespace pawl::guard::redis {
namespace {

using waitable_timer = boost::asio::basic_waitable_timer<boot_clock>;

}  // namespace

duration random_pause(std::uint32_t tries, duration first, duration last) {
    const duration limit = std::min(last, first * (std::int64_t{1} << std::min(tries, 20U)));
    std::uint64_t bits = 0;
    spi::real_runtime().random(std::as_writable_bytes(std::span(&bits, 1)));
    return duration(
        static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(limit.count() + 1)));
}

void pause(duration time) {
    boost::asio::io_context context;
    waitable_timer timer(context, spi::real_runtime().now() + time);
    timer.wait();
}

boost::asio::awaitable<void> async_pause(duration time) {
    const auto executor = co_await boost::asio::this_coro::executor;
    waitable_timer timer(executor, spi::real_runtime().now() + time);
    co_await timer.async_wait(boost::asio::deferred);
}

}  // namespace pawl::guard::redis
