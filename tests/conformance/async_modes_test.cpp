// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Shared locks, permits, renewals and downgrades in the async API.
#include "async_fixture.hpp"
#include "fixtures.hpp"

#include <support/eventually.hpp>

#include <pawl/lock_owner.hpp>
#include <pawl/spi/backend.hpp>

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

constexpr pawl::lock_options reading{.ttl = 60s, .wait = 20s, .mode = pawl::lock_mode::shared};
constexpr pawl::lock_options writing{.ttl = 60s, .wait = 20s};
constexpr pawl::lock_options one_permit_of_three{
    .ttl = 60s, .wait = 20s, .mode = pawl::lock_mode::permits, .permits = 1, .total_permits = 3};

class AsyncModes : public tested::async_fixture {
protected:
    std::uint64_t waiters(pawl::client& observer) {
        return observer.async_inspect("it", asio::use_future).get().waiters;
    }
    bool has_waiters(pawl::client& observer, std::uint64_t count) {
        return support::eventually([&] { return waiters(observer) == count; });
    }
};

struct concurrent_holders {
    int current = 0;
    int highest = 0;
};

asio::awaitable<void> hold_briefly(pawl::client& locks, pawl::lock_options options,
                                   concurrent_holders& holders) {
    auto lock = co_await locks.async_acquire("it", options, asio::use_awaitable);
    holders.highest = std::max(holders.highest, ++holders.current);
    co_await asio::post(asio::use_awaitable);
    --holders.current;
    (void)co_await lock.async_release(asio::use_awaitable);
}

TEST_P(AsyncModes, CoroutinesReadTogether) {
    auto first_client = make_client(), second_client = make_client();
    auto first = first_client.async_acquire("it", reading, asio::use_future).get();
    auto second = second_client.async_acquire("it", reading, asio::use_future).get();
    auto third = first_client
                     .async_try_acquire("it", {.ttl = 60s, .mode = pawl::lock_mode::shared},
                                        asio::use_future)
                     .get();
    EXPECT_TRUE(first && second && third);
    EXPECT_EQ(second.token(), first.token());
    EXPECT_FALSE(
        second_client.async_try_acquire("it", {.ttl = 60s}, asio::use_future).get().owns_lock());
}

TEST_P(AsyncModes, CoroutinesShareThreePermits) {
    auto first_client = make_client(), second_client = make_client();
    concurrent_holders holders;
    std::vector<std::future<void>> passing;
    for (int i = 0; i < 20; ++i)
        passing.push_back(asio::co_spawn(
            loop,
            hold_briefly(i % 2 == 0 ? first_client : second_client, one_permit_of_three, holders),
            asio::use_future));
    for (auto& each : passing)
        each.get();
    EXPECT_GE(holders.highest, 1);
    EXPECT_LE(holders.highest, 3);
    first_client.async_resize("it", 5, asio::use_future).get();
    EXPECT_EQ(second_client.async_inspect("it", asio::use_future).get().permits, 5U);
}

TEST_P(AsyncModes, WrongPermitsAreErrorCodes) {
    auto locks = make_client();
    pawl::diagnostics diag;
    const auto reason = [&](pawl::lock_options options) {
        auto result =
            locks
                .async_acquire("it", options,
                               pawl::redirect_diagnostics(asio::as_tuple(asio::use_future), diag))
                .get();
        return std::error_code(std::get<0>(result));
    };
    auto unknown_total = one_permit_of_three;
    unknown_total.total_permits = 0;
    EXPECT_EQ(reason(unknown_total), pawl::errc::bad_option);
    EXPECT_THAT(diag.message(), testing::HasSubstr("The total of the semaphore 'it' is not set"));
    auto lock = locks.async_acquire("it", one_permit_of_three, asio::use_future).get();
    auto other = one_permit_of_three;
    other.total_permits = 8;
    EXPECT_EQ(reason(other), pawl::errc::bad_option);
    EXPECT_THAT(diag.message(), testing::HasSubstr("has 3 permits, not 8; change that"));
    auto greedy = unknown_total;
    greedy.permits = 4;
    EXPECT_EQ(reason(greedy), pawl::errc::bad_option);
    EXPECT_THAT(diag.message(), testing::HasSubstr("has 3 permits, and you ask for 4"));
    EXPECT_EQ(std::error_code(
                  std::get<0>(locks.async_resize("it", 0, asio::as_tuple(asio::use_future)).get())),
              pawl::errc::bad_option);
}

