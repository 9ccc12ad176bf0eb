// The semaphore of programs with an event loop.
#include "async_world.hpp"

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

constexpr pawl::lock_options options{.ttl = 60s, .wait = 20s};

class AsyncSemaphore : public tested::async_world {
protected:
    bool has_waiters(pawl::client& eyes, std::uint64_t count) {
        return support::eventually(
            [&] { return eyes.async_inspect("it", asio::use_future).get().waiters == count; });
    }
    static std::error_code reason(pawl::semaphore& it, std::uint32_t permits = 1) {
        auto answer = it.async_try_acquire(permits, asio::as_tuple(asio::use_future)).get();
        return std::get<0>(answer);
    }
};

struct crowd {
    int inside = 0;
    int most = 0;
};

asio::awaitable<void> pass(pawl::semaphore it, int rounds, crowd& all) {
    for (int i = 0; i < rounds; ++i) {
        auto permit = co_await it.async_acquire(1, asio::use_awaitable);
        all.most = std::max(all.most, ++all.inside);
        co_await asio::post(asio::use_awaitable);
        --all.inside;
        co_await permit.async_release(asio::use_awaitable);
    }
}

TEST_P(AsyncSemaphore, CoroutinesShareItAcrossClients) {
    auto one = make_client(), two = make_client();
    pawl::semaphore mine(one, "it", 3, options), theirs(two, "it", 3, options);
    crowd all;
    std::vector<std::future<void>> passing;
    for (int i = 0; i < 12; ++i)
        passing.push_back(
            asio::co_spawn(loop, pass(i % 2 == 0 ? mine : theirs, 4, all), asio::use_future));
    for (auto& each : passing)
        each.get();
    EXPECT_GE(all.most, 1);
    EXPECT_LE(all.most, 3);
    auto two_of_them = mine.async_acquire(2, asio::use_future).get();
    EXPECT_FALSE(theirs.async_try_acquire(2, asio::use_future).get().owns_lock());
    EXPECT_TRUE(theirs.async_try_acquire(1, asio::use_future).get().owns_lock());
    EXPECT_TRUE(two_of_them.owns_lock());
}

// A has 3 of 3 | B says 3 and waits for two | A: resize to 5 | B goes on, and comes again. A
// newcomer who says 3 is refused, also the second time.
TEST_P(AsyncSemaphore, AResizeDisturbsNobodyWhoRuns) {
    auto one = make_client(), two = make_client();
    pawl::semaphore mine(one, "it", 3, options), theirs(two, "it", 3, options);
    auto all = mine.async_acquire(3, asio::use_future).get();
    auto waiting = theirs.async_acquire(2, asio::use_future);
    ASSERT_TRUE(has_waiters(one, 1));
    mine.async_resize(5, asio::use_future).get();
    auto came = waiting.get();
    EXPECT_TRUE(came.owns_lock());
    EXPECT_EQ(came.async_release(asio::use_future).get(), pawl::release_result::released);
    EXPECT_TRUE(theirs.async_acquire(2, asio::use_future).get().owns_lock());
    EXPECT_TRUE(mine.async_acquire(1, asio::use_future).get().owns_lock());
    pawl::semaphore newcomer(two, "it", 3, options);
    EXPECT_EQ(reason(newcomer), pawl::errc::bad_option);
    EXPECT_THAT(two.last_failure(), testing::HasSubstr("has 5 permits, not 3"));
    EXPECT_EQ(reason(newcomer), pawl::errc::bad_option);
    EXPECT_EQ(reason(theirs, 6), pawl::errc::bad_option);
    EXPECT_THAT(two.last_failure(), testing::HasSubstr("has 5 permits, and you ask for 6"));
}

TEST_P(AsyncSemaphore, ANumberThatNobodySaidIsAnErrorCode) {
    auto locks = make_client();
    pawl::semaphore it(locks, "it", 0, options);
    EXPECT_EQ(reason(it), pawl::errc::bad_option);
    EXPECT_THAT(locks.last_failure(), testing::HasSubstr("Nobody has said how many permits 'it'"));
    it.async_resize(1, asio::use_future).get();
    EXPECT_TRUE(it.async_try_acquire(1, asio::use_future).get().owns_lock());
}

TEST_P(AsyncSemaphore, WhoGaveUpHasBeenHeard) {
    auto locks = make_client(), eyes = make_client();
    pawl::semaphore all(eyes, "it", 3, options), it(locks, "it", 3, options);
    auto hold = all.async_acquire(3, asio::use_future).get();
    asio::cancellation_signal signal;
    std::promise<error_code> told;
    asio::post(loop, [&] {
        it.async_acquire(
            1, asio::bind_cancellation_slot(
                   signal.slot(), [&](error_code ec, pawl::held_lock) { told.set_value(ec); }));
    });
    ASSERT_TRUE(has_waiters(eyes, 1));
    asio::post(loop, [&] { signal.emit(asio::cancellation_type::terminal); });
    EXPECT_EQ(told.get_future().get(), asio::error::operation_aborted);
    all.async_resize(4, asio::use_future).get();
    EXPECT_TRUE(it.async_try_acquire(1, asio::use_future).get().owns_lock());
    pawl::semaphore hasty(locks, "it", 4, {.ttl = 60s, .wait = 50ms});
    const auto late = hasty.async_acquire(2, asio::as_tuple(asio::use_future)).get();
    EXPECT_EQ(std::error_code(std::get<0>(late)), pawl::errc::timed_out);
}

TEST_P(AsyncSemaphore, ADestroyedClientEndsItsWaits) {
    auto eyes = make_client();
    pawl::semaphore all(eyes, "it", 2, options);
    auto hold = all.async_acquire(2, asio::use_future).get();
    std::future<std::tuple<error_code, pawl::held_lock>> answer;
    {
        auto locks = make_client();
        pawl::semaphore it(locks, "it", 2, options);
        answer = it.async_acquire(1, asio::as_tuple(asio::use_future));
        ASSERT_TRUE(has_waiters(eyes, 1));
    }
    auto told = answer.get();
    EXPECT_EQ(std::error_code(std::get<0>(told)), pawl::errc::cancelled);
    EXPECT_TRUE(has_waiters(eyes, 0));
}

INSTANTIATE_TEST_SUITE_P(On, AsyncSemaphore, testing::ValuesIn(tested::async_places()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
