// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The async API: the same locks with completion tokens, and cancellation through Asio's slots.
#include "async_fixture.hpp"

#include <support/eventually.hpp>
#include <support/redis_server.hpp>

#include <pawl/redis.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <gtest/gtest.h>

#include <random>
#include <thread>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using boost::system::error_code;

class Async : public tested::async_fixture {};
class AsyncCancellation : public Async {};  // also where waiters cannot be seen

asio::awaitable<void> count_up(pawl::client& locks, int rounds, int& value, bool& shared) {
    const pawl::lock_options options{.ttl = 60s};
    for (int i = 0; i < rounds; ++i) {
        auto lock = co_await locks.async_acquire("it", options, asio::use_awaitable);
        const int before = value;
        asio::steady_timer pause(co_await asio::this_coro::executor, 0ms);
        co_await pause.async_wait(asio::use_awaitable);
        shared = shared || value != before;
        value = before + 1;
        (void)co_await lock.async_release(asio::use_awaitable);
    }
}

TEST_P(Async, CoroutinesNeverOverlap) {
    auto first_client = make_client(), second_client = make_client();
    int value = 0;
    bool shared = false;
    std::vector<std::future<void>> crowd;
    for (int i = 0; i < 20; ++i)
        crowd.push_back(asio::co_spawn(
            loop, count_up(i % 2 == 0 ? first_client : second_client, 10, value, shared),
            asio::use_future));
    for (auto& each : crowd)
        each.get();
    EXPECT_EQ(value, 200);
    EXPECT_FALSE(shared);
}

TEST_P(Async, CallbacksAndFuturesWork) {
    auto locks = make_client();
    std::promise<bool> outcome_promise;
    locks.async_try_acquire("it", pawl::try_options{.ttl = 60s},
                            [&](error_code ec, pawl::held_lock lock) {
                                outcome_promise.set_value(!ec && static_cast<bool>(lock));
                            });
    EXPECT_TRUE(outcome_promise.get_future().get());
    auto lock = locks.async_acquire("it", {.ttl = 60s, .wait = 20s}, asio::use_future).get();
    EXPECT_EQ(locks.async_inspect("it", asio::use_future).get().held_by->token, lock.token());
    EXPECT_EQ(lock.async_release(asio::use_future).get(), pawl::release_result::released);
    EXPECT_EQ(lock.async_release(asio::use_future).get(), pawl::release_result::released);
}

TEST_P(Async, ABoundedWaitIsAnErrorCode) {
    auto locks = make_client();
    auto lock = locks.async_acquire("it", {.ttl = 60s}, asio::use_future).get();
    auto result =
        locks.async_acquire("it", {.ttl = 60s, .wait = 100ms}, asio::as_tuple(asio::use_future))
            .get();
    EXPECT_EQ(std::error_code(std::get<0>(result)), pawl::errc::timed_out);
    EXPECT_FALSE(std::get<1>(result));
    EXPECT_FALSE(locks.async_try_acquire("it", {.ttl = 60s}, asio::use_future).get().owns_lock());
}

// Any cancellation type, at any moment: during a request, in the queue, or just after the grant.
TEST_P(AsyncCancellation, LeavesNothing) {
    auto holder = make_client(), locks = make_client();
    std::minstd_rand dice(5);
    const asio::cancellation_type types[] = {asio::cancellation_type::terminal,
                                             asio::cancellation_type::partial,
                                             asio::cancellation_type::total};
    for (int round = 0; round < 60; ++round) {
        pawl::held_lock lock;
        if (round % 2 == 0) lock = holder.async_acquire("it", {.ttl = 60s}, asio::use_future).get();
        asio::cancellation_signal signal;
        std::promise<std::pair<error_code, bool>> outcome_promise;
        asio::post(loop, [&] {
            locks.async_acquire(
                "it", {.ttl = 60s, .wait = 20s},
                asio::bind_cancellation_slot(
                    signal.slot(), [&](error_code ec, pawl::held_lock acquired) {
                        outcome_promise.set_value({ec, static_cast<bool>(acquired)});
                    }));
        });
        std::this_thread::sleep_for(  // until the random instant of the cancel
            std::chrono::microseconds(std::uniform_int_distribution<int>(0, 1500)(dice)));
        asio::post(loop, [&, type = types[round % 3]] { signal.emit(type); });
        const auto [ec, got] = outcome_promise.get_future().get();
        EXPECT_TRUE(got || ec == asio::error::operation_aborted) << ec.message();
        EXPECT_NE(got, static_cast<bool>(ec));
        if (lock) (void)lock.async_release(asio::use_future).get();
        EXPECT_TRUE(support::eventually([&] {
            const auto info = holder.async_inspect("it", asio::use_future).get();
            return !info.held_by && info.waiters == 0;
        })) << "round "
            << round;
    }
}

