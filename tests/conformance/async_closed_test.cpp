// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A closed client: every operation fails in the same way, whatever its backend would reply.
#include "async_fixture.hpp"

#include <pawl/latch.hpp>
#include <pawl/semaphore.hpp>

#include <boost/asio/as_tuple.hpp>

#include <chrono>
#include <system_error>
#include <tuple>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

constexpr auto future_tuple = asio::as_tuple(asio::use_future);

class AsyncClosed : public tested::async_fixture {
protected:
    // The error that the operation ends with.
    template <class Future>
    static std::error_code error_of(Future future) {
        return std::get<0>(future.get());
    }
    pawl::client make_closed_client() {
        auto locks = make_client();
        (void)locks.async_acquire("it", {}, asio::use_future)
            .get()
            .async_release(asio::use_future)
            .get();
        locks.async_close(asio::use_future).get();
        return locks;
    }
};

//   C: closes, and its backend is gone | C: inspect, list … | each ends with errc::cancelled, and
//   none asks the backend that has ended its connections
TEST_P(AsyncClosed, RefusesWhatDoesNotAcquire) {
    auto locks = make_closed_client();
    EXPECT_EQ(error_of(locks.async_inspect("it", future_tuple)), pawl::errc::cancelled);
    EXPECT_EQ(error_of(locks.async_list("", future_tuple)), pawl::errc::cancelled);
    EXPECT_EQ(error_of(locks.async_force_release("it", future_tuple)), pawl::errc::cancelled);
    EXPECT_EQ(error_of(locks.async_resize("it", 3, future_tuple)), pawl::errc::cancelled);
    EXPECT_EQ(error_of(locks.async_examine(future_tuple)), pawl::errc::cancelled);
    pawl::semaphore permits(locks, "permits", 3);
    EXPECT_EQ(error_of(permits.async_resize(4, future_tuple)), pawl::errc::cancelled);
    pawl::diagnostics diag;
    EXPECT_EQ(error_of(locks.async_inspect("it", pawl::redirect_diagnostics(future_tuple, diag))),
              pawl::errc::cancelled);
    EXPECT_NE(diag.message().find("closed"), std::string::npos) << diag.message();
}

TEST_P(AsyncClosed, RefusesAcquires) {
    auto locks = make_closed_client();
    EXPECT_EQ(error_of(locks.async_acquire("it", {}, future_tuple)), pawl::errc::cancelled);
    EXPECT_EQ(error_of(locks.async_try_acquire("it", {}, future_tuple)), pawl::errc::cancelled);
    EXPECT_EQ(error_of(locks.async_acquire_all({"a", "b"}, {}, future_tuple)),
              pawl::errc::cancelled);
}

TEST_P(AsyncClosed, RefusesLatches) {
    auto locks = make_closed_client();
    pawl::latch own_latch(locks, "latch");
    EXPECT_EQ(error_of(own_latch.async_try_set(1, future_tuple)), pawl::errc::cancelled);
    EXPECT_EQ(error_of(own_latch.async_wait(1s, future_tuple)), pawl::errc::cancelled);
    EXPECT_EQ(error_of(own_latch.async_inspect(future_tuple)), pawl::errc::cancelled);
    pawl::barrier own_barrier(locks, "barrier", 2);
    EXPECT_EQ(error_of(own_barrier.async_arrive(future_tuple)), pawl::errc::cancelled);
}

INSTANTIATE_TEST_SUITE_P(On, AsyncClosed, testing::ValuesIn(tested::async_lock_services()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
