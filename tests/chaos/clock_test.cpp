// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The server's clock jumps, or runs at another rate, while locks are held and waited for. The
// server is real and the test moves its clock; the clients' clocks are right.
#include "clock_fixture.hpp"

namespace {

using namespace chaos;

class ClockJumps : public clock_fixture, public testing::WithParamInterface<hold_kind> {};

//   A: holds the lock | the server's clock jumps forward, past the end of A's lease | B: acquires
//   it | A's next renewal is refused: A is told, no later than the end of its lease
TEST_P(ClockJumps, ForwardEndALeaseEarlyAndTheHolderIsTold) {
    client holds = proxied_client(GetParam().url), takes = direct_client(GetParam().url);
    for (const auto by : {1h, 24h}) {
        auto lock = holds.acquire("it", options_for(GetParam(), {.ttl = 3s, .wait = patience}));
        const loss_recorder loss(lock);
        const auto safe_until = lock.safe_until();
        clock.step(by);
        auto next = takes.acquire("it", exclusive_options(GetParam()));
        EXPECT_GT(next.token(), lock.token());
        ASSERT_TRUE(loss.is_told_within(10s));
        EXPECT_LE(loss.told_at(), safe_until);
        // A renewal may come before the next holder.
        EXPECT_TRUE(lock.why_lost() == pawl::loss_reason::taken_over ||
                    lock.why_lost() == pawl::loss_reason::missing);
        EXPECT_NE(lock.release(), release_result::released);
        next.renew();
        EXPECT_EQ(next.release(), release_result::released);
    }
}

//   A: holds the lock | the server's clock jumps back | A renews and releases: B, a waiter, has the
//   lock at once, with a larger token, although the clock shows an earlier time
TEST_P(ClockJumps, BackCostALivingHolderNothing) {
    client holds = direct_client(GetParam().url), takes = direct_client(GetParam().url);
    for (const auto by : {1h, 24h}) {
        auto lock = holds.acquire("it", options_for(GetParam(), {.ttl = 3s, .wait = patience}));
        clock.step(-by);
        const auto before = lock.safe_until();
        ASSERT_TRUE(eventually([&] { return lock.safe_until() > before; })) << "not renewed";
        held_lock next;
        background_task waiting([&] { next = takes.acquire("it", exclusive_options(GetParam())); });
        ASSERT_TRUE(eventually([&] { return takes.inspect("it").waiters > 0; }));
        EXPECT_EQ(lock.release(), release_result::released);
        waiting.join();
        EXPECT_GT(next.token(), lock.token());
        EXPECT_EQ(next.release(), release_result::released);
    }
}

INSTANTIATE_TEST_SUITE_P(, ClockJumps, testing::ValuesIn(hold_kinds), kind_name);

class WaitQueues : public clock_fixture, public testing::WithParamInterface<std::string> {
protected:
    // Three clients that want strict order enter the queue; then the clock jumps, then a fourth
    // comes.
    std::vector<int> order_after(std::chrono::microseconds leap) {
        client holds = direct_client(GetParam());
        auto lock = holds.acquire("it", fair);
        std::vector<client> clients;
        for (int i = 0; i < 4; ++i)
            clients.push_back(direct_client(GetParam()));
        std::vector<int> order;
        std::vector<pawl::fencing_token> tokens;
        std::mutex guard;
        std::vector<std::unique_ptr<background_task>> waiting;
        for (int i = 0; i < 4; ++i) {
            if (i == 3) clock.step(leap);
            waiting.push_back(std::make_unique<background_task>([&, i] {
                auto own_lock = clients[static_cast<std::size_t>(i)].acquire("it", fair);
                const std::scoped_lock guard_lock(guard);
                order.push_back(i);
                tokens.push_back(own_lock.token());
                (void)own_lock.release();
            }));
            const auto in_line = static_cast<std::uint64_t>(i + 1);
            if (i < 3 || leap < 0s) {
                EXPECT_TRUE(eventually([&] { return queue_length(GetParam()) >= in_line; }));
            }
        }
        (void)lock.release();
        waiting.clear();
        EXPECT_TRUE(std::is_sorted(tokens.begin(), tokens.end()));
        EXPECT_EQ(tokens.size(), 4U);
        return order;
    }
    std::uint64_t queue_length(const std::string& url) {
        if (url.empty()) return waiters("it");
        return static_cast<std::uint64_t>(
            server.execute({"LLEN", "redisson_lock_queue:{it}"}).number());
    }
};

//   A, B, C: are in the queue | the clock jumps back | D: comes, at an earlier time than theirs | D
//   must not pass them
TEST_P(WaitQueues, KeepTheirOrderWhenTheClockLeapsBack) {
    for (const auto by : {1h, 24h})
        EXPECT_EQ(order_after(-by), (std::vector{0, 1, 2, 3}));
}

//   A, B, C: are in the queue | the clock jumps forward: all places have expired, and the lock is
//   free | each refreshes within about a second and gets the lock; the order is not kept
TEST_P(WaitQueues, LeaveNobodyBehindWhenTheClockLeapsForward) {
    for (const auto by : {1h, 24h})
        EXPECT_EQ(order_after(by).size(), 4U);
}

INSTANTIATE_TEST_SUITE_P(, WaitQueues, testing::Values("", "?layout=redisson"),
                         [](const auto& parameter) {
                             return parameter.param.empty() ? "Native" : "Redisson";
                         });

using Clocks = clock_fixture;

//   R: reads | W: waits to write, and dies without leaving | the clock jumps back: by it, W's place
//   ends in an hour | S wants to read, behind W: it must not wait that long
TEST_F(Clocks, ThePlaceOfADeadWaiterEndsSoonAfterALeapBack) {
    client reads = direct_client(), comes = direct_client();
    auto first = reads.acquire("it", shared);
    const auto lease = std::to_string(server.time_ms() + 1900);
    (void)server.execute({"ZADD", "pawl:{it}:q", "1", "dead:00"});
    (void)server.execute({"HSET", "pawl:{it}:w", "dead:00", lease + " 1200 x 00;dead;h;1;w"});
    clock.step(-1h);
    auto second = comes.acquire("it", shared);
    EXPECT_EQ(second.token(), first.token());
    EXPECT_EQ(first.state(), lock_state::held);
}

//   A: holds the lock alone | W: waits, and dies without leaving | the clock jumps back: by it, W's
//   place ends in an hour | B waits behind W: only the first in the queue hears of a foreign
//   release, so W must leave the queue soon
TEST_F(Clocks, ADeadWaiterLeavesTheLineOfAHeldLockSoonAfterALeapBack) {
    client holds = direct_client(), comes = direct_client();
    auto lock = holds.acquire("it", {.ttl = long_ttl, .wait = patience});
    const auto lease = std::to_string(server.time_ms() + 1900);
    (void)server.execute({"ZADD", "pawl:{it}:q", "1", "dead:00"});
    (void)server.execute({"HSET", "pawl:{it}:w", "dead:00", lease + " 1200 x 00;dead;h;1;w"});
    clock.step(-1h);
    held_lock next;
    background_task waiting(
        [&] { next = comes.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    EXPECT_TRUE(eventually([&] {
        return server.execute({"ZSCORE", "pawl:{it}:q", "dead:00"}).text.empty();
    }));
    EXPECT_EQ(lock.release(), release_result::released);
    waiting.join();
    EXPECT_EQ(next.release(), release_result::released);
}

//   W: waits in Redisson's fair queue, and dies without leaving | the clock jumps back | the lock
//   is free, and W is first for another hour: A must not wait that long
TEST_F(Clocks, ADeadWaiterInRedissonsLineLeavesSoonAfterALeapBack) {
    client comes = direct_client("?layout=redisson");
    const std::string dead_waiter = "176d4c5e-cbab-4c45-831e-b8c949d7ba8c:-1";
    (void)server.execute({"RPUSH", "redisson_lock_queue:{it}", dead_waiter});
    const auto now = server.time_ms();
    (void)server.execute(
        {"ZADD", "redisson_lock_timeout:{it}", std::to_string(now + 5000), dead_waiter});
    (void)server.execute(
        {"ZADD", "redisson_lock_seen:{it}", std::to_string(now + 1900), dead_waiter});
    clock.step(-1h);
    auto lock = comes.acquire("it", {.ttl = long_ttl, .wait = patience, .fair = true});
    EXPECT_EQ(lock.release(), release_result::released);
}

//   the clock jumps forward: a token from it | back: the counter continues above it | the counter
//   is not used for its retention time, and the clock still shows less: it must not start again
TEST_F(Clocks, TokensNeverGoBackWhateverTheClockDoes) {
    pawl::fencing_token newest;
    for (const auto leap : {0h, 1h, -1h, 24h, -24h, -1h, 1h}) {
        clock.step(leap);
        for (const auto idle : {0s, 5s}) {
            // Longer than the retention of a counter that is not ahead of the clock.
            clock.step(idle);
            client fresh = direct_client("?token_retention=1000");
            auto lock = fresh.acquire("it", {.ttl = long_ttl, .wait = patience});
            EXPECT_GT(lock.token(), newest) << leap / 1h << " h";
            newest = lock.token();
            EXPECT_EQ(lock.release(), release_result::released);
        }
    }
}

//   the server's clock runs half as fast again, for twice a lease | every lease there is shorter
//   than its holder thinks, and is renewed in time all the same
TEST_F(Clocks, AClockThatGoesTooFastCostsNothing) {
    client holds = direct_client();
    auto quiet = holds.acquire("quiet", {.ttl = 2s, .wait = patience});
    auto reader = holds.acquire("read", {.ttl = 2s, .mode = pawl::lock_mode::shared});
    auto set = holds.acquire_all({"a", "b"}, {.ttl = 2s, .wait = patience});
    clock.set_rate(1.5);
    std::mutex guard;
    std::vector<pawl::fencing_token> tokens;
    {
        std::vector<std::unique_ptr<background_task>> contenders;
        for (int i = 0; i < 4; ++i)
            contenders.push_back(std::make_unique<background_task>([&] {
                client contender = direct_client();
                while (clock.wall_offset() < 2s) {
                    auto lock = contender.acquire("it", {.ttl = 2s, .wait = patience});
                    const std::scoped_lock guard_lock(guard);
                    tokens.push_back(lock.token());
                    EXPECT_EQ(lock.release(), release_result::released);
                }
            }));
    }
    clock.set_rate(1);
    EXPECT_TRUE(std::is_sorted(tokens.begin(), tokens.end()));
    EXPECT_GT(tokens.size(), 4U);
    EXPECT_EQ(quiet.release(), release_result::released);
    EXPECT_EQ(reader.release(), release_result::released);
    EXPECT_EQ(set.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

//   W: waits, and its connection falls silent | the clock jumps back: by it, W's place stays for an
//   hour | W gives up | W's undo arrives when the connection is alive again: nothing is left behind
TEST_F(Clocks, AWaitThatIsGivenUpAcrossALeapBackLeavesNothingBehind) {
    client holds = direct_client(), leaves = proxied_client();
    for (const auto by : {1h, 24h}) {
        auto lock = holds.acquire("it", {.ttl = long_ttl, .wait = patience});
        std::stop_source stop;
        background_task waiting([&] {
            const auto failed =
                failure_of([&] { (void)leaves.acquire("it", fair, stop.get_token()); });
            EXPECT_TRUE(failed && failed->reason == errc::cancelled) << failed;
        });
        ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
        proxy.freeze(true);
        clock.step(-by);
        stop.request_stop();
        waiting.join();
        proxy.freeze(false);
        EXPECT_TRUE(eventually([&] { return waiters("it") == 0; }));
        EXPECT_EQ(lock.release(), release_result::released);
        EXPECT_TRUE(becomes_clean());
    }
}

//   A: holds a batch of locks | the clock jumps forward | the loss of each lock is reported;
//   another client acquires the batch
TEST_F(Clocks, ASetIsLostTogetherWhenTheClockLeapsForward) {
    client holds = direct_client(), takes = direct_client();
    auto set = holds.acquire_all({"a", "b", "c"}, {.ttl = 3s, .wait = patience});
    std::vector<pawl::fencing_token> old;
    for (const auto& each : set)
        old.push_back(each.token());
    clock.step(1h);
    auto next = takes.acquire_all({"a", "b", "c"}, {.ttl = long_ttl, .wait = patience});
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_GT(next.begin()[static_cast<std::ptrdiff_t>(i)].token(), old[i]);
    }
    for (const auto& each : set)
        EXPECT_TRUE(eventually([&] { return each.state() == lock_state::lost; })) << each.name();
    EXPECT_NE(set.release(), release_result::released);
    EXPECT_EQ(next.release(), release_result::released);
}

}  // namespace
