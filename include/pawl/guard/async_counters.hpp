// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// As `counters`, for coroutines on the caller's event loop.
#pragma once

#include <pawl/guard/async_redis.hpp>
#include <pawl/guard/counters.hpp>

#include <boost/asio/awaitable.hpp>

namespace pawl::guard {

// The functions of `counters` with the same results and errors. Several coroutines may use one
// object at the same time if the connection allows that. A cancelled step may have been counted.
class async_counters {
public:
    // The connection must outlive this object, and this object its operations.
    explicit async_counters(async_redis_connection& server) noexcept : server_(server) {}

    // As `counters::create`.
    boost::asio::awaitable<bool> create(std::string key, std::int64_t start);
    // As `counters::get`.
    boost::asio::awaitable<std::int64_t> get(std::string key);
    // As `counters::subtract`.
    boost::asio::awaitable<std::optional<std::int64_t>> subtract(std::string key, std::int64_t n,
                                                                 subtract_options options = {},
                                                                 std::string id = {});
    // As `counters::add`.
    boost::asio::awaitable<std::optional<std::int64_t>> add(std::string key, std::int64_t n,
                                                            add_options options = {},
                                                            std::string id = {});
    // As `counters::update`. The function runs on the executor of the coroutine.
    boost::asio::awaitable<std::string> update(std::string key, change new_value,
                                               update_options options = {});

private:
    async_redis_connection& server_;
    bool has_conditional_set_ = true;
};

}  // namespace pawl::guard
