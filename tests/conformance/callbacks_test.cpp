// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The callbacks of lost locks: on which thread they run, and that they delay nothing else.
#include "async_fixture.hpp"

#include <support/eventually.hpp>

#include <pawl/blocking.hpp>

#include <boost/asio/use_future.hpp>

#include <gtest/gtest.h>

#include <future>
#include <list>
#include <mutex>
#include <stop_token>
#include <thread>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

class Callbacks : public testing::TestWithParam<tested::service_under_test> {
protected:
    pawl::service tested_service = GetParam().make_service();
    pawl::blocking::client locks{tested_service};
};

// 1. The callbacks of some losses block. 2. Other locks of the same client are lost. 3. Their
// signals come although the callbacks still block.
TEST_P(Callbacks, OneThatBlocksDelaysNoOtherLocksSignal) {
    std::promise<void> end;
    const auto ended = end.get_future().share();
    std::list<std::promise<void>> began;
    std::list<pawl::blocking::held_lock> blocked;
    std::list<std::stop_callback<std::function<void()>>> callbacks;
    for (int i = 0; i < 3; ++i) {
        auto& own_lock = blocked.emplace_back(
            locks.acquire("blocked" + std::to_string(i), {.ttl = 60s, .max_hold = 50ms}));
        auto& in_it = began.emplace_back();
        callbacks.emplace_back(own_lock.lost(), [&in_it, ended] {
            in_it.set_value();
            ended.wait();
        });
    }
    for (auto& each : began)
        each.get_future().wait();
    const auto last = locks.acquire("last", {.ttl = 60s, .max_hold = 50ms});
    const auto signal = last.lost();
    EXPECT_TRUE(support::eventually([&] { return signal.stop_requested(); }));
    // Meanwhile the client serves its callers, and renews.
    EXPECT_TRUE(locks.acquire("other", {.ttl = 60s}).owns_lock());
    end.set_value();
}

// The caller holds a mutex that the callback locks, too. Waiting callers drive the event loop of
// the client, so a callback on that loop would wait for its own thread.
TEST_P(Callbacks, NeverRunOnTheThreadThatCallsTheClient) {
    pawl::blocking::client other(tested_service);
    const auto busy = other.acquire("busy", {.ttl = 60s});
    std::mutex of_the_program;
    std::promise<std::thread::id> ran;
    auto on = ran.get_future();
    const auto own_lock = locks.acquire("mine", {.ttl = 60s, .max_hold = 50ms});
    const std::stop_callback on_loss(own_lock.lost(), [&] {
        const bool free = of_the_program.try_lock();
        if (free) of_the_program.unlock();
        ran.set_value(std::this_thread::get_id());
        const std::lock_guard lock(of_the_program);
    });
    {
        const std::lock_guard lock(of_the_program);
        while (on.wait_for(0s) != std::future_status::ready)
            EXPECT_FALSE(
                locks.try_acquire("busy", {.ttl = 60s, .retry = {.tries = 3}}).owns_lock());
    }
    EXPECT_NE(on.get(), std::this_thread::get_id());
}

TEST_P(Callbacks, MayCallTheClient) {
    std::promise<pawl::fencing_token> token;
    const auto own_lock = locks.acquire("mine", {.ttl = 60s, .max_hold = 50ms});
    const std::stop_callback on_loss(
        own_lock.lost(), [&] { token.set_value(locks.acquire("mine", {.ttl = 60s}).token()); });
    EXPECT_GT(token.get_future().get(), own_lock.token());
}

TEST_P(Callbacks, MayDropTheHandle) {
    auto own_lock = std::make_unique<pawl::blocking::held_lock>(
        locks.acquire("mine", {.ttl = 60s, .max_hold = 50ms}));
    std::promise<void> dropped;
    const std::stop_callback on_loss(own_lock->lost(), [&] {
        own_lock.reset();
        dropped.set_value();
    });
    dropped.get_future().wait();
    EXPECT_TRUE(locks.acquire("mine", {.ttl = 60s}).owns_lock());
}

INSTANTIATE_TEST_SUITE_P(Backend, Callbacks, testing::ValuesIn(tested::async_services()),
                         [](const auto& each) { return each.param.name; });

class AsyncCallbacks : public tested::async_fixture {};

// The loop goes on while a callback blocks, and the callback is not on the loop's thread.
TEST_P(AsyncCallbacks, NeverRunOnTheEventLoop) {
    auto locks = make_client();
    std::promise<void> end;
    std::promise<std::thread::id> ran;
    const auto own_lock =
        locks.async_acquire("mine", {.ttl = 60s, .max_hold = 50ms}, asio::use_future).get();
    const std::stop_callback on_loss(own_lock.lost(), [&, ended = end.get_future().share()] {
        ran.set_value(std::this_thread::get_id());
        ended.wait();
    });
    EXPECT_NE(ran.get_future().get(), thread.get_id());
    EXPECT_TRUE(locks.async_acquire("mine", {.ttl = 60s}, asio::use_future).get().owns_lock());
    end.set_value();
}

INSTANTIATE_TEST_SUITE_P(Backend, AsyncCallbacks, testing::ValuesIn(tested::async_services()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
