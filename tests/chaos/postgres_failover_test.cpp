// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A standby is promoted. Holds that it knows continue; for those that it does not know, nothing is
// granted for the longest ttl. Tokens rise over the failover.
#include "postgres_fixture.hpp"

namespace {

using namespace chaos;

class PostgresFailover : public testing::Test, protected postgres_fixture {
protected:
    // The names of both servers, as a client needs them.
    [[nodiscard]] std::string both(const std::string& more = {}) const {
        return "postgresql://postgres@127.0.0.1:" + std::to_string(server.port()) +
               ",127.0.0.1:" + std::to_string(standby.port()) + "/" + database + more;
    }
    // As if no longer ttl were usual: the schema begins with 30 s.
    void shorten_pause(pawl::duration longest_ttl) {
        const auto value = std::to_string(longest_ttl / 1ms);
        execute("UPDATE pawl.meta SET most_ttl = " + value);
        execute("UPDATE pawl.boot SET most_ttl = " + value);
    }
    // The standby knows the schema and this ttl, and gets nothing more.
    void cut_standby_off(client& locks, pawl::duration ttl) {
        (void)locks.acquire("warm", {.ttl = ttl, .wait = patience}).release();
        shorten_pause(ttl);
        standby.catch_up();
        standby.stop_replication();
    }
    void fail_over() {
        server.kill9();
        standby.promote();
    }

