// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Two nodes whose names lead to one server.
#include "redlock/redlock_programs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace pawl::simulation {
namespace {

using namespace std::chrono_literals;

//   two names lead to one server, so no set begins | the second name is corrected
//   P: must not be told of the first state while the new connection has no answer yet
TEST(RedlockNames, ACorrectedNameIsForgottenWithItsConnection) {
    redlock_programs set(3, 1, {.latency_low = 5ms, .latency_high = 5ms}, 1, {}, false);
    auto& program = *set.programs[0];
    auto* const third = std::exchange(set.networks[2], set.networks[1]);
    auto& refused = set.acquire(program, {.ttl = 5s});
    ASSERT_TRUE(set.run_until([&] { return refused.outcome.has_value(); }));
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

}  // namespace
}  // namespace pawl::simulation
