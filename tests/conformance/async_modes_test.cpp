// Shared locks, permits, renewals and downgrades in the asynchronous face.
#include "async_world.hpp"
#include "fixtures.hpp"

#include <support/eventually.hpp>

#include <pawl/backend.hpp>
#include <pawl/lock_owner.hpp>

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
constexpr pawl::lock_options one_of_three{
    .ttl = 60s, .wait = 20s, .mode = pawl::lock_mode::permits, .permits = 1, .of = 3};

class AsyncModes : public tested::async_world {
protected:
    std::uint64_t waiters(pawl::client& eyes) {
        return eyes.async_inspect("it", asio::use_future).get().waiters;
    }
    bool has_waiters(pawl::client& eyes, std::uint64_t count) {
        return support::eventually([&] { return waiters(eyes) == count; });
    }
};

struct crowd {
    int inside = 0;
    int most = 0;
};

asio::awaitable<void> pass(pawl::client& locks, pawl::lock_options options, crowd& all) {
    auto lock = co_await locks.async_acquire("it", options, asio::use_awaitable);
    all.most = std::max(all.most, ++all.inside);
    co_await asio::post(asio::use_awaitable);
    --all.inside;
    co_await lock.async_release(asio::use_awaitable);
}

TEST_P(AsyncModes, CoroutinesReadTogether) {
    auto one = make_client(), two = make_client();
    auto first = one.async_acquire("it", reading, asio::use_future).get();
    auto second = two.async_acquire("it", reading, asio::use_future).get();
    auto third =
        one.async_try_acquire("it", {.ttl = 60s, .mode = pawl::lock_mode::shared}, asio::use_future)
            .get();
    EXPECT_TRUE(first && second && third);
    EXPECT_EQ(second.token(), first.token());
    EXPECT_FALSE(two.async_try_acquire("it", {.ttl = 60s}, asio::use_future).get().owns_lock());
}

TEST_P(AsyncModes, CoroutinesShareThreePermits) {
    auto one = make_client(), two = make_client();
    crowd all;
    std::vector<std::future<void>> passing;
    for (int i = 0; i < 20; ++i)
        passing.push_back(asio::co_spawn(loop, pass(i % 2 == 0 ? one : two, one_of_three, all),
                                         asio::use_future));
    for (auto& each : passing)
        each.get();
    EXPECT_GE(all.most, 1);
    EXPECT_LE(all.most, 3);
    one.async_resize("it", 5, asio::use_future).get();
    EXPECT_EQ(two.async_inspect("it", asio::use_future).get().permits, 5U);
}

TEST_P(AsyncModes, WrongPermitsAreErrorCodes) {
    auto locks = make_client();
    const auto reason = [&](pawl::lock_options options) {
        auto answer = locks.async_acquire("it", options, asio::as_tuple(asio::use_future)).get();
        return std::error_code(std::get<0>(answer));
    };
    auto nobody_said = one_of_three;
    nobody_said.of = 0;
    EXPECT_EQ(reason(nobody_said), pawl::errc::bad_option);
    EXPECT_THAT(locks.last_failure(), testing::HasSubstr("Nobody has said how many permits 'it'"));
    auto lock = locks.async_acquire("it", one_of_three, asio::use_future).get();
    auto other = one_of_three;
    other.of = 8;
    EXPECT_EQ(reason(other), pawl::errc::bad_option);
    EXPECT_THAT(locks.last_failure(), testing::HasSubstr("has 3 permits, not 8; change that"));
    auto greedy = nobody_said;
    greedy.permits = 4;
    EXPECT_EQ(reason(greedy), pawl::errc::bad_option);
    EXPECT_THAT(locks.last_failure(), testing::HasSubstr("has 3 permits, and you ask for 4"));
    EXPECT_EQ(std::error_code(
                  std::get<0>(locks.async_resize("it", 0, asio::as_tuple(asio::use_future)).get())),
              pawl::errc::bad_option);
}

// A writer that is cancelled in line lets the reader behind it pass.
TEST_P(AsyncModes, ACancelledWriterLetsReadersPass) {
    auto locks = make_client(), other = make_client();
    auto first = locks.async_acquire("it", reading, asio::use_future).get();
    asio::cancellation_signal signal;
    std::promise<error_code> told;
    asio::post(loop, [&] {
        locks.async_acquire(
            "it", writing,
            asio::bind_cancellation_slot(
                signal.slot(), [&](error_code ec, pawl::held_lock) { told.set_value(ec); }));
    });
    ASSERT_TRUE(has_waiters(other, 1));
    auto late = other.async_acquire("it", reading, asio::use_future);
    ASSERT_TRUE(has_waiters(other, 2));
    asio::post(loop, [&] { signal.emit(asio::cancellation_type::terminal); });
    EXPECT_EQ(told.get_future().get(), asio::error::operation_aborted);
    EXPECT_TRUE(late.get());
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
    auto answer = me.async_acquire("it", writing, asio::as_tuple(asio::use_future)).get();
    EXPECT_EQ(std::error_code(std::get<0>(answer)), pawl::errc::bad_option);
    EXPECT_TRUE(reads.owns_lock());
}

// Of one client, which without `fair` would give the lock from hand to hand.
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

std::vector<tested::place> places_with_modes() {
    auto places = tested::async_places();
    const auto backends = tested::all_backends();
    std::erase_if(places, [&](const tested::place& place) {
        return std::none_of(backends.begin(), backends.end(), [&](const tested::backend& each) {
            const auto& promised = each.fixture->promised();
            return each.name == place.name && promised.shared && promised.permits &&
                   promised.strictly_fair && promised.downgrades;
        });
    });
    return places;
}

INSTANTIATE_TEST_SUITE_P(On, AsyncModes, testing::ValuesIn(places_with_modes()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
