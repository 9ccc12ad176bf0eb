// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Holds over nodes that crash, freeze or forget.
#include "redlock_fixture.hpp"

#include <gmock/gmock.h>
#include <redlock_scripts.hpp>

namespace {

using namespace chaos;

class Redlock : public redlock_fixture {};

TEST_F(Redlock, AMinorityMayBeDown) {
    redlock_group group(5);
    redlock_group::begin_set(group.url());
    client locks = client_at(group.url());
    const auto first = locks.acquire("it", {.ttl = long_ttl}).token();
    group.node(0).kill9();
    group.node(3).kill9();
    auto held = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    EXPECT_GT(held.token(), first);
    EXPECT_EQ(group.count_of("it"), 3U);
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_EQ(group.count_of("it"), 0U);
}

TEST_F(Redlock, WithoutAMajorityEachNodesAnswerIsTold) {
    redlock_group group;
    redlock_group::begin_set(group.url());
    client locks = client_at(group.url());
    (void)locks.acquire("it", {.ttl = long_ttl}).release();
    group.node(1).kill9();
    group.node(2).kill9();
    ASSERT_TRUE(eventually([&] {
        try {
            (void)locks.try_acquire("it", {.ttl = long_ttl});
        } catch (const pawl::error& e) {
            EXPECT_EQ(e.reason(), errc::no_quorum) << e.what();
            const std::string sentence = e.what();
            return sentence.find(group.name_of(1)) != std::string::npos &&
                   sentence.find(group.name_of(2)) != std::string::npos;
        }
        return false;
    }));
    EXPECT_TRUE(eventually([&] { return group.count_of("it") == 0; })) << "not given back";
}

//   nodes 0 to 3 have the lock of another client, node 4 is down
//   node 4 cannot be asked, nodes 0 and 1 refuse | three of five have not granted it: the try is
//   over nodes 2 and 3 have not answered yet          | but that must not be taken for a lack of
//   nodes
TEST_F(Redlock, AHeldLockIsBusyThoughANodeIsDown) {
    redlock_group group(5);
    redlock_group::begin_set(group.url());
    client locks = client_at(group.url()), others = client_at(group.url());
    group.node(4).kill9();
    const auto held = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    for (int i = 0; i < 100; ++i)
        EXPECT_FALSE(others.try_acquire("it", {.ttl = long_ttl}).owns_lock());
}

// Waiting does not help, so nobody waits.
TEST_F(Redlock, AWrongPasswordOrAMissingRightEndsTheWait) {
    redlock_group group;
    const auto url = group.url();
    redlock_group::begin_set(url);
    for (std::size_t i = 0; i < group.node_count(); ++i)
        (void)group.node(i).execute(
            {"ACL", "SETUSER", "reader", "on", ">PASSWORD", "~*", "&*", "+@all", "-set", "-scan"});
    const auto reason_of = [](const auto& operation) {
        try {
            operation();
        } catch (const pawl::error& e) {
            EXPECT_THAT(e.what(), testing::Not(testing::HasSubstr("try again later")));
            return e.reason();
        }
        return errc::protocol;
    };
    auto with_user = [&url](const std::string& user) {
        return std::string(url).insert(url.find("//") + 2, user + "@");
    };
    client refused = client_at(with_user("reader:WRONG"));
    EXPECT_EQ(reason_of([&] { (void)refused.acquire("it", {.ttl = long_ttl}); }), errc::refused);
    client reader = client_at(with_user("reader:PASSWORD"));
    EXPECT_EQ(reason_of([&] { (void)reader.acquire("it", {.ttl = long_ttl}); }), errc::refused);
    EXPECT_EQ(reason_of([&] { (void)reader.list(); }), errc::refused);
}

// A frozen node executes its requests when it thaws. By then the hold has been released.
TEST_F(Redlock, AFrozenNodeGetsItsReleaseAfterItsAcquire) {
    redlock_group group;
    redlock_group::begin_set(group.url());
    client locks = client_at(group.url());
    (void)locks.acquire("it", {.ttl = long_ttl}).release();
    group.node(2).freeze();
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(locks.acquire("it", {.ttl = long_ttl}).release(), release_result::released);
    group.node(2).thaw();
    EXPECT_TRUE(eventually([&] { return group.count_of("it") == 0; }, 30s));
}

//   A: holds | node 2 is frozen, with a renewal of A's in one of its sockets | A releases the lock
//   node 2 goes on, and executes the renewal last: it must not restore the lock for a ttl
TEST_F(Redlock, ARenewalThatIsExecutedAfterTheReleaseRestoresNothing) {
    redlock_group group;
    redlock_group::begin_set(group.url());
    client locks = client_at(group.url());
    auto& node = group.node(2);
    for (const bool has_key : {true, false}) {
        auto held = locks.acquire("it", {.ttl = 20s, .wait = patience});
        ASSERT_TRUE(eventually([&] { return group.count_of("it") == 3; }));
        const auto stored = node.execute({"GET", "pawl:{it}"}).text;
        if (!has_key) (void)node.execute({"DEL", "pawl:{it}"});
        const auto renew = [&] {
            const auto member = [&](const std::string& field) {
                return node.execute({"HGET", "pawl:redlock", field}).text;
            };
            (void)node.execute({"EVAL", std::string(pawl::redlock::scripts::renew.text), "5",
                                "pawl:redlock", "pawl:redlock:q", "pawl:{it}", "pawl:{it}:f",
                                "pawl:{it}:q", member("run"), member("set"), "3600000",
                                "c:", stored.substr(0, stored.rfind(';')),
                                std::to_string(held.token().value()), "20000", "it", ""});
        };
        renew();
        EXPECT_EQ(group.count_of("it"), 3U) << "a renewal before the release";
        if (!has_key) (void)node.execute({"DEL", "pawl:{it}"});
        EXPECT_EQ(held.release(), release_result::released);
        ASSERT_TRUE(eventually([&] { return group.count_of("it") == 0; }));
        const auto counter = [&] { return node.execute({"GET", "pawl:{it}:f"}).text; };
        ASSERT_TRUE(eventually([&] { return counter() > std::to_string(held.token().value()); }));
        renew();
        EXPECT_EQ(group.count_of("it"), 0U);
        // The next hold keeps its nodes although the release is repeated.
        auto next = locks.acquire("it", {.ttl = 20s, .wait = patience});
        EXPECT_GT(next.token(), held.token());
        next.renew();
        ASSERT_TRUE(eventually([&] { return group.count_of("it") == 3; }));
        EXPECT_EQ(next.release(), release_result::released);
        ASSERT_TRUE(eventually([&] { return group.count_of("it") == 0; }));
    }
}

// A client's estimate of the clocks is wrong by a year: it raises no counter above the nodes'
// clocks, which would be no floor any more.
TEST_F(Redlock, AClientsClockRaisesNoCounterAboveTheNodesClocks) {
    redlock_group group;
    redlock_group::begin_set(group.url());
    auto& node = group.node(0);
    const auto member = [&](const std::string& field) {
        return node.execute({"HGET", "pawl:redlock", field}).text;
    };
    constexpr std::int64_t since_2024_s = 1'704'067'200, units_per_s = 65'536;
    const auto clock = [&] { return (node.time_ms() / 1000 - since_2024_s) * units_per_s; };
    const auto floor = std::to_string(clock() + 31'536'000 * units_per_s);
    (void)node.execute({"EVAL", std::string(pawl::redlock::scripts::acquire.text), "5",
                        "pawl:redlock", "pawl:redlock:q", "pawl:{it}", "pawl:{it}:f", "pawl:{it}:q",
                        member("run"), member("set"), "1000", "3600000", "", "", floor,
                        "0123456789abcdef;01;P;1"});
    const auto counter = std::stoll(node.execute({"GET", "pawl:{it}:f"}).text);
    EXPECT_LE(counter, clock() + 3 * units_per_s);
    EXPECT_GT(counter, clock() - 60 * units_per_s);
}

TEST_F(Redlock, AHoldOutlivesAMinorityAndIsRestoredThere) {
    redlock_group group;
    redlock_group::begin_set(group.url());
    client locks = client_at(group.url());
    auto held = locks.acquire("it", {.ttl = 2s});
    (void)group.node(0).execute({"DEL", "pawl:{it}"});
    EXPECT_TRUE(eventually([&] { return group.count_of("it") == 3; })) << "not restored";
    EXPECT_EQ(held.state(), lock_state::held);
}

// An attempt must not use a counter that a client has not confirmed at a majority: see
// models/redlock/tokens.pml, no_confirmation. Node 0 alone knows the token of the first hold.
TEST_F(Redlock, TokensGrowThoughNodesMissedHolds) {
    redlock_group group;
    redlock_group::begin_set(group.url());
    client locks = client_at(group.url());
    pawl::fencing_token last = locks.acquire("it", {.ttl = long_ttl}).token();
    for (std::size_t away = 0; away < 9; ++away) {
        group.node(away % 3).freeze();
        auto held = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
        EXPECT_GT(held.token(), last);
        last = held.token();
        (void)held.release();
        group.node(away % 3).thaw();
    }
}

TEST_F(Redlock, AForcedReleaseIsToldAndOutranked) {
    redlock_group group;
    redlock_group::begin_set(group.url());
    client locks = client_at(group.url()), operators = client_at(group.url());
    auto held = locks.acquire("it", {.ttl = long_ttl});
    EXPECT_TRUE(operators.force_release("it"));
    ASSERT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_EQ(held.why_lost(), pawl::loss_reason::forced);
    auto next = operators.acquire("it", {.ttl = long_ttl});
    EXPECT_GT(next.token(), held.token());
    (void)next.release();
    EXPECT_TRUE(eventually([&] { return group.count_of("it") == 0; }));
    EXPECT_FALSE(operators.force_release("it"));
}

// Many clients that are released at the same time split the votes; their jitter ends that.
TEST_F(Redlock, ContendersAreServedInTheEnd) {
    redlock_group group;
    redlock_group::begin_set(group.url());
    std::vector<std::thread> contenders;
    std::atomic<int> inside = 0, served = 0;
    std::atomic<bool> has_overlapped = false;
    for (int i = 0; i < 12; ++i)
        contenders.emplace_back([&] {
            client locks = client_at(group.url());
            for (int round = 0; round < 5; ++round) {
                auto held = locks.acquire("it", {.ttl = long_ttl, .wait = 2 * patience});
                if (++inside > 1) has_overlapped = true;
                std::this_thread::yield();
                --inside;
                (void)held.release();
                ++served;
            }
        });
    for (auto& each : contenders)
        each.join();
    EXPECT_EQ(served, 60);
    EXPECT_FALSE(has_overlapped);
    EXPECT_TRUE(eventually([&] { return group.count_of("it") == 0; }));
}

//   A: holds | the first client in the line is gone, the second one listens | M: PSUBSCRIBE * | A:
//   releases | M hears of the wake-up, and the first client does not: the second one is told
TEST_F(Redlock, AMonitorOfAllChannelsIsNoWaiter) {
    redlock_group group;
    redlock_group::begin_set(group.url());
    client locks = client_at(group.url());
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    ASSERT_TRUE(eventually([&] { return group.count_of("it") == 3; }, long_ttl));
    std::vector<std::unique_ptr<support::resp_client>> listeners;
    for (std::size_t i = 0; i < group.node_count(); ++i) {
        listeners.push_back(group.node(i).connect());
        (void)listeners.back()->execute({"PSUBSCRIBE", "*"});
        listeners.push_back(group.node(i).connect());
        (void)listeners.back()->execute({"SUBSCRIBE", "pawl:c:0:second"});
        (void)group.node(i).execute({"ZADD", "pawl:{it}:q", "1", "first", "2", "second"});
    }
    EXPECT_EQ(lock.release(), release_result::released);
    for (std::size_t i = 0; i < group.node_count(); ++i)
        EXPECT_TRUE(eventually([&] {
            return group.node(i).execute({"EXISTS", "pawl:{it}:q"}).number() == 0;
        }));
}

//   {a, b} for the first time: both get 41 at each node, where a's counter makes 41 the highest
//   token c gets 42 | b's renewal must not be refused: 42 is no counter of b
TEST_F(Redlock, LocksOfASetHaveCountersOfTheirOwn) {
    redlock_group group;
    redlock_group::begin_set(group.url());
    client locks = client_at(group.url());
    auto both = locks.acquire_all({"a", "b"}, {.ttl = long_ttl});
    (void)locks.acquire("c", {.ttl = long_ttl}).release();
    both.renew();
    EXPECT_EQ(both.state(), lock_state::held);
}

TEST_F(Redlock, AHundredLocksAreOneRequestForEachNode) {
    redlock_group group;
    redlock_group::begin_set(group.url());
    client locks = client_at(group.url());
    std::vector<std::string> names;
    for (int i = 0; i < 100; ++i)
        names.push_back("seat/" + std::to_string(i));
    (void)locks.acquire_all(names, {.ttl = long_ttl}).release();
    EXPECT_TRUE(eventually([&] { return group.count_of("seat/99") == 0; }));
    const auto before = locks.statistics().requests;
    auto held = locks.acquire_all(names, {.ttl = long_ttl});
    EXPECT_LE(locks.statistics().requests - before, 6U);
    EXPECT_TRUE(eventually([&] { return group.count_of("seat/99") == 3; }));
    client other = client_at(group.url());
    EXPECT_FALSE(other.try_acquire_all({"a", "seat/50"}, {}).owns_lock());
    EXPECT_TRUE(eventually([&] { return group.count_of("a") == 0; }));
}

}  // namespace
