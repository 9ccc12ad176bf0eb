// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A renewal to one server is one round trip, also if the server does not know its script.
#include "workload/single_client_process.hpp"

#include <boost/asio/bind_executor.hpp>

#include <gtest/gtest.h>

#include <utility>

namespace pawl::simulation {
namespace {

using namespace std::chrono_literals;

class FirstRenewal : public testing::TestWithParam<lock_mode> {};

//   P: acquires the lock, ttl 3 s, from a server that knows no script; a round trip takes 1.1 s,
//   and this acquire needs two | the server executes the second request only, so the lease counts
//   from there | the first renewal is answered in time only if one round trip suffices
TEST_P(FirstRenewal, MayTakeMoreThanAThirdOfTheTtl) {
    scheduler loop;
    prng random{1};
    simulated_network network{loop, random.fork(),
                              network_faults{.latency_low = 550ms, .latency_high = 550ms}};
    const redis::options options;
    single_client_process program{loop, network, options, random.fork()};
    held_lock lock;
    program.process.post([&] {
        program.locks->async_acquire(
            "it", lock_options{.ttl = 3s, .mode = GetParam()},
            boost::asio::bind_executor(program.process.get_executor(),
                                       [&](const boost::system::error_code&, held_lock granted) {
                                           lock = std::move(granted);
                                       }));
    });
    loop.run_for(20s);
    ASSERT_TRUE(lock.owns_lock());
    loop.run_for(30s);
    EXPECT_EQ(lock.state(), lock_state::held);
    program.process.post([&] {
        lock = {};
        program.locks.reset();
    });
    loop.run_for(20s);
}

INSTANTIATE_TEST_SUITE_P(Each, FirstRenewal,
                         testing::Values(lock_mode::exclusive, lock_mode::shared),
                         [](const auto& test) {
                             return test.param == lock_mode::shared ? "Reader" : "Writer";
                         });

}  // namespace
}  // namespace pawl::simulation
