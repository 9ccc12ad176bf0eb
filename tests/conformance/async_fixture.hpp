// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The fixture of async tests: one event loop with its thread, and a service.
#pragma once

#include <pawl/client.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace tested {

struct service_under_test {
    std::string name;
    std::function<pawl::service()> make_service;
};
inline void PrintTo(const service_under_test& tested, std::ostream* out) { *out << tested.name; }

// Memory, SQLite and Redis, which have latches and short leases, too.
[[nodiscard]] std::vector<service_under_test> async_services();
// Also the stores that have only locks.
[[nodiscard]] std::vector<service_under_test> async_lock_services();
// Also those whose locks have no queue.
[[nodiscard]] std::vector<service_under_test> all_async_services();

inline constexpr pawl::lock_options with_wait{.ttl = std::chrono::seconds(60),
                                              .wait = std::chrono::seconds(20)};
inline constexpr pawl::try_options no_wait{.ttl = std::chrono::seconds(60)};

class async_fixture : public testing::TestWithParam<service_under_test> {
protected:
    ~async_fixture() override {
        work_guard.reset();
        thread.join();
    }
    pawl::client make_client() { return pawl::client(loop.get_executor(), tested_service); }
    template <class Result>
    Result wait_for(boost::asio::awaitable<Result> requested) {
        return boost::asio::co_spawn(loop, std::move(requested), boost::asio::use_future).get();
    }

    boost::asio::io_context loop;
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_guard{
        loop.get_executor()};
    std::jthread thread{[this] { loop.run(); }};
    pawl::service tested_service = GetParam().make_service();
};

}  // namespace tested
