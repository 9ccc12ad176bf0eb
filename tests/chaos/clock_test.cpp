// The server's clock leaps, or goes at another pace, while locks are held and waited for. The
// server is a real one whose clock the test moves; the clients' clocks are right.
#include "clock_scene.hpp"

namespace {

using namespace chaos;

class Leaps : public clock_scene, public testing::WithParamInterface<kind_of_hold> {};

//   A: holds it | the server's clock leaps forward, past the end of A's lease | B: takes it | A's
//   next renewal is refused: A is told, no later than its lease would have ended
TEST_P(Leaps, ForwardEndALeaseEarlyAndTheHolderIsTold) {
    client holds = proxied(GetParam().url), takes = direct(GetParam().url);
    for (const auto by : {1h, 24h}) {
        auto lock = holds.acquire("it", with(GetParam(), {.ttl = 3s, .wait = patience}));
        const bell loss(lock);
        const auto safe_until = lock.safe_until();
        clock.leap(by);
        auto next = takes.acquire("it", alone(GetParam()));
        EXPECT_GT(next.token(), lock.token());
        ASSERT_TRUE(loss.rang_within(10s));
        EXPECT_LE(loss.when(), safe_until);
        EXPECT_EQ(lock.why_lost(), pawl::loss_reason::taken_over);
        EXPECT_NE(lock.release(), release_result::released);
        next.renew();
        EXPECT_EQ(next.release(), release_result::released);
    }
}

//   A: holds it | the server's clock leaps back | A renews, and releases: B, who waits, has it at
//   once, with a larger token, although the clock says less
TEST_P(Leaps, BackCostALivingHolderNothing) {
    client holds = direct(GetParam().url), takes = direct(GetParam().url);
    for (const auto by : {1h, 24h}) {
        auto lock = holds.acquire("it", with(GetParam(), {.ttl = 3s, .wait = patience}));
        clock.leap(-by);
        const auto before = lock.safe_until();
        ASSERT_TRUE(eventually([&] { return lock.safe_until() > before; })) << "not renewed";
        held_lock next;
        beside waiting([&] { next = takes.acquire("it", alone(GetParam())); });
        ASSERT_TRUE(eventually([&] { return takes.inspect("it").waiters > 0; }));
        EXPECT_EQ(lock.release(), release_result::released);
        waiting.join();
        EXPECT_GT(next.token(), lock.token());
        EXPECT_EQ(next.release(), release_result::released);
    }
}

INSTANTIATE_TEST_SUITE_P(, Leaps, testing::ValuesIn(kinds_of_hold), kind_name);

class Lines : public clock_scene, public testing::WithParamInterface<std::string> {
protected:
    // Three who want it in strict order stand in line, then the clock leaps, then a fourth comes.
    std::vector<int> order_after(std::chrono::microseconds leap) {
        client holds = direct(GetParam());
        const pawl::lock_options fair{.ttl = long_ttl, .wait = patience, .fair = true};
        auto lock = holds.acquire("it", fair);
        std::vector<client> clients;
        for (int i = 0; i < 4; ++i)
            clients.push_back(direct(GetParam()));
        std::vector<int> order;
        std::vector<pawl::fencing_token> tokens;
        std::mutex guard;
        std::vector<std::unique_ptr<beside>> waiting;
        for (int i = 0; i < 4; ++i) {
            if (i == 3) clock.leap(leap);
            waiting.push_back(std::make_unique<beside>([&, i] {
                auto mine = clients[static_cast<std::size_t>(i)].acquire("it", fair);
                const std::scoped_lock alone(guard);
                order.push_back(i);
                tokens.push_back(mine.token());
                (void)mine.release();
            }));
            const auto in_line = static_cast<std::uint64_t>(i + 1);
            if (i < 3 || leap < 0s) {
                EXPECT_TRUE(eventually([&] { return stand_in_line(GetParam()) >= in_line; }));
            }
        }
        (void)lock.release();
        waiting.clear();
        EXPECT_TRUE(std::is_sorted(tokens.begin(), tokens.end()));
        EXPECT_EQ(tokens.size(), 4U);
        return order;
    }
    std::uint64_t stand_in_line(const std::string& url) {
        if (url.empty()) return waiters("it");
        return static_cast<std::uint64_t>(
            server.ask({"LLEN", "redisson_lock_queue:{it}"}).number());
    }
};

//   A, B, C: stand in line | the clock leaps back | D: comes, at an earlier hour than theirs | D
//   must not pass them
TEST_P(Lines, KeepTheirOrderWhenTheClockLeapsBack) {
    for (const auto by : {1h, 24h})
        EXPECT_EQ(order_after(-by), (std::vector{0, 1, 2, 3}));
}

//   A, B, C: stand in line | the clock leaps forward: all places are over, and the lock is free |
//   each looks again within about a second, and comes in; the order is not kept
TEST_P(Lines, LeaveNobodyBehindWhenTheClockLeapsForward) {
    for (const auto by : {1h, 24h})
        EXPECT_EQ(order_after(by).size(), 4U);
}

INSTANTIATE_TEST_SUITE_P(, Lines, testing::Values("", "?layout=redisson"),
                         [](const auto& of) { return of.param.empty() ? "Native" : "Redisson"; });

using Clocks = clock_scene;

//   R: reads | W: waits to write, and dies without a word | the clock leaps back: by it, W's place
//   ends in an hour | S wants to read, behind W: it must not wait for that
TEST_F(Clocks, ThePlaceOfADeadWaiterEndsSoonAfterALeapBack) {
    client reads = direct(), comes = direct();
    const pawl::lock_options shared{
        .ttl = long_ttl, .wait = patience, .mode = pawl::lock_mode::shared};
    auto first = reads.acquire("it", shared);
    const auto lease = std::to_string(server_ms() + 1900);
    (void)server.ask({"ZADD", "pawl:{it}:q", "1", "dead:00"});
    (void)server.ask({"HSET", "pawl:{it}:w", "dead:00", lease + " 1200 x 00;dead;h;1;w"});
    clock.leap(-1h);
    auto second = comes.acquire("it", shared);
    EXPECT_EQ(second.token(), first.token());
    EXPECT_EQ(first.state(), lock_state::held);
}

//   A: holds it alone | W: waits, and dies without a word | the clock leaps back: by it, W's place
//   ends in an hour | B waits behind W: only the first in line hears of a foreign release, so W
//   must leave it soon
TEST_F(Clocks, ADeadWaiterLeavesTheLineOfAHeldLockSoonAfterALeapBack) {
    client holds = direct(), comes = direct();
    auto lock = holds.acquire("it", {.ttl = long_ttl, .wait = patience});
    const auto lease = std::to_string(server_ms() + 1900);
    (void)server.ask({"ZADD", "pawl:{it}:q", "1", "dead:00"});
    (void)server.ask({"HSET", "pawl:{it}:w", "dead:00", lease + " 1200 x 00;dead;h;1;w"});
    clock.leap(-1h);
    held_lock next;
    beside waiting([&] { next = comes.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    EXPECT_TRUE(eventually([&] {
        return server.ask({"ZSCORE", "pawl:{it}:q", "dead:00"}).text.empty();
    }));
    EXPECT_EQ(lock.release(), release_result::released);
    waiting.join();
    EXPECT_EQ(next.release(), release_result::released);
}

//   W: waits in Redisson's fair line, and dies without a word | the clock leaps back | the lock is
//   free, and W stands first for another hour: A must not wait for that
TEST_F(Clocks, ADeadWaiterInRedissonsLineLeavesSoonAfterALeapBack) {
    client comes = direct("?layout=redisson");
    const std::string dead = "176d4c5e-cbab-4c45-831e-b8c949d7ba8c:-1";
    (void)server.ask({"RPUSH", "redisson_lock_queue:{it}", dead});
    const auto now = server_ms();
    (void)server.ask({"ZADD", "redisson_lock_timeout:{it}", std::to_string(now + 5000), dead});
    (void)server.ask({"ZADD", "redisson_lock_seen:{it}", std::to_string(now + 1900), dead});
    clock.leap(-1h);
    auto lock = comes.acquire("it", {.ttl = long_ttl, .wait = patience, .fair = true});
    EXPECT_EQ(lock.release(), release_result::released);
}

//   the clock leaps forward: a token from it | back: the counter goes on above it | the counter is
//   not used for as long as it is kept, and the clock still says less: it must not begin again
TEST_F(Clocks, TokensNeverGoBackWhateverTheClockDoes) {
    pawl::fencing_token newest;
    for (const auto leap : {0h, 1h, -1h, 24h, -24h, -1h, 1h}) {
        clock.leap(leap);
        for (const auto idle : {0s, 5s}) {
            // Longer than a counter is kept that is not ahead of the clock.
            clock.leap(idle);
            client fresh = direct("?token_retention_ms=1000");
            auto lock = fresh.acquire("it", {.ttl = long_ttl, .wait = patience});
            EXPECT_GT(lock.token(), newest) << leap / 1h << " h";
            newest = lock.token();
            EXPECT_EQ(lock.release(), release_result::released);
        }
    }
}

//   the server's clock goes half as fast again, for twice a lease | every lease there is shorter
//   than its holder thinks, and is renewed in time all the same
TEST_F(Clocks, AClockThatGoesTooFastCostsNothing) {
    client holds = direct();
    auto quiet = holds.acquire("quiet", {.ttl = 2s, .wait = patience});
    auto reader = holds.acquire("read", {.ttl = 2s, .mode = pawl::lock_mode::shared});
    auto set = holds.acquire_all({"a", "b"}, {.ttl = 2s, .wait = patience});
    clock.go_at(1.5);
    std::mutex guard;
    std::vector<pawl::fencing_token> tokens;
    {
        std::vector<std::unique_ptr<beside>> crowd;
        for (int i = 0; i < 4; ++i)
            crowd.push_back(std::make_unique<beside>([&] {
                client mine = direct();
                while (clock.ahead() < 2s) {
                    auto lock = mine.acquire("it", {.ttl = 2s, .wait = patience});
                    const std::scoped_lock alone(guard);
                    tokens.push_back(lock.token());
                    EXPECT_EQ(lock.release(), release_result::released);
                }
            }));
    }
    clock.go_at(1);
    EXPECT_TRUE(std::is_sorted(tokens.begin(), tokens.end()));
    EXPECT_GT(tokens.size(), 4U);
    EXPECT_EQ(quiet.release(), release_result::released);
    EXPECT_EQ(reader.release(), release_result::released);
    EXPECT_EQ(set.release(), release_result::released);
    EXPECT_TRUE(clean());
}

//   W: waits, and its connection falls silent | the clock leaps back: by it, W's place stays for an
//   hour | W gives up | W's undo arrives when the connection is alive again: nothing stays behind
TEST_F(Clocks, AWaitThatIsGivenUpAcrossALeapBackLeavesNothingBehind) {
    client holds = direct(), leaves = proxied();
    for (const auto by : {1h, 24h}) {
        auto lock = holds.acquire("it", {.ttl = long_ttl, .wait = patience});
        std::stop_source stop;
        beside waiting([&] {
            const pawl::lock_options fair{.ttl = long_ttl, .wait = patience, .fair = true};
            const auto what =
                failure_of([&] { (void)leaves.acquire("it", fair, stop.get_token()); });
            EXPECT_TRUE(what && what->reason == errc::cancelled) << what;
        });
        ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
        proxy.freeze(true);
        clock.leap(-by);
        stop.request_stop();
        waiting.join();
        proxy.freeze(false);
        EXPECT_TRUE(eventually([&] { return waiters("it") == 0; }));
        EXPECT_EQ(lock.release(), release_result::released);
        EXPECT_TRUE(clean());
    }
}

//   A: holds a set | the clock leaps forward | each lock of the set is lost, and said so; another
//   takes the set
TEST_F(Clocks, ASetIsLostTogetherWhenTheClockLeapsForward) {
    client holds = direct(), takes = direct();
    auto set = holds.acquire_all({"a", "b", "c"}, {.ttl = 3s, .wait = patience});
    std::vector<pawl::fencing_token> old;
    for (const auto& each : set)
        old.push_back(each.token());
    clock.leap(1h);
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
