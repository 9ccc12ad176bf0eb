// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A server that restarts without its data: holders learn of it when they reconnect, in few
// requests.
#include "world/simulated_program.hpp"

#include <boost/asio/bind_executor.hpp>

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace pawl::simulation {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

// The next renewals are due after 20 minutes.
constexpr lock_options long_hold{.ttl = 1h};
constexpr std::size_t renewals_per_script = 4;

redis::limits small_batches() {
    redis::limits bounds;
    bounds.renewals_per_script = renewals_per_script;
    return bounds;
}

class LostData : public testing::Test {
protected:
    explicit LostData(injected_bug bug = injected_bug::none)
        : program_(loop_, network_, options_, random_.fork(), small_batches(), bug) {}
    ~LostData() override {
        program_.process.post([this] {
            held_.clear();
            program_.locks.reset();
        });
        loop_.run_for(10s);
    }
    void acquire(int count) {
        const auto total = held_.size() + static_cast<std::size_t>(count);
        for (auto i = held_.size(); i < total; ++i) {
            program_.process.post([this, name = "it/" + std::to_string(i)] {
                program_.locks->async_acquire(
                    name, long_hold,
                    asio::bind_executor(
                        program_.process.get_executor(),
                        [this](const boost::system::error_code& ec, held_lock lock) {
                            if (!ec) held_.push_back(std::move(lock));
                        }));
            });
        }
        loop_.run_for(1s);
        ASSERT_EQ(held_.size(), total);
    }
    void restart(simulated_redis::snapshot with) {
        network_.stop_server();
        network_.start_server(std::move(with));
    }
    [[nodiscard]] std::size_t lost_count() const {
        std::size_t count = 0;
        for (const auto& each : held_)
            count += each.state() == lock_state::lost ? 1U : 0U;
        return count;
    }
    [[nodiscard]] std::uint64_t renewals() const { return program_.locks->statistics().renewals; }

    scheduler loop_;
    prng random_{1};
    simulated_network network_{loop_, random_.fork(), network_faults{}};
    const redis::options options_;
    single_client_process program_;
    std::vector<held_lock> held_;
};

//   P: holds 10 locks | S: restarts empty | P: connects, another run id | P: renews, refused
TEST_F(LostData, IsReportedAfterTheReconnect) {
    acquire(10);
    restart({});
    loop_.run_for(3s);
    EXPECT_EQ(lost_count(), 10U);
}

class LostDataInjectedBugs : public LostData {
protected:
    LostDataInjectedBugs() : LostData(injected_bug::possible_loss_ignored) {}
};

// Without the report of a possible loss, the locks would count as held until their next renewal.
TEST_F(LostDataInjectedBugs, AreFound) {
    acquire(10);
    restart({});
    loop_.run_for(3s);
    EXPECT_EQ(lost_count(), 0U);
}

// The end of a connection alone is no possible loss.
TEST_F(LostData, IsNotSuspectedAfterAReconnectToTheSameServer) {
    acquire(10);
    network_.break_all(program_.process);
    loop_.run_for(3s);
    acquire(1);  // over the new connection
    EXPECT_EQ(renewals(), 0U);
    EXPECT_EQ(lost_count(), 0U);
}

//   S: restarts with all data, again and again | P: connects each time, renews, is answered
// One round of 3 requests for 10 locks in a second, however often the server restarts.
TEST_F(LostData, IsSuspectedOnceInASecondAtMost) {
    acquire(10);
    constexpr int seconds = 20;
    for (int i = 0; i < 10 * seconds; ++i) {
        restart(network_.server().take_snapshot());
        loop_.run_for(100ms);
    }
    loop_.run_for(3s);
    EXPECT_EQ(lost_count(), 0U);
    EXPECT_GE(renewals(), 3U);
    EXPECT_LE(renewals(), 3U * (seconds + 3) * 3);  // each round with two repetitions
}

}  // namespace
}  // namespace pawl::simulation
