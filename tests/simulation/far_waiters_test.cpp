// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The first eight waiters of a queue refresh about once a second. The waiters behind them refresh
// every five to six seconds, until the server tells them that they have come near the head.
#include "server/command_counter.hpp"
#include "world/simulated_program.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace pawl::simulation {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t near_waiters = 8;
constexpr lock_options far_write{.ttl = 30s};
constexpr lock_options far_fair{.ttl = 30s, .fair = true};
constexpr lock_options far_read{.ttl = 30s, .mode = lock_mode::shared};

class FarWaiters : public testing::Test {
protected:
    ~FarWaiters() override {
        for (const auto& each : users_)
            each->close();
        loop_.run_for(30s);
    }

    single_user& add(const lock_options& options) {
        users_.push_back(std::make_unique<single_user>(loop_, network_, options_, random_.fork()));
        users_.back()->acquire(options);
        loop_.run_for(10ms);
        return *users_.back();
    }
    std::vector<single_user*> add_waiters(std::size_t count, const lock_options& options) {
        std::vector<single_user*> added;
        for (std::size_t i = 0; i < count; ++i)
            added.push_back(&add(options));
        return added;
    }
    void run_until_far_waiters_know() { loop_.run_for(2500ms); }

    scheduler loop_;
    prng random_{1};
    simulated_network network_{loop_, random_.fork(), network_faults{}};
    const redis::options options_;
    std::vector<std::unique_ptr<single_user>> users_;
};

TEST_F(FarWaiters, SendOneRequestInFiveSeconds) {
    add(far_write);
    const auto waiters = add_waiters(near_waiters + 20, far_fair);
    loop_.run_for(10s);
    const command_counter refreshes(network_, is_refresh);
    loop_.run_for(60s);
    for (std::size_t i = 1; i < waiters.size(); ++i) {
        const auto sent = refreshes.of(waiters[i]->process);
        const bool is_near = i < near_waiters;
        EXPECT_GE(sent, is_near ? 45U : 9U) << i;
        EXPECT_LE(sent, is_near ? 70U : 13U) << i;
    }
}

// Eight waiters are near, and one is far | seven of the near ones give up, and the eighth is frozen
// | the holder releases: the frozen waiter gets the lock and does not claim it | the far waiter,
// now the only living one, must look at the end of the claim window. It knows that it is near only
// if the server has told it so when the others left.
TEST_F(FarWaiters, LookAtAClaimWindowWhenTheOthersHaveLeft) {
    auto& holder = add(far_write);
    const auto waiters = add_waiters(near_waiters + 1, far_fair);
    run_until_far_waiters_know();
    for (std::size_t i = 0; i < near_waiters - 1; ++i)
        waiters[i]->give_up();
    loop_.run_for(100ms);
    waiters[near_waiters - 1]->process.pause();
    holder.release();
    loop_.run_for(2s);
    EXPECT_TRUE(waiters[near_waiters]->held);
}

// A far waiter is frozen, with a place of 9.5 s | the waiters before it leave | it must be found
// dead within two seconds: a release then passes it over, and waits for no claim window.
TEST_F(FarWaiters, AreFoundDeadWithinTwoSecondsWhenTheyComeNear) {
    auto& holder = add(far_write);
    const auto waiters = add_waiters(near_waiters + 2, far_fair);
    run_until_far_waiters_know();
    waiters[near_waiters]->process.pause();
    for (std::size_t i = 0; i < near_waiters; ++i)
        waiters[i]->give_up();
    loop_.run_for(2s);
    holder.release();
    loop_.run_for(100ms);
    EXPECT_TRUE(waiters[near_waiters + 1]->held);
}

// The same, with a frozen writer before a reader: while readers have the lock, the writer delays
// the reader behind it, and a release of the lock is not near.
TEST_F(FarWaiters, DelayAReaderByTwoSecondsAtMostWhenTheyAreDead) {
    add(far_read);
    auto waiters = add_waiters(near_waiters + 1, far_write);
    waiters.push_back(&add(far_read));
    run_until_far_waiters_know();
    waiters[near_waiters]->process.pause();
    for (std::size_t i = 0; i < near_waiters; ++i)
        waiters[i]->give_up();
    loop_.run_for(2s);
    EXPECT_TRUE(waiters[near_waiters + 1]->held);
}

// One release admits the readers that were near, and many behind them come near at once. All of
// them must hear of it, and keep their places.
TEST_F(FarWaiters, KeepTheirPlacesWhenManyComeNearAtOnce) {
    auto& holder = add(far_write);
    const auto readers = add_waiters(near_waiters, far_read);
    const auto writers = add_waiters(near_waiters, far_fair);
    run_until_far_waiters_know();
    holder.release();
    loop_.run_for(2500ms);
    auto& later = add(far_fair);
    for (auto* each : readers)
        each->release();
    loop_.run_for(100ms);
    for (auto* each : writers) {
        EXPECT_TRUE(each->held) << "a later waiter passed an earlier one";
        each->release();
        loop_.run_for(100ms);
    }
    EXPECT_TRUE(later.held);
}

}  // namespace
}  // namespace pawl::simulation
