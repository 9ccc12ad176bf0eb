// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Faults that all databases survive alike, as tables of cases. The tests of each database play
// them.
#pragma once

#include "database_fixture.hpp"

#include <support/moved_clock.hpp>

#include <algorithm>
#include <array>

namespace chaos {

template <class... Tools>
struct database_case {
    const char* name;
    void (*run)(database_fixture& on, Tools&... tools);
};

template <class... Tools>
void PrintTo(const database_case<Tools...>& printed, std::ostream* out) {
    *out << printed.name;
}

template <class... Tools>
std::string case_name(const testing::TestParamInfo<database_case<Tools...>>& tested) {
    return tested.param.name;
}

// A server crashes, ends connections, or becomes another one.
inline const auto outage_cases = std::to_array<database_case<>>({
    //   A holds (60 s), B waits | SIGKILL | the server starts again: A still has the lock, no pause
    //   begins as it would after a failover, and B gets the lock long before A's lease ends
    {"ACrashCostsNoLockAndNoPlace",
     [](database_fixture& on) {
         client holder = on.new_client(), waiting = on.new_client(), other = on.new_client();
         auto lock = holder.acquire("it", {.ttl = long_ttl, .wait = patience});
         held_lock acquired;
         background_task waiter(
             [&] { acquired = waiting.acquire("it", {.ttl = long_ttl, .wait = patience}); });
         ASSERT_TRUE(eventually([&] { return on.waiters("it") == 1; }));
         on.kill9();
         on.start();
         EXPECT_TRUE(eventually([&] { return on.is_taken(other, "it"); }));
         auto another = other.acquire("another", {.ttl = 2s, .wait = 20s});
         EXPECT_EQ(another.release(), release_result::released);
         lock.renew();
         EXPECT_EQ(lock.state(), lock_state::held);
         EXPECT_EQ(lock.release(), release_result::released);
         waiter.join();
         EXPECT_GT(acquired.token(), lock.token());
         EXPECT_EQ(acquired.release(), release_result::released);
         auto next = other.acquire("it", {.ttl = long_ttl, .wait = patience});
         EXPECT_GT(next.token(), acquired.token());
         EXPECT_EQ(next.release(), release_result::released);
         EXPECT_TRUE(on.becomes_clean());
     }},
    //   A holds, B waits | an administrator ends their sessions, so B's place is dead | A still has
    //   the lock | A releases: B, which has come back, gets it long before A's lease ends
    {"EndedSessionsCostNoLockAndNoWaiter",
     [](database_fixture& on) {
         client holder = on.new_client(), waiting = on.new_client();
         auto lock = holder.acquire("it", {.ttl = long_ttl});
         held_lock acquired;
         background_task waiter(
             [&] { acquired = waiting.acquire("it", {.ttl = long_ttl, .wait = patience}); });
         ASSERT_TRUE(eventually([&] { return on.waiters("it") == 1; }));
         EXPECT_GE(on.end_sessions(), 2);
         lock.renew();
         EXPECT_EQ(lock.state(), lock_state::held);
         EXPECT_EQ(lock.release(), release_result::released);
         waiter.join();
         EXPECT_GT(acquired.token(), lock.token());
         EXPECT_EQ(acquired.release(), release_result::released);
         EXPECT_TRUE(on.becomes_clean());
     }},
    //   four clients acquire and release in turn | their connections are ended again and again | at
    //   no time do two have the lock, tokens rise in the order of the holds, and all reach their
    //   count
    {"EndedConnectionsLetNoTwoIn",
     [](database_fixture& on) {
         std::mutex log_mutex;
         std::vector<std::uint64_t> tokens;
         std::atomic<int> began = 0, holders = 0, overlaps = 0, done = 0;
         std::vector<std::jthread> threads;
         for (int i = 0; i < 4; ++i)
             threads.emplace_back([&] {
                 client locks = on.new_client();
                 for (int round = 0; round < 16; ++round) {
                     auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
                     if (++holders > 1) ++overlaps;
                     ++began;
                     {
                         const std::scoped_lock guard(log_mutex);
                         tokens.push_back(lock.token().value());
                     }
                     std::this_thread::sleep_for(5ms);  // the hold
                     --holders;
                     EXPECT_NE(lock.release(), release_result::expired);
                 }
                 ++done;
             });
         ASSERT_TRUE(eventually([&] { return began > 0; }));
         while (done < 4) {
             on.end_connections(done);
             std::this_thread::sleep_for(150ms);  // the rate of the fault
         }
         threads.clear();
         EXPECT_EQ(overlaps, 0);
         EXPECT_EQ(tokens.size(), 64U);
         EXPECT_EQ(std::adjacent_find(tokens.begin(), tokens.end(), std::greater_equal<>()),
                   tokens.end());
         EXPECT_TRUE(on.becomes_clean());
     }},
    //   A holds by a value; B is connected | behind a proxy, a crash or failover leaves B's
    //   connection and changes what the server knows: here a statement does | B's adopt must say
    //   hello first: it fails, ends the session, and takes nothing | the next adopt succeeds, in a
    //   new session
    {"AnAdoptThatMustSayHelloEndsTheSession",
     [](database_fixture& on) {
         client holder = on.new_client(), other = on.client_with("?after_failover=go");
         auto lock = holder.acquire_as("it", "ticket", {.ttl = long_ttl, .wait = patience});
         on.expect_pairs(other, "another", 1);
         const auto connections = other.statistics().connections;
         on.require_hello();
         held_lock adopted;
         const auto adopt = [&] { adopted = other.adopt("it", "ticket", {.ttl = long_ttl}); };
         const auto failed = on.failure_of(adopt);
         ASSERT_TRUE(failed);
         EXPECT_EQ(failed->reason, errc::unavailable) << failed;
         ASSERT_TRUE(eventually([&] { return !on.failure_of(adopt); }));
         EXPECT_GT(other.statistics().connections, connections);
         EXPECT_GT(adopted.token(), lock.token());
         EXPECT_EQ(adopted.release(), release_result::released);
         EXPECT_NE(lock.release(), release_result::released);
         EXPECT_TRUE(on.becomes_clean());
     }},
});

// The clock of the server is set while it runs. Tokens rise in any case. A step forward ends leases
// early, and their holders learn of it with the next renewal.
inline const auto clock_cases = std::to_array<database_case<support::moved_clock>>({
    //   A holds (6 s) | forward by a minute: the server has forgotten A | B has the lock, with a
    //   larger token | A's next renewal is refused, and A is told
    {"AStepForwardEndsALeaseAndItsHolderIsTold",
     [](database_fixture& on, support::moved_clock& clock) {
         client holder = on.new_client(), other = on.new_client();
         auto lock = holder.acquire("it", {.ttl = 6s, .wait = patience});
         const loss_recorder loss(lock);
         clock.step(1min);
         ASSERT_GT(on.server_ahead(), 50);
         auto next = other.acquire("it", {.ttl = long_ttl, .wait = patience});
         EXPECT_GT(next.token(), lock.token());
         EXPECT_TRUE(loss.is_told_within(patience));
         EXPECT_NE(lock.release(), release_result::released);
         EXPECT_EQ(next.release(), release_result::released);
         EXPECT_TRUE(on.becomes_clean());
     }},
    //   A holds (3 s) | back by an hour | A's renewals count, and B waits | A releases: B has the
    //   lock, with a larger token, and so have the next holders
    {"AStepBackCostsNoLockAndNoToken",
     [](database_fixture& on, support::moved_clock& clock) {
         client holder = on.new_client(), other = on.new_client();
         auto lock = holder.acquire("it", {.ttl = 3s, .wait = patience});
         clock.step(-1h);
         ASSERT_LT(on.server_ahead(), -3000);
         const auto first = lock.safe_until();
         ASSERT_TRUE(eventually([&] { return lock.safe_until() > first + 3s; }));
         held_lock acquired;
         background_task waiter(
             [&] { acquired = other.acquire("it", {.ttl = long_ttl, .wait = patience}); });
         ASSERT_TRUE(eventually([&] { return on.waiters("it") == 1; }));
         EXPECT_EQ(lock.release(), release_result::released);
         waiter.join();
         EXPECT_GT(acquired.token(), lock.token());
         EXPECT_EQ(acquired.release(), release_result::released);
         auto next = holder.acquire("it", {.ttl = long_ttl, .wait = patience});
         EXPECT_GT(next.token(), acquired.token());
         EXPECT_EQ(next.release(), release_result::released);
         EXPECT_TRUE(on.becomes_clean());
     }},
});

// Locks that end with a session, whose end the holder learns at once.
inline const auto session_cases = std::to_array<database_case<>>({
    //   A holds (60 s) | the administrator ends A's session | A learns it at once; B has the lock
    {"AnEndedSessionIsToldAtOnce",
     [](database_fixture& on) {
         client holder = on.new_client(), other = on.new_client();
         auto lock = holder.acquire("it", {.ttl = long_ttl, .wait = patience});
         const loss_recorder loss(lock);
         EXPECT_EQ(on.end_sessions(), 1);
         EXPECT_TRUE(loss.is_told_within(10s));
         EXPECT_EQ(lock.why_lost(), on.reason_of_ended_session());
         EXPECT_NE(lock.release(), release_result::released);
         EXPECT_TRUE(other.acquire("it", {.ttl = long_ttl, .wait = patience}).owns_lock());
     }},
    //   A holds (60 s), B waits | SIGKILL of the server | it starts again: A has learned of the
    //   loss, and B gets the lock although A has not released it
    {"ACrashOfTheServerIsToldAtOnce",
     [](database_fixture& on) {
         client holder = on.new_client(), waiting = on.new_client();
         auto lock = holder.acquire("it", {.ttl = long_ttl, .wait = patience});
         const loss_recorder loss(lock);
         held_lock acquired;
         background_task waiter(
             [&] { acquired = waiting.acquire("it", {.ttl = long_ttl, .wait = patience}); });
         ASSERT_TRUE(eventually([&] { return on.waiters("it") == 1; }));
         on.kill9();
         EXPECT_TRUE(loss.is_told_within(10s));
         on.start();
         waiter.join();
         EXPECT_TRUE(acquired.owns_lock());
         EXPECT_TRUE(!lock.token() || acquired.token() > lock.token());
         EXPECT_EQ(acquired.release(), release_result::released);
         EXPECT_TRUE(on.becomes_clean());
     }},
    //   A holds (2 s) | the server is frozen: A learns of the loss before its lease ends | it goes
    //   on: the session of A has been idle for 2 s, so the server ends it
    {"AFrozenServerCostsTheLockInTime",
     [](database_fixture& on) {
         client holder = on.new_client(), other = on.new_client();
         auto lock = holder.acquire("it", {.ttl = 2s, .wait = patience});
         const loss_recorder loss(lock);
         const auto until = lock.safe_until();
         on.freeze();
         EXPECT_TRUE(loss.is_told_within(20s));
         EXPECT_GE(loss.told_at() + 1s, until);  // not long before, however
         on.thaw();
         EXPECT_TRUE(other.acquire("it", {.ttl = 2s, .wait = patience}).owns_lock());
     }},
});

// Of ShedLock's table, whose waiters poll.
inline const auto shedlock_cases = std::to_array<database_case<>>({
    //   A holds (60 s), B waits | SIGKILL, and a new start | A still holds, B waits | A releases |
    //   B holds, with a larger token
    {"ACrashCostsNoLockAndNoWaiter",
     [](database_fixture& on) {
         client holder = on.new_client(), waiting = on.new_client();
         auto lock = holder.acquire("it", {.ttl = long_ttl, .wait = patience});
         held_lock acquired;
         background_task waiter(
             [&] { acquired = waiting.acquire("it", {.ttl = long_ttl, .wait = patience}); });
         ASSERT_TRUE(eventually([&] { return waiting.statistics().requests > 1; }));
         on.kill9();
         on.start();
         EXPECT_TRUE(eventually([&] { return !on.failure_of([&] { lock.renew(); }); }));
         EXPECT_EQ(lock.release(), release_result::released);
         waiter.join();
         EXPECT_GT(acquired.token(), lock.token());
         EXPECT_EQ(acquired.release(), release_result::released);
     }},
    //   A holds (2 s) | the server is frozen: A learns of the loss before its lease ends | it goes
    //   on: B holds
    {"AFrozenServerCostsTheLockInTime",
     [](database_fixture& on) {
         client locks = on.new_client();
         auto lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
         const loss_recorder loss(lock);
         on.freeze();
         ASSERT_TRUE(loss.is_told_within(patience));
         on.thaw();
         auto next = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
         EXPECT_GT(next.token(), lock.token());
         EXPECT_NE(lock.release(), release_result::released);
         EXPECT_EQ(next.release(), release_result::released);
     }},
});

}  // namespace chaos
