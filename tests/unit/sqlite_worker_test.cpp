// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What becomes of the jobs when the thread of a SQLite client is stopped.
#include <sqlite/worker.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <optional>
#include <thread>
#include <utility>

namespace pawl::sqlite {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

struct caller_state {
    std::optional<int> result;
    bool has_ended = false;  // its coroutine is destroyed
};

template <class Work>
asio::awaitable<void> call(worker& target, Work work, caller_state& caller) {
    struct guard {
        caller_state& ended;
        ~guard() { ended.has_ended = true; }
    };
    const guard on_end{caller};
    caller.result = co_await target.run(std::move(work));
}

TEST(SqliteWorker, AStopLetsOnlyTheRunningJobFinish) {
    asio::io_context loop;
    bool has_stopped = false;
    const auto stopped_worker = start_worker_thread(asio::make_strand(loop.get_executor()),
                                                    [&has_stopped] { has_stopped = true; });
    std::promise<void> begun, may_end;
    caller_state running, queued;
    asio::co_spawn(loop,
                   call(
                       *stopped_worker,
                       [&] {
                           begun.set_value();
                           may_end.get_future().wait();
                           return 1;
                       },
                       running),
                   asio::detached);
    asio::co_spawn(loop,
                   call(
                       *stopped_worker, [] { return 2; }, queued),
                   asio::detached);
    loop.poll();
    begun.get_future().wait();
    std::thread release([&may_end] {
        std::this_thread::sleep_for(50ms);  // while `stop` waits
        may_end.set_value();
    });
    stopped_worker->stop();
    release.join();
    EXPECT_TRUE(has_stopped);
    loop.restart();
    loop.poll();
    EXPECT_EQ(running.result, 1);
    EXPECT_TRUE(running.has_ended);
    EXPECT_EQ(queued.result, std::nullopt);
    EXPECT_TRUE(queued.has_ended);
}

}  // namespace
}  // namespace pawl::sqlite
