// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Work under a lock in coroutines, and polling.
#include "async_fixture.hpp"

#include <support/eventually.hpp>

#include <pawl/with_lock.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using namespace tested;
using pawl::held_lock;

class AsyncWork : public async_fixture {
protected:
    bool becomes_free(pawl::client& observer) {
        return support::eventually(
            [&] { return !observer.async_inspect("it", asio::use_future).get().held_by; });
    }
};

asio::awaitable<pawl::fencing_token> token_of(held_lock& lock) { co_return lock.token(); }
asio::awaitable<void> throw_failure(held_lock&) {
    throw std::runtime_error("by the work");
    co_return;
}
asio::awaitable<void> do_nothing(held_lock&) { co_return; }
asio::awaitable<void> wait_forever(held_lock&) {
    asio::steady_timer endless_timer(co_await asio::this_coro::executor, 1h);
    co_await endless_timer.async_wait(asio::use_awaitable);
}

TEST_P(AsyncWork, ReturnsWhatTheWorkReturnsAndTheLockIsFree) {
    auto locks = make_client(), observer = make_client();
    const auto token = wait_for(pawl::with_lock(locks, "it", with_wait, token_of));
    EXPECT_TRUE(token);
    EXPECT_FALSE(observer.async_inspect("it", asio::use_future).get().held_by);
    const auto next = wait_for(pawl::try_with_lock(locks, "it", no_wait, token_of));
    ASSERT_TRUE(next);
    EXPECT_GT(*next, token);
    EXPECT_TRUE(wait_for(pawl::try_with_lock(locks, "it", no_wait, do_nothing)));
}

TEST_P(AsyncWork, IsSkippedWhenSomebodyElseHasIt) {
    auto locks = make_client(), other = make_client();
    auto lock = other.async_acquire("it", with_wait, asio::use_future).get();
    EXPECT_FALSE(wait_for(pawl::try_with_lock(locks, "it", no_wait, token_of)));
    EXPECT_FALSE(wait_for(pawl::try_with_lock(locks, "it", no_wait, do_nothing)));
    EXPECT_EQ(lock.async_release(asio::use_future).get(), pawl::release_result::released);
}

TEST_P(AsyncWork, ThatThrowsGivesItBack) {
    auto locks = make_client(), observer = make_client();
    EXPECT_THROW(wait_for(pawl::with_lock(locks, "it", with_wait, throw_failure)),
                 std::runtime_error);
    EXPECT_TRUE(becomes_free(observer));
}

TEST_P(AsyncWork, AnErrorOfTheAcquireHasItsMessage) {
    auto locks = make_client();
    try {
        wait_for(pawl::with_lock(locks, "", with_wait, do_nothing));
        ADD_FAILURE() << "no error for an empty name";
    } catch (const pawl::error& e) {
        EXPECT_EQ(e.reason(), pawl::errc::bad_name);
        EXPECT_STREQ(e.what(), "The lock's name is empty; give it 1 to 512 bytes.");
    }
}

// The work is cancelled while it holds the lock: the frame is destroyed, and the handle with it.
TEST_P(AsyncWork, ThatIsCancelledGivesItBack) {
    auto locks = make_client(), observer = make_client();
    asio::cancellation_signal signal;
    std::promise<std::exception_ptr> ended;
    asio::co_spawn(loop, pawl::with_lock(locks, "it", with_wait, wait_forever),
                   asio::bind_cancellation_slot(
                       signal.slot(), [&](std::exception_ptr why) { ended.set_value(why); }));
    EXPECT_TRUE(support::eventually(
        [&] { return observer.async_inspect("it", asio::use_future).get().held_by.has_value(); }));
    asio::post(loop, [&] { signal.emit(asio::cancellation_type::terminal); });
    // Of the work, or of the acquire if the client has not learned of its grant yet.
    EXPECT_THROW(std::rethrow_exception(ended.get_future().get()), std::runtime_error);
    EXPECT_TRUE(becomes_free(observer));
}

TEST_P(AsyncWork, PollingIsCancelledInItsPause) {
    auto locks = make_client(), other = make_client();
    auto lock = other.async_acquire("it", with_wait, asio::use_future).get();
    asio::cancellation_signal signal;
    std::promise<boost::system::error_code> ended;
    pawl::try_options hourly{.ttl = 60s};
    hourly.retry = {.tries = 9, .interval = 1h, .longest = 1h};
    locks.async_try_acquire(
        "it", hourly,
        asio::bind_cancellation_slot(
            signal.slot(), [&](boost::system::error_code ec, held_lock) { ended.set_value(ec); }));
    asio::post(loop, [&] { signal.emit(asio::cancellation_type::total); });
    EXPECT_EQ(ended.get_future().get(), asio::error::operation_aborted);
}

struct buyer {
    std::vector<int>& items;
    asio::awaitable<bool> operator()(held_lock&, std::size_t index) {
        if (items[index] == 0) co_return false;
        --items[index];
        co_return true;
    }
};

TEST_P(AsyncWork, AnEmptyStripeLeadsToTheNext) {
    auto locks = make_client();
    const pawl::striped stripes("stock", 4);
    std::vector<int> items(4);
    items[(stripes.index_of("buyer") + 3) % 4] = 1;
    const buyer tested_buyer{items};
    EXPECT_TRUE(wait_for(pawl::with_any_stripe(locks, stripes, "buyer", with_wait, tested_buyer)));
    EXPECT_FALSE(wait_for(pawl::with_any_stripe(locks, stripes, "buyer", with_wait, tested_buyer)));
    EXPECT_TRUE(locks.async_list("", asio::use_future).get().empty());
}

INSTANTIATE_TEST_SUITE_P(On, AsyncWork, testing::ValuesIn(tested::async_services()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
