// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Nodes whose names lead to another server, and the time in which a node joins again.
#include "redlock/redlock_programs.hpp"

#include <gtest/gtest.h>

#include <optional>
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
    ASSERT_TRUE(set.run_until([&] { return program.requests.back()->outcome.has_value(); }));
    for (std::size_t i = 1; i < program.requests.size(); ++i)
        ASSERT_FALSE(program.requests[i]->has_failed_with(errc::bad_option))
            << "try " << i << ": " << program.requests[i]->messages.message();
}

//   node 1 of seven forgets its data | two others are silent
//   P: lets node 1 join again, and waits once for both
TEST(RedlockNames, ANodeJoinsAfterOneTimeOutOfSilentNodes) {
    redlock_programs set(7, 1, {});
    auto& request = set.acquire(*set.programs[0], {.ttl = 1s});
    ASSERT_TRUE(set.run_until([&] { return request.outcome.has_value(); }));
    std::optional<release_result> released;
    set.release(*set.programs[0], request, released);
    ASSERT_TRUE(set.run_until([&] { return released.has_value(); }));
    const auto has_joined = [&] {
        return !set.networks[0]
                    ->server()
                    .execute(0, {"HGET", "pawl:redlock", "highest"})
                    .text.empty();
    };
    ASSERT_TRUE(has_joined());
    set.networks[0]->server().execute(0, {"FLUSHALL"});
    for (const std::size_t node : {1U, 2U})
        set.networks[node]->freeze();
    set.acquire(*set.programs[0], {.ttl = 5s});
    const auto begin = set.loop.now();
    EXPECT_TRUE(set.run_until(has_joined, 30s));
    RecordProperty("ms", static_cast<int>((set.loop.now() - begin) / 1ms));
    std::cerr << (set.loop.now() - begin) / 1ms << " ms\n";
    for (const std::size_t node : {1U, 2U})
        set.networks[node]->thaw();
}

}  // namespace
}  // namespace pawl::simulation
