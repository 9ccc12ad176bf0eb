// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// An answer to a renewal counts as long as it arrives before the deadline that it extends, however
// far the servers are.
#include "redlock/redlock_programs.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace pawl::simulation {
namespace {

using namespace std::chrono_literals;

constexpr network_faults near{};

class LateRenewal : public testing::TestWithParam<lock_mode> {
protected:
    [[nodiscard]] lock_options hold() const { return {.ttl = 3s, .mode = GetParam()}; }
};

//   P: holds the lock, ttl 3 s | the nodes are 400 ms away from now on, a round trip of 800 ms
//   each renewal is answered after more than a tenth of the ttl | the hold lives on
TEST_P(LateRenewal, OverNodesThatAreFarAway) {
    redlock_programs set(3, 1, near);
    auto& request = set.acquire(*set.programs[0], hold());
    ASSERT_TRUE(set.run_until([&] { return request.outcome.has_value(); }));
    ASSERT_TRUE(request.lock.owns_lock()) << request.messages.message();
    set.set_latency(400ms, 400ms);
    set.loop.run_for(60s);
    EXPECT_EQ(request.lock.state(), lock_state::held);
    EXPECT_EQ(set.count_of(), 3U);
}

//   P: holds the lock | node 1 freezes, node 2's connection breaks with the renewal in it, node 3
//   extends | node 2 is connected again, and P asks it again while node 1's answer is missing
TEST_P(LateRenewal, ANodeIsAskedAgainWhileAnotherIsSilent) {
    redlock_programs set(3, 1, near);
    auto& request = set.acquire(*set.programs[0], hold());
    ASSERT_TRUE(set.run_until([&] { return request.outcome.has_value(); }));
    set.networks[0]->freeze();
    for (int i = 0; i < 30; ++i) {
        set.loop.run_for(330ms);
        set.networks[1]->break_clients();
    }
    EXPECT_EQ(request.lock.state(), lock_state::held);
}

//   P: holds the lock | all nodes freeze just after a renewal was sent, for longer than a third of
//   the ttl | they go on before the deadline: the renewals in their sockets count
TEST_P(LateRenewal, OverNodesThatWereFrozen) {
    redlock_programs set(5, 1, near);
    auto& request = set.acquire(*set.programs[0], hold());
    ASSERT_TRUE(set.run_until([&] { return request.outcome.has_value(); }));
    for (int i = 0; i < 10; ++i) {
        for (auto* each : set.networks)
            each->freeze();
        set.loop.run_for(1700ms);
        for (auto* each : set.networks)
            each->thaw();
        set.loop.run_for(100ms);
        ASSERT_EQ(request.lock.state(), lock_state::held) << "after the outage " << i + 1;
    }
}

//   P: holds the lock | the nodes do not answer | P releases it, a node goes on | P sends no other
//   renewal, which would restore the lock for nobody
TEST_P(LateRenewal, NoneIsSentAfterTheRelease) {
    redlock_programs set(3, 1, near);
    auto& program = *set.programs[0];
    auto& request = set.acquire(program, hold());
    ASSERT_TRUE(set.run_until([&] { return request.outcome.has_value(); }));
    set.networks[0]->freeze();
    set.networks[1]->stop_server();
    set.loop.run_for(1200ms);
    std::optional<release_result> result;
    set.release(program, request, result);
    set.loop.run_for(100ms);
    set.networks[0]->thaw();
    set.loop.run_for(10ms);
    EXPECT_EQ(set.count_of(), 0U);
    set.loop.run_for(1s);
    EXPECT_EQ(set.count_of(), 0U) << "a renewal came after the release";
}

//   P: holds the lock, ttl 3 s, at a server that has never run the script of a renewal | its answer
//   takes more than a third of the ttl
TEST_P(LateRenewal, AtOneServer) {
    scheduler loop;
    prng random{1};
    simulated_network network{loop, random.fork(), near};
    const redis::options options;
    single_client_process program{loop, network, options, random.fork()};
    held_lock lock;
    program.process.post([&] {
        program.locks->async_acquire(
            "it", hold(),
            boost::asio::bind_executor(
                program.process.get_executor(),
                [&](const boost::system::error_code&, held_lock granted) {
                    lock = std::move(granted);
                }));
    });
    loop.run_for(100ms);
    ASSERT_TRUE(lock.owns_lock());
    network.set_latency(550ms, 550ms);
    loop.run_for(30s);
    EXPECT_EQ(lock.state(), lock_state::held);
    program.process.post([&] {
        lock = {};
        program.locks.reset();
    });
    loop.run_for(20s);
}

INSTANTIATE_TEST_SUITE_P(Each, LateRenewal,
                         testing::Values(lock_mode::exclusive, lock_mode::shared),
                         [](const auto& test) {
                             return test.param == lock_mode::shared ? "Reader" : "Writer";
                         });

}  // namespace
}  // namespace pawl::simulation
