// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Lock sets for coroutines, callbacks and futures.
#include "async_fixture.hpp"

#include <support/eventually.hpp>

#include <pawl/lock_owner.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using namespace tested;

class AsyncSeveral : public async_fixture {
protected:
    bool becomes_free(pawl::client& observer, const std::vector<std::string>& names) {
        return support::eventually([&] {
            return std::all_of(names.begin(), names.end(), [&](const std::string& each) {
                const auto info = observer.async_inspect(each, asio::use_future).get();
                return !info.held_by && info.waiters == 0;
            });
        });
    }
};

const std::vector<std::string> names{"c", "a", "b"};

TEST_P(AsyncSeveral, AreTakenAndGivenBackAsOne) {
    auto locks = make_client(), other = make_client();
    auto all = locks.async_acquire_all(names, with_wait, asio::use_future).get();
    EXPECT_EQ(all.size(), 3U);
    const auto before = all.safe_until();
    all.async_renew(asio::use_future).get();
    EXPECT_GT(all.safe_until(), before);
    EXPECT_FALSE(
        other.async_try_acquire_all({"b", "d"}, no_wait, asio::use_future).get().owns_lock());
    EXPECT_EQ(all.async_release(asio::use_future).get(), pawl::release_result::released);
    EXPECT_EQ(all.async_release(asio::use_future).get(), pawl::release_result::released);
    EXPECT_TRUE(other.async_try_acquire_all(names, no_wait, asio::use_future).get().owns_lock());
}

// A completion token that the caller did not move must still be usable afterwards.
TEST_P(AsyncSeveral, AnLvalueCompletionTokenIsNotMovedFrom) {
    auto locks = make_client();
    pawl::lock_owner me(locks);
    std::promise<void> all, finished;
    std::function<void(boost::system::error_code, pawl::held_locks)> take_all =
        [&](boost::system::error_code, pawl::held_locks) { all.set_value(); };
    std::function<void(boost::system::error_code, pawl::held_lock)> acquire_next =
        [&](boost::system::error_code, pawl::held_lock) { finished.set_value(); };
    locks.async_try_acquire_all(names, no_wait, take_all);
    me.async_try_acquire("d", no_wait, acquire_next);
    all.get_future().get();
    finished.get_future().get();
    EXPECT_TRUE(take_all != nullptr && acquire_next != nullptr);
}

// This client gets two of three, another one holds the third: the cancellation comes there.
TEST_P(AsyncSeveral, CancelledBeforeTheLastLeavesNone) {
    auto locks = make_client(), other = make_client();
    auto busy = other.async_acquire("c", with_wait, asio::use_future).get();
    asio::cancellation_signal signal;
    std::promise<boost::system::error_code> ended;
    asio::post(loop, [&] {
        locks.async_acquire_all(names, with_wait,
                                asio::bind_cancellation_slot(
                                    signal.slot(), [&](boost::system::error_code ec,
                                                       pawl::held_locks) { ended.set_value(ec); }));
    });
    EXPECT_TRUE(support::eventually(
        [&] { return other.async_inspect("c", asio::use_future).get().waiters == 1; }));
    EXPECT_FALSE(other.async_try_acquire("b", no_wait, asio::use_future).get().owns_lock());
    asio::post(loop, [&] { signal.emit(asio::cancellation_type::total); });
    EXPECT_EQ(ended.get_future().get(), asio::error::operation_aborted);
    busy = {};
    EXPECT_TRUE(becomes_free(other, names));
}

TEST_P(AsyncSeveral, AreGivenBackWhenTheClientEnds) {
    auto other = make_client();
    auto busy = other.async_acquire("c", with_wait, asio::use_future).get();
    std::future<std::tuple<boost::system::error_code, pawl::held_locks>> pending_result;
    {
        auto locks = make_client();
        pending_result =
            locks.async_acquire_all(names, with_wait, asio::as_tuple(asio::use_future));
        EXPECT_TRUE(support::eventually(
            [&] { return other.async_inspect("c", asio::use_future).get().waiters == 1; }));
    }
    EXPECT_EQ(std::error_code(std::get<0>(pending_result.get())), pawl::errc::cancelled);
    busy = {};
    EXPECT_TRUE(becomes_free(other, names));
}

INSTANTIATE_TEST_SUITE_P(On, AsyncSeveral, testing::ValuesIn(tested::async_lock_services()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