// A cancellation by the caller has Asio's own code, so that `cancel_after` and `||` recognize it.
TEST_P(Async, ACallersCancellationIsOperationAborted) {
    auto holder = make_client(), locks = make_client();
    auto lock = holder.async_acquire("it", {.ttl = 60s}, asio::use_future).get();
    for (const auto type : {asio::cancellation_type::terminal, asio::cancellation_type::partial,
                            asio::cancellation_type::total}) {
        asio::cancellation_signal signal;
        std::promise<error_code> outcome_promise;
        asio::post(loop, [&] {
            locks.async_acquire(
                "it", {.ttl = 60s, .wait = 60s},
                asio::bind_cancellation_slot(signal.slot(), [&](error_code ec, pawl::held_lock) {
                    outcome_promise.set_value(ec);
                }));
        });
        EXPECT_TRUE(support::eventually(
            [&] { return holder.async_inspect("it", asio::use_future).get().waiters == 1; }));
        asio::post(loop, [&, type] { signal.emit(type); });
        EXPECT_EQ(outcome_promise.get_future().get(), asio::error::operation_aborted);
        EXPECT_TRUE(support::eventually(
            [&] { return holder.async_inspect("it", asio::use_future).get().waiters == 0; }));
    }
}

TEST_P(Async, WaitLostTellsOfALossAndOfARelease) {
    auto locks = make_client(), operators = make_client();
    auto lock = locks.async_acquire("it", {.ttl = 3s}, asio::use_future).get();
    auto loss = lock.async_wait_lost(asio::use_future);
    EXPECT_TRUE(operators.async_force_release("it", asio::use_future).get());
    EXPECT_EQ(loss.get(), pawl::loss_reason::forced);
    EXPECT_EQ(lock.async_wait_lost(asio::use_future).get(), pawl::loss_reason::forced);

    auto other = locks.async_acquire("other", {.ttl = 60s}, asio::use_future).get();
    auto waiting = other.async_wait_lost(asio::as_tuple(asio::use_future));
    EXPECT_EQ(other.async_release(asio::use_future).get(), pawl::release_result::released);
    EXPECT_EQ(std::get<0>(waiting.get()), asio::error::operation_aborted);
}

TEST_P(Async, ADestroyedClientEndsItsAcquires) {
    auto holder = make_client();
    auto lock = holder.async_acquire("it", {.ttl = 60s}, asio::use_future).get();
    std::future<std::tuple<error_code, pawl::held_lock>> pending_result;
    {
        auto locks = make_client();
        pending_result = locks.async_acquire("it", {.ttl = 60s}, asio::as_tuple(asio::use_future));
        EXPECT_TRUE(support::eventually(
            [&] { return holder.async_inspect("it", asio::use_future).get().waiters == 1; }));
    }
    const auto result = pending_result.get();
    EXPECT_EQ(std::error_code(std::get<0>(result)), pawl::errc::cancelled);
    EXPECT_TRUE(support::eventually(
        [&] { return holder.async_inspect("it", asio::use_future).get().waiters == 0; }));
}

TEST_P(Async, ADroppedHandleFreesIt) {
    auto locks = make_client(), other = make_client();
    for (int i = 0; i < 20; ++i) {
        {
            auto lock = locks.async_acquire("it", {.ttl = 60s}, asio::use_future).get();
        }
        auto next = other.async_acquire("it", {.ttl = 60s, .wait = 10s}, asio::use_future).get();
        EXPECT_TRUE(next);
    }
}

// Not only acquisitions: a server that does not reply keeps every operation outstanding.
TEST(AsyncOperations, TellACallersCancellationFromTheClientsEnd) {
    support::redis_server server;
    asio::io_context loop;
    std::vector<error_code> by_caller, by_end;
    asio::cancellation_signal signal;
    {
        pawl::client locks(loop.get_executor(), pawl::redis::at(server.url()));
        server.freeze();
        const auto record = [&](std::vector<error_code>& completions) {
            return [&completions](error_code ec, auto&&...) { completions.push_back(ec); };
        };
        locks.async_inspect("it", asio::bind_cancellation_slot(signal.slot(), record(by_caller)));
        while (loop.poll() > 0) {}
        signal.emit(asio::cancellation_type::terminal);
        while (by_caller.empty())
            loop.run_one();
        locks.async_inspect("it", record(by_end));
        locks.async_list("", record(by_end));
        locks.async_force_release("it", record(by_end));
        locks.async_examine(record(by_end));
        locks.async_try_acquire("it", pawl::try_options{.ttl = 60s}, record(by_end));
        while (loop.poll() > 0) {}
    }
    while (by_end.size() < 5)
        loop.run_one();
    server.thaw();
    loop.run();
    EXPECT_EQ(by_caller, std::vector<error_code>{asio::error::operation_aborted});
    EXPECT_EQ(by_end, std::vector<error_code>(5, make_error_code(pawl::errc::cancelled)));
}

INSTANTIATE_TEST_SUITE_P(On, Async, testing::ValuesIn(tested::async_lock_services()),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(On, AsyncCancellation, testing::ValuesIn(tested::all_async_services()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
