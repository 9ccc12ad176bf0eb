// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A client reads a grant and its loss together.
#include "world/simulated_program.hpp"

#include <redis/common/keys.hpp>

#include <boost/asio/bind_executor.hpp>

#include <gtest/gtest.h>

namespace pawl::simulation {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

struct pending_acquire {
    held_lock lock;
    boost::system::error_code ec;
    bool completed = false;
};

class ForcedGrant : public testing::Test {
protected:
    void TearDown() override {
        for (auto* each : {&holder, &waiter})
            each->lock = {};
        for (auto* each : {&first_program, &second_program})
            each->process.post([each] { each->locks.reset(); });
        loop.run_for(48h);
        EXPECT_TRUE(loop.is_idle());
    }
    void start_acquire(single_client_process& program, pending_acquire& result) {
        auto handler = [&result](const boost::system::error_code& ec, held_lock lock) {
            result.lock = std::move(lock);
            result.ec = ec;
            result.completed = true;
        };
        program.locks->async_acquire("it", {.ttl = 60s, .wait = 30s},
                                     asio::bind_executor(program.process.get_executor(), handler));
    }

    scheduler loop;
    simulated_network network{loop, prng(1), {}};
    redis::options options;
    single_client_process first_program{loop, network, options, prng(2)},
        second_program{loop, network, options, prng(3)};
    pending_acquire holder, waiter;
};

//   A: holds, B waits | B's program is stopped for a moment | A: releases, B is granted the lock |
//   an operator takes the lock away | B reads both messages: it never held the lock, and waits on
TEST_F(ForcedGrant, ALossThatIsReadWithItsGrantEndsTheGrant) {
    start_acquire(first_program, holder);
    loop.run_for(100ms);
    ASSERT_TRUE(holder.lock);
    start_acquire(second_program, waiter);
    loop.run_for(100ms);
    second_program.process.pause();
    holder.lock.async_release([](release_result) {});
    loop.run_for(20ms);
    first_program.locks->async_force_release(
        "it", [](const boost::system::error_code& ec, bool released) {
            EXPECT_TRUE(!ec && released) << ec.message();
        });
    loop.run_for(20ms);
    second_program.process.resume();
    loop.run_for(3s);
    ASSERT_TRUE(waiter.completed);
    EXPECT_FALSE(waiter.ec) << waiter.ec.message();
    EXPECT_EQ(waiter.lock.state(), lock_state::held);
}

}  // namespace
}  // namespace pawl::simulation
