// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What a release says of a hold over several nodes.
#include "services/redlock/redlock_programs.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace pawl::simulation {
namespace {

using namespace std::chrono_literals;

//   A: holds the lock at five nodes | an operator takes it from A at nodes 1, 2 and 3, and A hears
//   nothing of it | B: acquires the lock there, and releases it
//   A: releases: nodes 4 and 5 still have its hold, the others have none | B had the lock meanwhile
TEST(RedlockRelease, IsTakenOverAfterAnotherHolderHasLeft) {
    for (const auto mode : {lock_mode::exclusive, lock_mode::shared}) {
        std::optional<bool> forced;
        redlock_programs set(5, 3, {}, 1, {.loses_messages = true});
        auto& first = set.acquire_and_wait(*set.programs[0], {.ttl = 10s, .mode = mode});
        set.loop.run_for(100ms);
        for (const std::size_t node : {3U, 4U})
            for (const std::size_t program : {1U, 2U})
                set.networks[node]->cut_off(set.programs[program]->process);
        set.force_release(*set.programs[2], forced);
        ASSERT_TRUE(set.run_until([&] { return set.count_of() == 2; }));
        auto& second = set.acquire_and_wait(*set.programs[1], {.ttl = 10s, .wait = 5s});
        ASSERT_TRUE(second.lock.owns_lock()) << second.messages.message();
        EXPECT_EQ(set.release_and_wait(*set.programs[1], second), release_result::released);
        EXPECT_EQ(set.release_and_wait(*set.programs[0], first), release_result::taken_over);
    }
}

//   A: holds the lock | node 2 has lost the key, and node 3 has the rest of an attempt that failed
//   A: releases: a minority has another owner, which proves no later holder
TEST(RedlockRelease, IsUnknownIfAMinorityHasTheRestOfAnAttempt) {
    redlock_programs set(3, 1, {});
    auto& request = set.acquire_and_wait(*set.programs[0], {.ttl = 10s});
    set.loop.run_for(100ms);
    set.networks[1]->server().execute(0, {"DEL", "pawl:{it}"});
    set.networks[2]->server().execute(0, {"SET", "pawl:{it}", "another;1", "PX", "9000"});
    EXPECT_EQ(set.release_and_wait(*set.programs[0], request), release_result::unknown);
}

//   A: holds the lock | node 2 is silent, as A knows; node 3 has the rest of an attempt
//   A: releases: only node 2 could decide, and gets a tenth of the ttl, not the rest of the lease
TEST(RedlockRelease, WaitsNotLongForNodesThatAreSilent) {
    redlock_programs set(3, 1, {});
    auto& request = set.acquire_and_wait(*set.programs[0], {.ttl = 9s});
    set.networks[1]->freeze();
    set.loop.run_for(5s);
    set.networks[2]->server().execute(0, {"SET", "pawl:{it}", "another;1", "PX", "9000"});
    EXPECT_EQ(set.release_and_wait(*set.programs[0], request, 1s), release_result::unknown);
}

//   A: releases two holds, of a short and of a long lease | all nodes answer after 70 ms, later
//   than the short one waits: the long one gets the time of its own lease
TEST(RedlockRelease, WaitsForItsOwnTimeBesideAHoldOfAShorterLease) {
    redlock_programs set(3, 1, {.latency_low = 1ms, .latency_high = 1ms});
    auto& program = *set.programs[0];
    auto& of_long = set.acquire(program, {.ttl = 9s}, "long");
    auto& of_short = set.acquire(program, {.ttl = 500ms}, "short");
    ASSERT_TRUE(set.run_until([&] { return of_long.outcome && of_short.outcome; }));
    set.loop.run_for(100ms);
    for (auto* each : set.networks)
        each->freeze();
    std::optional<release_result> result_of_long, result_of_short;
    set.release(program, of_short, result_of_short);
    set.release(program, of_long, result_of_long);
    set.loop.run_for(70ms);
    for (auto* each : set.networks)
        each->thaw();
    EXPECT_TRUE(set.run_until([&] { return result_of_long.has_value(); }, 1s));
    EXPECT_EQ(result_of_long, release_result::released);
}

//   A: holds the lock; node 3 has lost it | node 2 freezes when A releases, with a rest of the
//   lease that is shorter than the reply timeout | node 1 answers: nobody else can have the lock
TEST(RedlockRelease, InTimeIsNoLossBesideANodeThatFreezes) {
    redlock_programs set(3, 1, {});
    auto& request = set.acquire_and_wait(*set.programs[0], {.ttl = 4s});
    set.loop.run_for(100ms);
    set.networks[2]->server().execute(0, {"DEL", "pawl:{it}"});
    set.networks[1]->freeze();
    EXPECT_EQ(set.release_and_wait(*set.programs[0], request, 1s), release_result::released);
    set.networks[1]->thaw();
}

//   A: holds the lock | two of five nodes are silent | an operator takes the lock from A, and waits
//   for both nodes at the same time, for the reply timeout of 5 s
TEST(RedlockRelease, ByForceWaitsOnceForAllSilentNodes) {
    std::optional<bool> of_another_lock, forced;
    redlock_programs set(5, 2, {});
    set.acquire_and_wait(*set.programs[0], {.ttl = 10s});
    set.force_release(*set.programs[1], of_another_lock, "another");
    ASSERT_TRUE(set.run_until([&] { return of_another_lock.has_value(); }));
    for (const std::size_t node : {0U, 1U})
        set.networks[node]->freeze();
    set.force_release(*set.programs[1], forced);
    EXPECT_TRUE(set.run_until([&] { return forced.has_value(); }, 6s));
    EXPECT_EQ(forced, true);
    for (const std::size_t node : {0U, 1U})
        set.networks[node]->thaw();
}

//   node 1 hangs, and P has never reached it | P: acquires twice: only the first acquire waits for
//   it
TEST(RedlockConnections, ANodeThatHangsDelaysOneAcquire) {
    redlock_programs set(3, 1, {});
    auto& program = *set.programs[0];
    set.networks[0]->freeze();
    set.acquire_and_wait(program, {.ttl = 9s}, "first");
    auto& second = set.acquire(program, {.ttl = 9s}, "second");
    EXPECT_TRUE(set.run_until([&] { return second.outcome.has_value(); }, 50ms));
    set.networks[0]->thaw();
}

//   P: acquires and releases while node 1 is silent | P's connection to it breaks, and what it may
//   have executed late is undone, several times | P closes: it does not wait for the repetitions
TEST(RedlockClose, DoesNotWaitForRepetitions) {
    redlock_programs set(3, 1, {});
    auto& program = *set.programs[0];
    set.acquire_and_wait(program, {.ttl = 9s});
    set.networks[0]->freeze();
    auto& other = set.acquire_and_wait(program, {.ttl = 9s}, "other");
    ASSERT_TRUE(set.release_and_wait(program, other));
    set.networks[0]->break_all(program.process);
    set.networks[0]->thaw();
    set.loop.run_for(2s);
    EXPECT_TRUE(set.close(program, 500ms));
}

//   P: two of three nodes have granted a lock, and the answer of the third is under way | P
//   releases the lock, and closes at once | the third node does not keep it
TEST(RedlockClose, WaitsForANodeThatIsOnlySlow) {
    redlock_programs set(3, 1, {});
    auto& program = *set.programs[0];
    set.acquire_and_wait(program, {.ttl = 10s}, "warm");
    set.loop.run_for(1s);
    set.networks[2]->set_latency(20ms);
    auto& held = set.acquire_and_wait(program, {.ttl = 10s});
    set.loop.run_for(25ms);
    ASSERT_TRUE(set.release_and_wait(program, held, 10ms));
    EXPECT_EQ(set.count_of(), 1U);
    ASSERT_TRUE(set.close(program, 500ms));
    set.loop.run_for(100ms);
    EXPECT_EQ(set.count_of(), 0U);
}

//   P: holds a lock, and waits for another one | some nodes are silent | P closes within its drain
//   time of 5 s, also if the nodes have never answered
TEST(RedlockClose, TakesTheDrainTimeAtMost) {
    for (const std::size_t silent : {1U, 2U, 3U})
        for (const bool is_connected : {true, false}) {
            redlock_programs set(3, 2, {});
            auto& program = *set.programs[0];
            if (is_connected) {
                set.acquire_and_wait(program, {.ttl = 9s});
            }
            for (std::size_t node = 0; node < silent; ++node)
                set.networks[node]->freeze();
            auto& waiting = set.acquire(program, {.ttl = 9s});
            set.loop.run_for(is_connected ? 4s : 10ms);
            EXPECT_TRUE(set.close(program, 5100ms))
                << silent << " silent nodes" << (is_connected ? "" : ", never connected");
            EXPECT_TRUE(waiting.outcome.has_value());
            for (std::size_t node = 0; node < silent; ++node)
                set.networks[node]->thaw();
        }
}

}  // namespace
}  // namespace pawl::simulation
