// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The first waiter behind an exclusive holder refreshes its place only every five to six seconds.
#include "server/command_counter.hpp"
#include "world/simulated_program.hpp"

#include <boost/asio/bind_executor.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace pawl::simulation {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

// Programs that can hold two locks each.
class FirstWaiter : public testing::Test {
protected:
    struct program : single_client_process {
        using single_client_process::single_client_process;
        std::array<held_lock, 2> held;
    };

    ~FirstWaiter() override {
        for (auto* each : {&a_, &b_, &c_}) {
            each->process.post([each] {
                each->held = {};
                each->locks.reset();
            });
        }
        loop_.run_for(20s);
    }

    void acquire(program& by, const lock_options& options, std::size_t index = 0) {
        by.process.post([&by, options, index] {
            by.locks->async_acquire(
                "it", options,
                asio::bind_executor(
                    by.process.get_executor(),
                    [&by, index](const boost::system::error_code& ec, held_lock lock) {
                        if (!ec) by.held[index] = std::move(lock);
                    }));
        });
        loop_.run_for(10ms);
    }
    void release(program& by) {
        by.process.post([&by] { by.held[0] = {}; });
    }

    scheduler loop_;
    prng random_{1};
    simulated_network network_{loop_, random_.fork(), network_faults{}};
    const redis::options options_;
    program a_{loop_, network_, options_, random_.fork()};
    program b_{loop_, network_, options_, random_.fork()};
    program c_{loop_, network_, options_, random_.fork()};
};

constexpr lock_options long_write{.ttl = 30s};
constexpr lock_options long_read{.ttl = 30s, .mode = lock_mode::shared};

TEST_F(FirstWaiter, SendsOneRequestInFiveSecondsWhileALockIsHeld) {
    acquire(a_, long_write);
    acquire(b_, long_write);
    loop_.run_for(10s);
    const command_counter refreshes(network_, is_refresh);
    loop_.run_for(60s);
    EXPECT_GE(refreshes.of(b_.process), 9U);
    EXPECT_LE(refreshes.of(b_.process), 13U);
}

// The holder downgrades while a writer waits with a long lease. The server shortens this lease,
// since the writer now delays the readers behind it. The writer is alive: it must hear of that and
// keep its place, or a later reader would pass it.
TEST_F(FirstWaiter, KeepsItsPlaceWhenTheHolderDowngrades) {
    acquire(a_, long_write);
    acquire(b_, long_write);
    loop_.run_for(2s);  // the writer has refreshed, and will again in five seconds
    a_.process.post([this] {
        a_.held[0].async_downgrade(asio::bind_executor(
            a_.process.get_executor(),
            [](const boost::system::error_code& ec) { EXPECT_FALSE(ec) << ec.message(); }));
    });
    loop_.run_for(2500ms);
    acquire(c_, long_read);
    loop_.run_for(1s);
    EXPECT_FALSE(c_.held[0]) << "a reader passed the writer";
    release(a_);
    loop_.run_for(1s);
    EXPECT_TRUE(b_.held[0]);
}

// A program passes the lock to its own waiter, with a shorter lease, and dies. The first waiter of
// another program knows only the end of the longer lease.
TEST_F(FirstWaiter, LooksWhenAShorterLeaseEnds) {
    acquire(a_, long_write);
    acquire(b_, long_write);
    acquire(a_, {.ttl = 1s}, 1);
    loop_.run_for(2s);
    release(a_);
    loop_.run_for(100ms);
    ASSERT_TRUE(a_.held[1]);
    a_.process.pause();
    loop_.run_for(1200ms);
    EXPECT_TRUE(b_.held[0]);
    a_.process.resume();
    loop_.run_for(1s);
    EXPECT_EQ(a_.held[1].state(), lock_state::lost);
}

// The first waiter has a long lease | the clock is set back, so this lease seems to last too long |
// the second waiter refreshes, and the server shortens the first one's place | the first waiter
// must hear of that, or it would be passed at the release.
TEST_F(FirstWaiter, KeepsItsPlaceWhenTheClockIsSetBack) {
    acquire(a_, long_write);
    acquire(b_, long_write);
    loop_.run_for(1300ms);
    network_.jump_clock(-(5s / 1us));
    acquire(c_, long_write);
    loop_.run_for(4s);
    release(a_);
    loop_.run_for(1s);
    EXPECT_TRUE(b_.held[0]);
    EXPECT_FALSE(c_.held[0]) << "the second waiter passed the first";
}

}  // namespace
}  // namespace pawl::simulation
