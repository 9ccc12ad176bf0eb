// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A cancelled wait for another attempt of `once` in Redis ends, and cancelled work is given up.
#include "redis_fixture.hpp"

#include <pawl/blocking.hpp>
#include <pawl/guard/async_redis_once.hpp>
#include <support/eventually.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <thread>

namespace {

using namespace guard_tests;
using namespace pawl::guard;
using namespace std::chrono_literals;
namespace asio = boost::asio;

constexpr once_options long_wait{.lease = 1min, .wait = 1h};

class RedisOnceWait : public redis_test {
protected:
    RedisOnceWait() : before(claim(connection, "k", {.lease = 1h, .keep = 3h})) {}
    // The attempt before is not disturbed.
    void end_before() {
        ASSERT_TRUE(before);
        EXPECT_TRUE(finish(connection, *before.attempt, outcome("first"), patient));
    }

    once_claim before;
    resp_connection waiting{server};
};

TEST_F(RedisOnceWait, EndsWithTheStopOfItsToken) {
    std::stop_source cancel;
    std::jthread canceller([&] { cancel.request_stop(); });
    EXPECT_EQ(code_of([&] { (void)claim(waiting, "k", long_wait, cancel.get_token()); }),
              pawl::errc::cancelled);
    end_before();
}

TEST_F(RedisOnceWait, ForItsLockEndsWithTheStopOfItsToken) {
    pawl::blocking::client locks(pawl::from_url(server.url()));
    const auto held = locks.acquire("lock", {.ttl = 1h});
    std::stop_source cancel;
    std::jthread canceller([&] {
        EXPECT_TRUE(support::eventually([&] { return locks.inspect("lock").waiters > 0; }));
        cancel.request_stop();
    });
    const once_work no_work = [](const attempt&) -> outcome {
        ADD_FAILURE() << "the work runs without the lock";
        return "no";
    };
    EXPECT_EQ(code_of([&] {
                  (void)guarded_at_least_once(locks, waiting, "lock", "k", long_wait, no_work,
                                              cancel.get_token());
              }),
              pawl::errc::cancelled);
    end_before();
}

using RedisOnceWork = redis_test;

// Answers at once, so that a coroutine is suspended in its pauses only.
class immediate_connection final : public async_redis_connection {
public:
    explicit immediate_connection(redis_connection& inner) : inner_(inner) {}
    asio::awaitable<redis_reply> execute(const redis_command& command) override {
        co_return inner_.execute(command);
    }

private:
    redis_connection& inner_;
};

// Cancels the call when it is ready, and expects that it says so.
template <class Result>
void cancel_when(asio::io_context& loop, asio::awaitable<Result> call,
                 const std::function<bool()>& is_ready) {
    asio::cancellation_signal cancel;
    auto ended = asio::co_spawn(loop, std::move(call),
                                asio::bind_cancellation_slot(cancel.slot(), asio::use_future));
    while (!is_ready())
        loop.run_one();
    cancel.emit(asio::cancellation_type::terminal);
    loop.run();
    try {
        (void)ended.get();
        ADD_FAILURE() << "it was not cancelled";
    } catch (const boost::system::system_error& aborted) {
        EXPECT_EQ(aborted.code(), asio::error::operation_aborted);
    }
}

TEST_F(RedisOnceWait, EndsWithItsCoroutine) {
    asio::io_context loop;
    immediate_connection view(waiting);
    cancel_when(loop, async_claim(view, "k", long_wait), [&] { return waiting.sent.size() >= 4; });
    end_before();
}

template <class Outcome>
asio::awaitable<Outcome> wait_for_ever(bool& is_waiting) {
    asio::steady_timer never(co_await asio::this_coro::executor, 24h);
    is_waiting = true;
    co_await never.async_wait(asio::use_awaitable);
    co_return Outcome();
}

// Interleaving: the work waits, and is cancelled; the next caller comes at once. It must not wait
// for the end of the lease.
TEST_F(RedisOnceWork, IsGivenUpIfItIsCancelled) {
    asio::io_context loop;
    immediate_connection view(connection);
    bool is_waiting = false;
    const async_once_work outside = [&](const attempt&) {
        return wait_for_ever<outcome>(is_waiting);
    };
    const async_redis_once_work inside = [&](const attempt&) {
        return wait_for_ever<redis_outcome>(is_waiting);
    };
    cancel_when(loop, async_at_least_once(view, "outside", long_wait, outside),
                [&] { return is_waiting; });
    is_waiting = false;
    loop.restart();
    cancel_when(loop, async_once(view, "inside", long_wait, inside), [&] { return is_waiting; });
    for (const auto* key : {"outside", "inside"}) {
        const auto next = claim(connection, key, {.wait = 0s});
        ASSERT_TRUE(next) << key;
        EXPECT_EQ(next.attempt->number(), 2U) << key;
    }
}

asio::awaitable<outcome> sent_while_cancelled(asio::cancellation_signal& cancel) {
    cancel.emit(asio::cancellation_type::terminal);
    co_return "sent";
}

// Interleaving: the effect outside happens while its coroutine is cancelled. If the record stayed
// open, the next caller would repeat the effect.
TEST_F(RedisOnceWork, IsRecordedIfItHasHappened) {
    asio::io_context loop;
    immediate_connection view(connection);
    asio::cancellation_signal cancel;
    const async_once_work work = [&](const attempt&) { return sent_while_cancelled(cancel); };
    auto ended = asio::co_spawn(loop, async_at_least_once(view, "k", patient, work),
                                asio::bind_cancellation_slot(cancel.slot(), asio::use_future));
    loop.run();
    EXPECT_EQ(ended.get().state, once_state::done);
    EXPECT_EQ(claim(connection, "k", patient).known.state, once_state::replayed);
}

}  // namespace