    support::postgres_server standby{{.config = {}, .access = {}, .standby_of = &server}};
};

//   A holds (60 s), the standby has it | failover | A renews there, B's try finds the lock taken |
//   A releases
TEST_F(PostgresFailover, AKnownHoldContinues) {
    client locks = client_at(both()), other = client_at(both());
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    const loss_recorder loss(lock);
    standby.catch_up();
    fail_over();
    lock.renew();
    EXPECT_EQ(lock.state(), lock_state::held);
    ASSERT_TRUE(eventually([&] { return result_of_try(other, "it") == try_result::busy; }));
    EXPECT_FALSE(loss.is_told_within(0s));
    EXPECT_EQ(lock.release(), release_result::released);
}

//   A's lock of 4 s is unknown to the standby | failover | B acquires it: after A's deadline, and
//   A has been told; B's token is larger
TEST_F(PostgresFailover, AnUnknownHoldIsWaitedFor) {
    client locks = client_at(both()), other = client_at(both());
    cut_standby_off(locks, 4s);
    auto lock = locks.acquire("it", {.ttl = 4s, .wait = patience});
    const loss_recorder loss(lock);
    fail_over();
    const auto deadline = lock.safe_until();
    auto next = other.acquire("it", {.ttl = 4s, .wait = patience});
    EXPECT_GE(boot_clock::now(), deadline);
    EXPECT_NE(lock.state(), lock_state::held);
    EXPECT_TRUE(loss.is_told_within(0s));
    EXPECT_GT(next.token(), lock.token());
    EXPECT_NE(lock.release(), release_result::released);
    EXPECT_EQ(next.release(), release_result::released);
}

//   the longest ttl is 60 s | failover to a standby that lags | B, with after_failover=go, has
//   another lock long before
TEST_F(PostgresFailover, ThePauseIsAnOption) {
    {
        client locks = client_at(both());  // it would request the pause
        cut_standby_off(locks, long_ttl);
    }
    client other = client_at(both("?after_failover=go"));
    fail_over();
    auto lock = other.acquire("it", {.ttl = 2s, .wait = 20s});
    EXPECT_EQ(lock.release(), release_result::released);
}

//   A holds, B waits | failover | A releases at the new primary: B has the lock
TEST_F(PostgresFailover, AWaiterFollows) {
    client holder = client_at(both()), waiting = client_at(both());
    auto lock = holder.acquire("it", {.ttl = long_ttl, .wait = patience});
    held_lock acquired;
    background_task waiter(
        [&] { acquired = waiting.acquire("it", {.ttl = long_ttl, .wait = 60s}); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    shorten_pause(5s);
    standby.catch_up();
    fail_over();
    EXPECT_EQ(lock.release(), release_result::released);
    waiter.join();
    EXPECT_GT(acquired.token(), lock.token());
    EXPECT_EQ(acquired.release(), release_result::released);
}

//   A holds | the primary stops for good, as in a planned failover, then the standby is promoted |
//   the hold continues, and nothing that the standby was sent is lost
TEST_F(PostgresFailover, APlannedOneCostsNothing) {
    client locks = client_at(both());
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    server.stop();  // it sends everything to its standby first
    standby.promote();
    lock.renew();
    EXPECT_EQ(lock.release(), release_result::released);
}

//   A has a lock by a name of its own, which the standby knows | A releases it, and B acquires it,
//   both unknown to the standby | failover: C cannot adopt A's hold in the pause, as B may hold |
//   the pause is over, but A's lease is not, as the tables say: C adopts it
TEST_F(PostgresFailover, AHoldIsNotAdoptedInThePause) {
    client locks = client_at(both()), other = client_at(both());
    auto lock = locks.acquire_as("it", "ticket", {.ttl = 300s, .wait = patience});
    standby.catch_up();
    standby.stop_replication();
    EXPECT_EQ(lock.release(), release_result::released);
    const auto next = other.acquire("it", {.ttl = 5s, .wait = patience}).token();
    fail_over();
    client third = client_at(both());
    const auto adopt = [&] { return third.adopt("it", "ticket", {.ttl = long_ttl}); };
    ASSERT_TRUE(eventually([&] { return result_of_try(third, "another") == try_result::busy; }));
    const auto failed = failure_of([&] { (void)adopt(); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::unavailable) << failed;
    (void)standby.execute("UPDATE pawl.boot SET hold_off = NULL", database);
    EXPECT_GT(adopt().token(), next);
}

//   the tables come to a server with an earlier timeline, as with pg_upgrade | it crashes: tokens
//   rise, also of a name whose row was deleted
TEST_F(PostgresFailover, TokensRiseOnAnEarlierTimeline) {
    const auto token = [this] {
        client locks = client_with();
        auto lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
        return lock.token();
    };
    const auto crash = [this] {
        server.kill9();
        server.start();
    };
    (void)token();
    execute("UPDATE pawl.meta SET timeline = 7, floor = 7::bigint << 47, most_ttl = 1000");
    execute("UPDATE pawl.boot SET floor = 7::bigint << 47");
    const auto before = token();
    for (int i = 0; i < 2; ++i) {
        crash();
        execute("DELETE FROM pawl.lock");
        EXPECT_GT(token(), before);
    }
}

//   a client that knows only the standby waits | promotion | it gets the lock
TEST_F(PostgresFailover, AStandbyGrantsNothing) {
    client locks = client_with(), early = client_at(standby.url(database));
    warm(locks);
    shorten_pause(2s);
    standby.catch_up();
    const auto failed = failure_of([&] { (void)early.try_acquire("it", {.ttl = 2s}); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::unavailable) << failed;
    held_lock acquired;
    background_task waiting([&] { acquired = early.acquire("it", {.ttl = 2s, .wait = patience}); });
    fail_over();
    waiting.join();
    EXPECT_EQ(acquired.release(), release_result::released);
}

//   W waits behind a proxy, and the old primary grants it the lock for 1.8 s. W does not learn of
//   it in time, so the next waiter has the lock | a standby is promoted that knows only the first
//   grant, and whose clock is behind | W asks there, during the pause: it does not have the lock
TEST_F(PostgresFailover, AWaiterIsNotToldOfAnEarlierGrant) {
    client locks = client_with();
    warm(locks);
    const auto status_of = [this](const std::string& call) {
        const auto rows = execute("SELECT status FROM pawl." + call);
        return rows.front().front().value_or("null");
    };
    const std::string claim = "('pawl', 'it', 'w', '00000000000000aa', 'vm 1 W', NULL, 60000, ";
    const std::string leave = "leave_1('pawl', 'it', 'w', '00000000000000aa', '', 0, true)";
    for (const std::string mode : {"0, 0, 0, 2)", "1, 0, 0, 2)", "2, 1, 3, 2)"}) {
        ASSERT_EQ(status_of("acquire_1" + claim + mode), "g") << mode;
        execute(
            "UPDATE pawl.boot SET floor = floor + (1::bigint << 47), "
            "hold_off = clock_timestamp() + interval '1 hour'");
        EXPECT_EQ(status_of("refresh_1" + claim + mode), "q") << mode;
        EXPECT_NE(status_of(leave), "g") << mode;
        execute("UPDATE pawl.boot SET hold_off = NULL");
        EXPECT_EQ(status_of("acquire_1" + claim + mode), "g") << mode;
        execute("UPDATE pawl.boot SET floor = floor + (1::bigint << 47)");
        EXPECT_NE(status_of(leave), "g") << mode;
    }
}

//   the primary freezes, the standby is promoted, a hold gets a token there | the old primary goes
//   on, as nobody fenced it: whatever it grants has a smaller token
TEST_F(PostgresFailover, AnOldPrimaryIssuesSmallerTokens) {
    client old_clients = client_with();
    cut_standby_off(old_clients, 2s);
    server.freeze();
    standby.promote();
    client new_clients = client_at(standby.url(database));
    auto newer = new_clients.acquire("it", {.ttl = 2s, .wait = patience});
    server.thaw();
    auto older = old_clients.acquire("it", {.ttl = 2s, .wait = patience});
    EXPECT_LT(older.token(), newer.token());
}

//   three crashes, then a failover that loses the newest 50 holds | each token is larger than all
//   before it
TEST_F(PostgresFailover, TokensRiseOverCrashesAndAPromotion) {
    client locks = client_at(both());
    pawl::fencing_token newest;
    const auto take = [&] {
        auto lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
        EXPECT_GT(lock.token(), newest);
        newest = lock.token();
        EXPECT_EQ(lock.release(), release_result::released);
    };
    for (int i = 0; i < 3; ++i) {
        take();
        server.kill9();
        server.start();
    }
    take();
    cut_standby_off(locks, 2s);
    for (int i = 0; i < 50; ++i)
        take();
    fail_over();
    take();
}

//   a synchronous standby is frozen: no commit is confirmed | a try ends | the standby goes on:
//   the lock is free or granted, but not left behind
TEST_F(PostgresFailover, AFrozenSynchronousStandbyLeavesNothingBehind) {
    client locks = client_at(server.url(database), 1s);
    warm(locks);
    server.set("synchronous_standby_names", "*");
    ASSERT_TRUE(eventually([&] {
        return number("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == 1;
    }));
    expect_pairs(locks, "it", 3);
    standby.freeze();
    const auto failed = failure_of([&] { (void)locks.try_acquire("it", {.ttl = long_ttl}); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_TRUE(failed->reason == errc::unreachable || failed->reason == errc::unavailable)
        << failed;
    standby.thaw();
    EXPECT_TRUE(becomes_clean());
    expect_pairs(locks, "it", 3);
}

}  // namespace
