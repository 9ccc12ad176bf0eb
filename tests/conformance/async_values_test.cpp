// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Values that the caller chooses, for coroutines, callbacks and futures.
#include "async_fixture.hpp"

#include <pawl/redis.hpp>

#include <support/redis_server.hpp>

#include <boost/asio/cancel_after.hpp>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using namespace tested;

class AsyncValues : public testing::Test {
protected:
    ~AsyncValues() override {
        guard.reset();
        thread.join();
    }
    support::redis_server server;
    asio::io_context loop;
    asio::executor_work_guard<asio::io_context::executor_type> guard{loop.get_executor()};
    std::jthread thread{[this] { loop.run(); }};
    const pawl::service tested_service = pawl::redis::at(server.url("?key={name}"));
};

TEST_F(AsyncValues, AreTakenAdoptedAndGivenBack) {
    pawl::client locks(loop.get_executor(), tested_service);
    auto first = locks.async_acquire_as("it", "ticket", with_wait, asio::use_future).get();
    EXPECT_EQ(server.execute({"GET", "it"}).text, "ticket");
    EXPECT_FALSE(
        locks.async_try_acquire_as("it", "other", no_wait, asio::use_future).get().owns_lock());
    EXPECT_FALSE(locks.async_adopt("it", "other", no_wait, asio::use_future).get().owns_lock());
    auto second = locks.async_adopt("it", "ticket", no_wait, asio::use_future).get();
    EXPECT_GT(second.token(), first.token());
    EXPECT_EQ(second.async_release(asio::use_future).get(), pawl::release_result::released);
    EXPECT_EQ(first.async_release(asio::use_future).get(), pawl::release_result::expired);
}

TEST_F(AsyncValues, CancelledWhileTheyAskAgainLeaveNothing) {
    pawl::client locks(loop.get_executor(), tested_service);
    auto busy = locks.async_acquire("it", with_wait, asio::use_future).get();
    auto waiting = locks.async_acquire_as("it", "ticket", with_wait,
                                          asio::cancel_after(200ms, asio::use_future));
    EXPECT_THROW((void)waiting.get(), boost::system::system_error);
    EXPECT_EQ(busy.async_release(asio::use_future).get(), pawl::release_result::released);
    EXPECT_TRUE(locks.async_try_acquire("it", no_wait, asio::use_future).get().owns_lock());
}

}  // namespace
