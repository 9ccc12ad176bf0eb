// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The limits of a barrier's options.
#include "async_fixture.hpp"

#include <pawl/latch.hpp>

#include <boost/asio/as_tuple.hpp>

#include <chrono>
#include <system_error>
#include <tuple>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

class AsyncBarrier : public tested::async_fixture {};

// A refused arrival must not count: the other parties would go on without this one.
TEST_P(AsyncBarrier, ANegativeWaitIsRefusedBeforeTheArrival) {
    auto locks = make_client();
    pawl::barrier own_barrier(locks, "it", 2);
    for (const pawl::duration wait : {pawl::duration(-1), pawl::duration(-1h)}) {
        const auto [error] =
            own_barrier.async_arrive_and_wait(wait, asio::as_tuple(asio::use_future)).get();
        EXPECT_EQ(std::error_code(error), pawl::errc::bad_option);
        EXPECT_FALSE(own_barrier.async_inspect(asio::use_future).get().known);
    }
    const auto [late_result] =
        own_barrier.async_arrive_and_wait(0s, asio::as_tuple(asio::use_future)).get();
    EXPECT_EQ(std::error_code(late_result), pawl::errc::timed_out);
    EXPECT_TRUE(own_barrier.async_inspect(asio::use_future).get().known);
}

INSTANTIATE_TEST_SUITE_P(On, AsyncBarrier, testing::ValuesIn(tested::async_services()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
