// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The semaphore for programs with an event loop.
#include "async_fixture.hpp"

#include <support/eventually.hpp>

#include <pawl/semaphore.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>

#include <gmock/gmock.h>

#include <algorithm>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using boost::system::error_code;

constexpr pawl::lease_options long_lease{.ttl = 60s};
constexpr auto patience = 20s;

class AsyncSemaphore : public tested::async_fixture {
protected:
    bool has_waiters(pawl::client& observer, std::uint64_t count) {
        return support::eventually(
            [&] { return observer.async_inspect("it", asio::use_future).get().waiters == count; });
    }
    std::error_code failure_of(pawl::semaphore& tested_semaphore, std::uint32_t permits = 1) {
        auto result = tested_semaphore
                          .async_try_acquire(permits, pawl::redirect_diagnostics(
                                                          asio::as_tuple(asio::use_future), diag))
                          .get();
        return std::get<0>(result);
    }

    pawl::diagnostics diag;
};

struct crowd {
    int current = 0;
    int highest = 0;
};

asio::awaitable<void> hold_briefly(pawl::semaphore tested_semaphore, int rounds, crowd& all) {
    for (int i = 0; i < rounds; ++i) {
        auto permit = co_await tested_semaphore.async_acquire(1, patience, asio::use_awaitable);
        all.highest = std::max(all.highest, ++all.current);
        co_await asio::post(asio::use_awaitable);
        --all.current;
        (void)co_await permit.async_release(asio::use_awaitable);
    }
}

TEST_P(AsyncSemaphore, CoroutinesShareItAcrossClients) {
    auto first_client = make_client(), second_client = make_client();
    pawl::semaphore own_semaphore(first_client, "it", 3, long_lease),
        theirs(second_client, "it", 3, long_lease);
    crowd all;
    std::vector<std::future<void>> passing;
    for (int i = 0; i < 12; ++i)
        passing.push_back(asio::co_spawn(
            loop, hold_briefly(i % 2 == 0 ? own_semaphore : theirs, 4, all), asio::use_future));
    for (auto& each : passing)
        each.get();
    EXPECT_GE(all.highest, 1);
    EXPECT_LE(all.highest, 3);
    auto two_of_them = own_semaphore.async_acquire(2, patience, asio::use_future).get();
    EXPECT_FALSE(theirs.async_try_acquire(2, asio::use_future).get().owns_lock());
    EXPECT_TRUE(theirs.async_try_acquire(1, asio::use_future).get().owns_lock());
    EXPECT_TRUE(two_of_them.owns_lock());
}

// A has 3 of 3 | B names 3 and waits for two | A: resize to 5 | B is granted, and acquires again. A
// newcomer that names 3 is refused, also the second time.
TEST_P(AsyncSemaphore, AResizeDisturbsNobodyWhoRuns) {
    auto first_client = make_client(), second_client = make_client();
    pawl::semaphore own_semaphore(first_client, "it", 3, long_lease),
        theirs(second_client, "it", 3, long_lease);
    auto all = own_semaphore.async_acquire(3, patience, asio::use_future).get();
    auto waiting = theirs.async_acquire(2, patience, asio::use_future);
    ASSERT_TRUE(has_waiters(first_client, 1));
    own_semaphore.async_resize(5, asio::use_future).get();
    auto came = waiting.get();
    EXPECT_TRUE(came.owns_lock());
    EXPECT_EQ(came.async_release(asio::use_future).get(), pawl::release_result::released);
    EXPECT_TRUE(theirs.async_acquire(2, patience, asio::use_future).get().owns_lock());
    EXPECT_TRUE(own_semaphore.async_acquire(1, patience, asio::use_future).get().owns_lock());
    pawl::semaphore newcomer(second_client, "it", 3, long_lease);
    EXPECT_EQ(failure_of(newcomer), pawl::errc::bad_option);
    EXPECT_THAT(diag.message(), testing::HasSubstr("has 5 permits, not 3"));
    EXPECT_EQ(failure_of(newcomer), pawl::errc::bad_option);
    EXPECT_EQ(failure_of(theirs, 6), pawl::errc::bad_option);
    EXPECT_THAT(diag.message(), testing::HasSubstr("has 5 permits, and you ask for 6"));
}

TEST_P(AsyncSemaphore, ANumberThatNobodySaidIsAnErrorCode) {
    auto locks = make_client();
    pawl::semaphore tested_semaphore(locks, "it", 0, long_lease);
    EXPECT_EQ(failure_of(tested_semaphore), pawl::errc::bad_option);
    EXPECT_THAT(diag.message(), testing::HasSubstr("The total of the semaphore 'it' is not set"));
    tested_semaphore.async_resize(1, asio::use_future).get();
    EXPECT_TRUE(tested_semaphore.async_try_acquire(1, asio::use_future).get().owns_lock());
}

TEST_P(AsyncSemaphore, WhoGaveUpHasBeenHeard) {
    auto locks = make_client(), observer = make_client();
    pawl::semaphore all(observer, "it", 3, long_lease),
        tested_semaphore(locks, "it", 3, long_lease);
    auto hold = all.async_acquire(3, patience, asio::use_future).get();
    asio::cancellation_signal signal;
    std::promise<error_code> outcome_promise;
    asio::post(loop, [&] {
        tested_semaphore.async_acquire(
            1, asio::bind_cancellation_slot(signal.slot(), [&](error_code ec, pawl::held_lock) {
                outcome_promise.set_value(ec);
            }));
    });
    ASSERT_TRUE(has_waiters(observer, 1));
    asio::post(loop, [&] { signal.emit(asio::cancellation_type::terminal); });
    EXPECT_EQ(outcome_promise.get_future().get(), asio::error::operation_aborted);
    all.async_resize(4, asio::use_future).get();
    EXPECT_TRUE(tested_semaphore.async_try_acquire(1, asio::use_future).get().owns_lock());
    pawl::semaphore hasty(locks, "it", 4, long_lease);
    const auto late_result = hasty.async_acquire(2, 50ms, asio::as_tuple(asio::use_future)).get();
    EXPECT_EQ(std::error_code(std::get<0>(late_result)), pawl::errc::timed_out);
}

TEST_P(AsyncSemaphore, ADestroyedClientEndsItsWaits) {
    auto observer = make_client();
    pawl::semaphore all(observer, "it", 2, long_lease);
    auto hold = all.async_acquire(2, patience, asio::use_future).get();
    std::future<std::tuple<error_code, pawl::held_lock>> pending_result;
    {
        auto locks = make_client();
        pawl::semaphore tested_semaphore(locks, "it", 2, long_lease);
        pending_result =
            tested_semaphore.async_acquire(1, patience, asio::as_tuple(asio::use_future));
        ASSERT_TRUE(has_waiters(observer, 1));
    }
    auto cancelled_result = pending_result.get();
    EXPECT_EQ(std::error_code(std::get<0>(cancelled_result)), pawl::errc::cancelled);
    EXPECT_TRUE(has_waiters(observer, 0));
}

INSTANTIATE_TEST_SUITE_P(On, AsyncSemaphore, testing::ValuesIn(tested::async_lock_services()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
