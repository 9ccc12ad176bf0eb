// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The requests of waiters over several nodes, and the messages that they heed.
#include "server/command_counter.hpp"
#include "services/redlock/redlock_programs.hpp"

#include <redlock_scripts.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace pawl::simulation {
namespace {

using namespace std::chrono_literals;

// By the digest of the script.
bool is_acquire(const words& command) {
    namespace scripts = redlock::scripts;
    return command.size() > 1 &&
           (command[1] == scripts::acquire.sha1 || command[1] == scripts::read_acquire.sha1);
}

void set_holder(simulated_network& node, const std::string& rank) {
    node.change_data([&](simulated_redis& server) {
        (void)server.execute(
            0, {"SET", "pawl:{it}", rank + std::string(28, '0') + ";0000000000000001;1;h;c;1;1",
                "PX", "60000"});
    });
}

//   A: holds the lock | B: twenty readers wait for it, and leave one after the other without it
//   the others of B need not ask again for that
TEST(RedlockWaiters, LeaveWithoutWakingOneAnother) {
    redlock_programs set(3, 2, {});
    set.acquire_and_wait(*set.programs[0], {.ttl = 10s});
    for (int i = 0; i < 20; ++i)
        set.acquire(*set.programs[1],
                    {.ttl = 10s, .wait = 2s + i * 100ms, .mode = lock_mode::shared});
    set.loop.run_for(1900ms);
    const command_counter requests(*set.networks[0], is_acquire);
    set.loop.run_for(2s);
    // Ten of them wait on average, and ask about once a second, and at the end of their wait.
    EXPECT_LE(requests.count(), 60);
    EXPECT_GE(requests.count(), 10);
}

//   B: the second of two readers gets the lock, which takes B's place in the line away; the first
//   one asks again at once
TEST(RedlockWaiters, AreWokenByAGrant) {
    redlock_programs set(3, 2, {});
    auto& held = set.acquire_and_wait(*set.programs[0], {.ttl = 10s});
    auto& first = set.acquire(*set.programs[1], {.ttl = 10s, .mode = lock_mode::shared});
    set.loop.run_for(100ms);
    auto& second = set.acquire(*set.programs[1], {.ttl = 10s, .mode = lock_mode::shared});
    set.loop.run_for(100ms);
    std::optional<release_result> result;
    set.release(*set.programs[0], held, result);
    EXPECT_TRUE(set.run_until(
        [&] { return first.outcome.has_value() && second.outcome.has_value(); }, 50ms));
}

//   P: finds the nodes split six times in a row, and pauses for longer and longer | one client
//   holds the lock for a while | P finds the nodes split again: that is a new series
TEST(RedlockWaiters, BeginANewSeriesOfPausesAfterTheLastSplit) {
    redlock_programs set(3, 1, {});
    set.acquire_and_wait(*set.programs[0], {.ttl = 10s}, "warm");
    set.loop.run_for(100ms);
    const command_counter requests(*set.networks[0], is_acquire);
    const auto split_nodes = [&] {
        // A try gives way four times to each of these ranks.
        for (std::size_t i = 0; i < 3; ++i)
            set_holder(*set.networks[i], "000" + std::to_string(i));
    };
    split_nodes();
    set.acquire(*set.programs[0], {.ttl = 10s});
    ASSERT_TRUE(set.run_until([&] { return requests.count() >= 6; }, 1s));
    for (auto* const each : set.networks)
        set_holder(*each, "000f");
    const auto before = requests.count();
    ASSERT_TRUE(set.run_until([&] { return requests.count() > before; }, 2s));
    set.loop.run_for(10ms);
    split_nodes();
    const auto between = requests.count();
    ASSERT_TRUE(set.run_until([&] { return requests.count() > between; }, 2s));
    set.loop.run_for(200ms);
    EXPECT_GE(requests.count() - between, 5);
}

//   P: its try is under way | a forced release of a hold without an owner, or with an owner of one
//   digit, is told to P: no hold of P's has such an owner
TEST(RedlockMessages, DoNotEndAttemptsOfOtherOwners) {
    redlock_programs set(3, 1, {.latency_low = 10ms, .latency_high = 10ms});
    auto& program = *set.programs[0];
    auto& warm = set.acquire_and_wait(program, {.ttl = 10s}, "warm");
    set.loop.run_for(100ms);
    const auto value = set.networks[0]->server().execute(0, {"GET", "pawl:{warm}"}).text;
    const auto client = value.substr(value.find(';') + 1, 16);
    int number = 0;
    for (const std::string owner :
         {"", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "a", "b", "c", "d", "e", "f"}) {
        auto& tried = set.try_acquire(program, {.ttl = 10s}, "it/" + std::to_string(++number));
        set.loop.run_for(1ms);
        for (auto* const each : set.networks)
            each->change_data([&](simulated_redis& server) {
                const auto heard = server.execute(
                    0, {"PUBLISH", "pawl:c:0:" + client, "lost " + owner + " " + server.run_id()});
                EXPECT_EQ(heard.number, 1);
            });
        const auto began = set.loop.now();
        ASSERT_TRUE(set.run_until([&] { return tried.outcome.has_value(); }));
        EXPECT_LE(set.loop.now() - began, 20ms) << "'" << owner << "': it was tried again";
        EXPECT_TRUE(tried.lock.owns_lock()) << "'" << owner << "': " << tried.messages.message();
    }
    EXPECT_TRUE(warm.lock.owns_lock());
}

}  // namespace
}  // namespace pawl::simulation
