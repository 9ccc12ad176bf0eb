// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// How new nodes become a set; two nodes whose names lead to one server; and the floor of the nodes'
// counters, which the clients reckon from the nodes' clocks.
#include "services/redlock/redlock_programs.hpp"

#include <redis/redlock/membership.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace pawl::simulation {

namespace {

using namespace std::chrono_literals;

class FarNodes : public testing::TestWithParam<instant> {
protected:
    [[nodiscard]] static network_faults faults() {
        return {.latency_low = GetParam(), .latency_high = GetParam()};
    }
    [[nodiscard]] static bool are_members(redlock_programs& set) {
        for (auto* const each : set.networks)
            if (each->server().execute(0, {"HGET", "pawl:redlock", "highest"}).text.empty())
                return false;
        return true;
    }
};

//   P: a try takes a second, in which the nodes do not become a set | the error says what to do
//   P: closes, as a command does | its repair goes on, so the next commands find a set
TEST_P(FarNodes, FormASetThroughProgramsOfOneTry) {
    redlock_programs set(3, 4, faults(), 1, {}, false);
    for (const auto& program : set.programs) {
        auto& request = set.try_acquire_and_wait(*program, {.ttl = 5s});
        EXPECT_TRUE(request.has_failed_with(errc::no_set) ||
                    request.has_failed_with(errc::no_quorum))
            << request.messages.message();
        EXPECT_NE(request.messages.message().find("pawl redlock init"), std::string::npos)
            << request.messages.message();
        ASSERT_TRUE(set.close(*program, 6s));
    }
    EXPECT_TRUE(are_members(set));
}

INSTANTIATE_TEST_SUITE_P(Each, FarNodes, testing::Values(60ms, 75ms, 90ms), [](const auto& test) {
    return "After" + std::to_string(test.param / 1ms) + "ms";
});

//   two names lead to one server, so no set begins | the second name is corrected
//   P: must not be told of the first state while the new connection has no answer yet
TEST(RedlockNames, ACorrectedNameIsForgottenWithItsConnection) {
    redlock_programs set(3, 1, {.latency_low = 5ms, .latency_high = 5ms}, 1, {}, false);
    auto& program = *set.programs[0];
    auto* const third = std::exchange(set.networks[2], set.networks[1]);
    auto& refused = set.acquire_and_wait(program, {.ttl = 5s});
    ASSERT_TRUE(refused.has_failed_with(errc::bad_option)) << refused.messages.message();
    set.networks[2] = third;
    set.networks[1]->break_clients();
    set.loop.run_for(5ms);
    for (int i = 0; i < 1000; ++i) {
        set.loop.run_for(1ms);
        set.try_acquire(program, {.ttl = 5s});
    }
    EXPECT_TRUE(set.run_until([&] {
        return std::ranges::all_of(program.requests,
                                   [](const auto& each) { return each->outcome.has_value(); });
    }));
    for (std::size_t i = 1; i < program.requests.size(); ++i)
        EXPECT_FALSE(program.requests[i]->has_failed_with(errc::bad_option))
            << "try " << i << ": " << program.requests[i]->messages.message();
}

// The smallest token of the present moment, by the node's clock.
std::int64_t present_token(simulated_network& node) {
    const auto clock = node.server().execute(0, {"TIME"});
    return redlock::token_of_clock(std::stoll(clock.items.at(0).text) * 1'000'000 +
                                   std::stoll(clock.items.at(1).text));
}

// The next token is not of an earlier time.
void expect_token_of_now(redlock_programs& set) {
    const auto least = present_token(*set.networks[0]);
    auto& second = set.acquire_and_wait(*set.programs[0], {.ttl = 10s}, "other");
    ASSERT_TRUE(second.lock.owns_lock()) << second.messages.message();
    EXPECT_GE(second.lock.token().value(), static_cast<std::uint64_t>(least));
}

//   P: connects; its handshake reads the clock of a node that is far away, and is ready 1.2 s later
//   P: holds and releases | a node gets data back that are 1 s old | the next token must be above
//   that of P's hold: a floor that counts from the end of the handshake is not
TEST(RedlockFloor, IsNotBehindTheClocksOfFarNodes) {
    redlock_programs set(3, 1, {.latency_low = 400ms, .latency_high = 400ms});
    auto& program = *set.programs[0];
    set.acquire_and_wait(program, {.ttl = 10s});
    expect_token_of_now(set);
}

//   P: renews 0.9 ms after a full millisecond; the answers show the clocks in milliseconds | P
//   acquires another lock at once | its token must not be of the time before that millisecond ended
TEST(RedlockFloor, IsNotBehindTheMicrosecondsOfAClock) {
    redlock_programs set(3, 1, {.latency_low = 1us, .latency_high = 1us});
    auto& program = *set.programs[0];
    auto& first = set.acquire_and_wait(program, {.ttl = 10s});
    const auto microseconds = [&] {
        return std::stoll(set.networks[0]->server().execute(0, {"TIME"}).items.at(1).text) % 1000;
    };
    set.loop.run_for(std::chrono::microseconds(1900 - microseconds()));
    bool is_renewed = false;
    program.process.post([&] {
        first.lock.async_renew(
            program.run_in_process([&](const boost::system::error_code& ec) { is_renewed = !ec; }));
    });
    ASSERT_TRUE(set.run_until([&] { return is_renewed; }));
    expect_token_of_now(set);
}

//   the nodes' clocks are 0.05 % faster than P's, within what NTP corrects | P holds nothing for a
//   day, so no answer shows it the clocks | the floor has not fallen behind them
TEST(RedlockFloor, IsNotBehindClocksThatAreFaster) {
    redlock_programs set(3, 1, {.latency_low = 1ms, .latency_high = 1ms});
    auto& program = *set.programs[0];
    auto& first = set.try_acquire_and_wait(program, {.ttl = 10s});
    ASSERT_TRUE(set.release_and_wait(program, first));
    set.loop.run_for(24h);
    for (auto* const each : set.networks)
        each->jump_clock(24h / 1us / 2000);
    expect_token_of_now(set);
}

}  // namespace

}  // namespace pawl::simulation
