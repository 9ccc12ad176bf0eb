// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A client that is closed during a wait that does not end: closing takes one drain time at most.
#include "kernel/virtual_runtime.hpp"
#include "server/service_from.hpp"
#include "support/idle_backend.hpp"

#include <core/util/wakeup.hpp>
#include <pawl/client.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/this_coro.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace pawl::simulation {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

// An acquire takes an hour and cannot be cancelled; closing takes all the time that it gets.
class unresponsive_backend final : public support::idle_backend {
public:
    unresponsive_backend(backend_context context, std::vector<time_point>& deadlines)
        : context_(std::move(context)), deadlines_(deadlines) {}
    asio::awaitable<std::optional<grant>> acquire(const claim&, time_point) override {
        co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
        core::wakeup endless_wait(*context_.time, context_.strand);
        co_await endless_wait.wait_until(context_.time->now() + 1h);
        co_return std::nullopt;
    }
    asio::awaitable<void> close(time_point give_up_at) override {
        deadlines_.push_back(give_up_at);
        core::wakeup drain(*context_.time, context_.strand);
        co_await drain.wait_until(give_up_at);
    }

private:
    const backend_context context_;
    std::vector<time_point>& deadlines_;
};

//   A waits | A closes: the wait takes the whole drain time | the backend has none left
TEST(Closing, TakesTheDrainTimeOnce) {
    scheduler loop;
    simulated_process process(loop, time_point(1h), 1.0);
    virtual_runtime time(process, prng(1));
    std::vector<time_point> deadlines;
    const client_options options{.drain = 3s, .time = &time};
    {
        const auto unresponsive = service_from("deaf", [&](backend_context context) {
            return std::make_unique<unresponsive_backend>(std::move(context), deadlines);
        });
        client locks(process.get_executor(), unresponsive, options);
        locks.async_acquire("it", {}, [](const boost::system::error_code&, const held_lock&) {});
        loop.run_ready();
        const auto begun = time.now();
        bool closed = false;
        locks.async_close(asio::bind_executor(process.get_executor(), [&] { closed = true; }));
        while (!closed && loop.step()) {}
        EXPECT_EQ(deadlines, std::vector{begun + 3s});
        EXPECT_LE(time.now() - begun, 3s + 2ms);
    }
    while (loop.step()) {}  // the acquire's hour ends
}

}  // namespace
}  // namespace pawl::simulation
