// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Latches and barriers in coroutines, callbacks and futures.
#include "async_fixture.hpp"

#include <support/eventually.hpp>

#include <pawl/latch.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/cancellation_signal.hpp>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using boost::system::error_code;

class AsyncLatch : public tested::async_fixture {
protected:
    static bool has_waiters(pawl::latch& other_latch, std::uint64_t count) {
        return support::eventually(
            [&] { return other_latch.async_inspect(asio::use_future).get().waiters == count; });
    }
};

asio::awaitable<void> pass_rounds(pawl::barrier tested_barrier, int rounds, int& arrived,
                                  int parties, bool& early) {
    for (int round = 1; round <= rounds; ++round) {
        ++arrived;
        co_await tested_barrier.async_arrive_and_wait(20s, asio::use_awaitable);
        early = early || arrived < round * parties;
    }
}

TEST_P(AsyncLatch, CoroutinesMeetAtABarrier) {
    auto first_client = make_client(), second_client = make_client();
    pawl::barrier first(first_client, "it", 5), second(second_client, "it", 5);
    int arrived = 0;
    bool early = false;
    std::vector<std::future<void>> crowd;
    for (int i = 0; i < 5; ++i)
        crowd.push_back(
            asio::co_spawn(loop, pass_rounds(i % 2 == 0 ? first : second, 20, arrived, 5, early),
                           asio::use_future));
    for (auto& each : crowd)
        each.get();
    EXPECT_EQ(arrived, 100);
    EXPECT_FALSE(early);
    const auto phase = first.async_arrive(asio::use_future).get();
    const auto late_result = second.async_wait(phase, 0s, asio::as_tuple(asio::use_future)).get();
    EXPECT_EQ(std::error_code(std::get<0>(late_result)), pawl::errc::timed_out);
    EXPECT_TRUE(first.async_reset(asio::use_future).get());
    EXPECT_FALSE(second.async_inspect(asio::use_future).get().known);
}

TEST_P(AsyncLatch, CountsDownAndLetsGo) {
    auto locks = make_client(), other = make_client();
    pawl::latch own_latch(locks, "it"), theirs(other, "it");
    EXPECT_TRUE(own_latch.async_try_set(3, asio::use_future).get());
    EXPECT_FALSE(theirs.async_try_set(1, asio::use_future).get());
    auto waiting = theirs.async_wait(20s, asio::use_future);
    auto arriving = theirs.async_arrive_and_wait(20s, asio::use_future);
    ASSERT_TRUE(support::eventually(
        [&] { return own_latch.async_inspect(asio::use_future).get().count == 2; }));
    EXPECT_FALSE(own_latch.async_try_wait(asio::use_future).get());
    EXPECT_EQ(own_latch.async_count_down(2, asio::use_future).get(), 0U);
    waiting.get();
    arriving.get();
    EXPECT_TRUE(theirs.async_try_wait(asio::use_future).get());
}

TEST_P(AsyncLatch, ABoundedWaitIsAnErrorCode) {
    auto locks = make_client();
    pawl::latch own_latch(locks, "it");
    EXPECT_TRUE(own_latch.async_try_set(1, asio::use_future).get());
    pawl::diagnostics diag;
    const auto late_result =
        own_latch
            .async_wait(50ms, pawl::redirect_diagnostics(asio::as_tuple(asio::use_future), diag))
            .get();
    EXPECT_EQ(std::error_code(std::get<0>(late_result)), pawl::errc::timed_out);
    EXPECT_NE(diag.message().find("'it'"), std::string::npos) << diag.message();
    const auto no_time = own_latch.async_wait(-1s, asio::as_tuple(asio::use_future)).get();
    EXPECT_EQ(std::error_code(std::get<0>(no_time)), pawl::errc::bad_option);
}

TEST_P(AsyncLatch, ACallersCancellationIsOperationAborted) {
    auto locks = make_client(), observer = make_client();
    pawl::latch own_latch(locks, "it"), seen(observer, "it");
    EXPECT_TRUE(own_latch.async_try_set(1, asio::use_future).get());
    for (const auto type : {asio::cancellation_type::terminal, asio::cancellation_type::partial,
                            asio::cancellation_type::total}) {
        asio::cancellation_signal signal;
        std::promise<error_code> outcome_promise;
        asio::post(loop, [&] {
            own_latch.async_wait(
                60s, asio::bind_cancellation_slot(
                         signal.slot(), [&](error_code ec) { outcome_promise.set_value(ec); }));
        });
        EXPECT_TRUE(has_waiters(seen, 1));
        asio::post(loop, [&, type] { signal.emit(type); });
        EXPECT_EQ(outcome_promise.get_future().get(), asio::error::operation_aborted);
        EXPECT_TRUE(has_waiters(seen, 0));
    }
    auto limited = own_latch.async_wait(pawl::forever,
                                        asio::cancel_after(20ms, asio::as_tuple(asio::use_future)));
    EXPECT_EQ(std::get<0>(limited.get()), asio::error::operation_aborted);
}

TEST_P(AsyncLatch, ADestroyedClientEndsItsWaits) {
    auto observer = make_client();
    pawl::latch seen(observer, "it");
    EXPECT_TRUE(seen.async_try_set(1, asio::use_future).get());
    std::future<std::tuple<error_code>> pending_result;
    {
        auto locks = make_client();
        pawl::latch own_latch(locks, "it");
        pending_result = own_latch.async_wait(60s, asio::as_tuple(asio::use_future));
        EXPECT_TRUE(has_waiters(seen, 1));
    }
    EXPECT_EQ(std::error_code(std::get<0>(pending_result.get())), pawl::errc::cancelled);
    EXPECT_TRUE(has_waiters(seen, 0));
}

INSTANTIATE_TEST_SUITE_P(On, AsyncLatch, testing::ValuesIn(tested::async_services()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