// A writer that is cancelled in the queue lets the reader behind it pass.
TEST_P(AsyncModes, ACancelledWriterLetsReadersPass) {
    auto locks = make_client(), other = make_client();
    auto first = locks.async_acquire("it", reading, asio::use_future).get();
    asio::cancellation_signal signal;
    std::promise<error_code> outcome_promise;
    asio::post(loop, [&] {
        locks.async_acquire(
            "it", writing,
            asio::bind_cancellation_slot(signal.slot(), [&](error_code ec, pawl::held_lock) {
                outcome_promise.set_value(ec);
            }));
    });
    ASSERT_TRUE(has_waiters(other, 1));
    auto late_result = other.async_acquire("it", reading, asio::use_future);
    ASSERT_TRUE(has_waiters(other, 2));
    asio::post(loop, [&] { signal.emit(asio::cancellation_type::terminal); });
    EXPECT_EQ(outcome_promise.get_future().get(), asio::error::operation_aborted);
    EXPECT_TRUE(late_result.get());
    EXPECT_EQ(waiters(other), 0U);
}

TEST_P(AsyncModes, RenewAndDowngrade) {
    auto locks = make_client(), other = make_client();
    auto lock = locks.async_acquire("it", writing, asio::use_future).get();
    const auto token = lock.token();
    const auto before = lock.safe_until();
    lock.async_renew(asio::use_future).get();
    EXPECT_GT(lock.safe_until(), before);
    auto reader = other.async_acquire("it", reading, asio::use_future);
    ASSERT_TRUE(has_waiters(locks, 1));
    lock.async_downgrade(asio::use_future).get();
    auto beside = reader.get();
    EXPECT_EQ(beside.token(), token);
    auto loss = lock.async_wait_lost(asio::use_future);
    EXPECT_TRUE(other.async_force_release("it", asio::use_future).get());
    EXPECT_EQ(loss.get(), pawl::loss_reason::forced);
    for (auto* each : {&lock, &beside}) {
        const auto renewed = each->async_renew(asio::as_tuple(asio::use_future)).get();
        EXPECT_EQ(std::error_code(std::get<0>(renewed)), pawl::errc::lost);
    }
}

TEST_P(AsyncModes, AnOwnerThatReadsCannotWrite) {
    auto locks = make_client();
    pawl::lock_owner me(locks);
    auto reads = me.async_acquire("it", reading, asio::use_future).get();
    auto result = me.async_acquire("it", writing, asio::as_tuple(asio::use_future)).get();
    EXPECT_EQ(std::error_code(std::get<0>(result)), pawl::errc::bad_option);
    EXPECT_TRUE(reads.owns_lock());
}

// The waiters are of one client, which without `fair` would hand the lock over locally.
TEST_P(AsyncModes, FairClaimsStandInLineOneByOne) {
    auto locks = make_client(), other = make_client();
    auto fairly = writing;
    fairly.fair = true;
    auto lock = locks.async_acquire("it", fairly, asio::use_future).get();
    std::vector<std::future<pawl::held_lock>> line;
    for (std::size_t i = 0; i < 6; ++i) {
        line.push_back((i % 3 == 1 ? other : locks).async_acquire("it", fairly, asio::use_future));
        ASSERT_TRUE(has_waiters(other, i + 1));
    }
    for (auto& each : line) {
        const auto before = lock.token();
        EXPECT_EQ(lock.async_release(asio::use_future).get(), pawl::release_result::released);
        lock = each.get();
        EXPECT_GT(lock.token(), before);
    }
}

std::vector<tested::service_under_test> services_with_modes() {
    auto services = tested::async_services();
    const auto backends = tested::all_backends();
    std::erase_if(services, [&](const tested::service_under_test& tested_on) {
        return std::none_of(backends.begin(), backends.end(), [&](const tested::backend& each) {
            const auto& supported = each.fixture->capabilities();
            return each.name == tested_on.name && supported.shared && supported.permits &&
                   supported.strictly_fair && supported.downgrades;
        });
    });
    return services;
}

INSTANTIATE_TEST_SUITE_P(On, AsyncModes, testing::ValuesIn(services_with_modes()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
