// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// How nodes become members of a set, and again after they have lost their data.
#include "redlock_fixture.hpp"

#include <support/moved_clock.hpp>

#include <pawl/redlock.hpp>

#include <gmock/gmock.h>
#include <redlock_scripts.hpp>

#include <algorithm>
#include <future>

namespace {

using namespace chaos;

// So short that a quarantine ends within a test.
constexpr auto short_leases = "?ttl_max=1000";

class RedlockMembers : public redlock_fixture {
protected:
    // A try begins a set of new nodes. An earlier set may have granted the lock, so it must fail.
    bool is_in_quarantine(const std::string& url) {
        const auto failed = failure_at(url);
        EXPECT_TRUE(failed && failed->reason == errc::no_set) << failed;
        return failed && failed->sentence.find("votes in") != std::string::npos;
    }
    static std::string member_of(redlock_group& group, std::size_t node, const std::string& field) {
        return group.node(node).execute({"HGET", "pawl:redlock", field}).text;
    }
};

TEST_F(RedlockMembers, ANewSetWaitsForEarlierHoldsFirst) {
    redlock_group group;
    EXPECT_TRUE(eventually([&] { return is_in_quarantine(group.url(short_leases)); }));
    client locks = client_at(group.url(short_leases));
    EXPECT_TRUE(locks.acquire("it", {.ttl = 500ms, .wait = patience}).owns_lock());
}

TEST_F(RedlockMembers, AnOperatorsSetGrantsAtOnce) {
    redlock_group group;
    const auto url = group.url();
    redlock_group::begin_set(url);
    client locks = client_at(url);
    EXPECT_TRUE(locks.try_acquire("it", {.ttl = 500ms}).owns_lock());
    try {
        redlock_group::begin_set(url);
        ADD_FAILURE() << "a set with members was begun again";
    } catch (const pawl::error& e) {
        EXPECT_EQ(e.reason(), errc::bad_option) << e.what();
    }
}

// A client that came before the operator has begun a set that waits for a minute. The set has
// granted nothing, so it stays, and needs no force.
TEST_F(RedlockMembers, AnOperatorEndsTheWaitOfANewSet) {
    redlock_group group;
    const auto url = group.url();
    ASSERT_TRUE(eventually([&] { return is_in_quarantine(url); }));
    const auto failed = failure_at(url);
    ASSERT_TRUE(failed.has_value());
    EXPECT_THAT(failed->sentence, testing::HasSubstr("pawl redlock init ends the wait"));
    const auto nonce = member_of(group, 0, "nonce");
    redlock_group::begin_set(url);
    EXPECT_EQ(member_of(group, 0, "nonce"), nonce) << "the set was begun again";
    EXPECT_TRUE(client_at(url).try_acquire("it", {.ttl = 500ms}).owns_lock());
}

// The interleaving: an operator's init reads that all nodes wait; then node 0 loses its data, and
// joins again. Its new quarantine protects a hold that it does not know, so init must not end it.
TEST_F(RedlockMembers, AnOperatorEndsNoLaterWait) {
    redlock_group group;
    const auto url = group.url();
    ASSERT_TRUE(eventually([&] { return is_in_quarantine(url); }));
    const std::string script(pawl::redlock::scripts::end_quarantine.text);
    const auto nonce_before = member_of(group, 2, "nonce");
    for (std::size_t node = 0; node < 2; ++node)
        (void)group.node(node).execute({"DEL", "pawl:redlock:q"});
    (void)group.node(2).execute({"FLUSHALL"});
    client locks = client_at(url);
    EXPECT_TRUE(eventually([&] {
        (void)locks.try_acquire("it", {.ttl = 500ms}).release();
        return member_of(group, 2, "incarnation") == "2";
    }));
    for (const auto& nonce : {nonce_before, member_of(group, 2, "nonce")}) {
        (void)group.node(2).execute({"EVAL", script, "2", "pawl:redlock", "pawl:redlock:q",
                                     member_of(group, 2, "run"), member_of(group, 2, "set"),
                                     nonce});
        EXPECT_EQ(group.node(2).execute({"EXISTS", "pawl:redlock:q"}).number(), 1);
    }
    try {
        redlock_group::begin_set(url);
        ADD_FAILURE() << "a set that grants locks was begun again";
    } catch (const pawl::error& e) {
        EXPECT_EQ(e.reason(), errc::bad_option) << e.what();
    }
}

TEST_F(RedlockMembers, ASetBeginsOnlyWithAllItsNodes) {
    redlock_group group;
    group.node(1).terminate();
    const auto failed = failure_at(group.url(short_leases));
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::no_quorum);
    EXPECT_THAT(failed->sentence,
                testing::HasSubstr("a set begins only when all of its nodes can join"));
    EXPECT_EQ(member_of(group, 0, "highest"), "");
}

// The interleaving: A holds x at nodes 0 and 1; node 0 restarts without its data. If it could vote
// now, B could acquire x at nodes 0 and 2 while A holds it.
TEST_F(RedlockMembers, ANodeThatHasForgottenGrantsNothingWhileOldHoldsMayLast) {
    redlock_group group;
    const auto url = group.url(short_leases);
    redlock_group::begin_set(url);
    client locks = client_at(url), other = client_at(url);
    auto held = locks.acquire("it", {.ttl = 900ms, .max_hold = 900ms});
    ASSERT_TRUE(eventually([&] { return group.count_of("it") == 3; }));
    (void)group.node(2).execute({"DEL", "pawl:{it}"});
    group.node(0).kill9();
    group.node(0).start(false);
    const auto next = other.acquire("it", {.ttl = 900ms, .wait = patience});
    EXPECT_GE(boot_clock::now(), held.safe_until());
    EXPECT_GT(next.token(), held.token());
}

TEST_F(RedlockMembers, ANodeThatHasForgottenJoinsAgain) {
    redlock_group group;
    const auto url = group.url(short_leases);
    redlock_group::begin_set(url);
    client locks = client_at(url);
    const auto first = locks.acquire("it", {.ttl = 900ms}).token();
    group.node(0).kill9();
    group.node(0).start(false);
    EXPECT_TRUE(eventually([&] {
        (void)locks.acquire("it", {.ttl = 900ms, .wait = patience}).release();
        return member_of(group, 0, "incarnation") == "2";
    }));
    EXPECT_THAT(member_of(group, 1, "vector"), testing::HasSubstr("2"));
    EXPECT_TRUE(eventually([&] {
        auto held = locks.acquire("it", {.ttl = 900ms, .wait = patience});
        EXPECT_GT(held.token(), first);
        const bool has_all = group.count_of("it") == 3;
        (void)held.release();
        return has_all;
    }));
}

//   a client has used a lock, and asks for none any more | a node restarts without its data
TEST_F(RedlockMembers, ANodeJoinsAgainWithoutARequest) {
    redlock_group group;
    const auto url = group.url(short_leases);
    redlock_group::begin_set(url);
    client locks = client_at(url);
    (void)locks.acquire("it", {.ttl = 900ms}).release();
    group.node(0).kill9();
    group.node(0).start(false);
    EXPECT_TRUE(eventually([&] { return member_of(group, 0, "incarnation") == "2"; }))
        << client_log.text();
}

TEST_F(RedlockMembers, AFlushIsNoticedAlthoughTheServerRunsOn) {
    redlock_group group;
    const auto url = group.url(short_leases);
    redlock_group::begin_set(url);
    client locks = client_at(url);
    auto last = locks.acquire("it", {.ttl = 900ms}).token();
    for (std::size_t node = 0; node < 3; ++node) {
        (void)group.node(node).execute({"FLUSHALL"});
        EXPECT_TRUE(eventually([&] {
            auto held = locks.acquire("it", {.ttl = 900ms, .wait = patience});
            EXPECT_GT(held.token(), last) << "after the flush of node " << node;
            last = held.token();
            (void)held.release();
            return member_of(group, node, "highest") != "" &&
                   group.node(node).execute({"EXISTS", "pawl:redlock:q"}).number() == 0;
        }));
    }
}

// Tokens of the first life must not come again: they start from the servers' clocks.
TEST_F(RedlockMembers, ASetThatForgetsEverythingAtOnceRepeatsNoToken) {
    redlock_group group;
    const auto url = group.url(short_leases);
    redlock_group::begin_set(url);
    client locks = client_at(url);
    const auto first = locks.acquire("it", {.ttl = 900ms}).token();
    for (std::size_t node = 0; node < 3; ++node)
        (void)group.node(node).execute({"FLUSHALL"});
    EXPECT_GT(locks.acquire("it", {.ttl = 900ms, .wait = patience}).token(), first);
}

// Two of three have forgotten: nobody knows the highest token, so only an operator can go on.
TEST_F(RedlockMembers, ALostMajorityStopsUntilAnOperatorBeginsAnew) {
    redlock_group group;
    const auto url = group.url(short_leases);
    redlock_group::begin_set(url);
    const auto first = client_at(url).acquire("it", {.ttl = 900ms}).token();
    (void)group.node(0).execute({"FLUSHALL"});
    (void)group.node(1).execute({"FLUSHALL"});
    // Once the client has asked all nodes.
    EXPECT_TRUE(eventually([&] {
        const auto failed = failure_at(url);
        return failed && failed->reason == errc::no_set &&
               failed->sentence.find("pawl redlock init") != std::string::npos;
    }));
    redlock_group::begin_set(url, true);
    EXPECT_GT(client_at(url).acquire("it", {.ttl = 900ms}).token(), first);
}

// A server restarts with an old snapshot: its counter is behind, and its membership of another run.
TEST_F(RedlockMembers, OldDataThatComeBackAreNoMemory) {
    redlock_group group;
    const auto url = group.url(short_leases);
    redlock_group::begin_set(url);
    client locks = client_at(url);
    (void)locks.acquire("it", {.ttl = 900ms}).release();
    for (std::size_t node = 0; node < 2; ++node)
        (void)group.node(node).execute({"SAVE"});
    pawl::fencing_token last;
    for (int i = 0; i < 20; ++i)
        last = locks.acquire("it", {.ttl = 900ms}).token();
    for (std::size_t node = 0; node < 2; ++node) {
        group.node(node).kill9();
        group.node(node).start(true);
        EXPECT_TRUE(eventually([&] {
            (void)locks.acquire("other", {.ttl = 900ms, .wait = patience}).release();
            return member_of(group, node, "incarnation") == "2" &&
                   group.node(node).execute({"EXISTS", "pawl:redlock:q"}).number() == 0;
        }));
    }
    // Only the two with the old counters answer.
    group.node(2).freeze();
    EXPECT_GT(locks.acquire("it", {.ttl = 900ms, .wait = patience}).token(), last);
}

// A set that works must not be lost because one of its nodes is away.
TEST_F(RedlockMembers, AnOperatorForgetsNothingUnlessAllNodesAnswer) {
    redlock_group group;
    const auto url = group.url();
    redlock_group::begin_set(url);
    client locks = client_at(url);
    const auto first = locks.acquire("it", {.ttl = 900ms}).token();
    group.node(1).terminate();
    try {
        redlock_group::begin_set(url, true);
        ADD_FAILURE() << "a set began without a node";
    } catch (const pawl::error& e) {
        EXPECT_EQ(e.reason(), errc::no_quorum) << e.what();
    }
    EXPECT_GT(client_at(url).acquire("it", {.ttl = 900ms, .wait = patience}).token(), first);
}

// The clocks are behind the tokens, as after they were set back; then only the nodes know.
TEST_F(RedlockMembers, ASetBegunAnewCountsOnFromWhatItsNodesKnew) {
    redlock_group group;
    const auto url = group.url();
    redlock_group::begin_set(url);
    constexpr std::uint64_t far_ahead = 2'000'000'000'000'000;
    for (std::size_t node = 0; node < 3; ++node)
        (void)group.node(node).execute(
            {"HSET", "pawl:redlock", "highest", std::to_string(far_ahead)});
    redlock_group::begin_set(url, true);
    redlock_group::begin_set(url, true);
    const auto next = client_at(url).acquire("it", {.ttl = 900ms}).token();
    EXPECT_GT(next.value(), far_ahead);
}

//   node 1's clock is an hour ahead | a set begins: its first counter is above that clock
//   for an hour, the other clocks are below all counters, and no floor for nodes that get older
//   data back: models/redlock/rolled_back.pml, fast_clock
TEST_F(RedlockMembers, ASetBeginsOnlyWhenItsClocksAgree) {
    support::moved_clock clock;
    redlock_group group;
    const auto url = group.url();
    for (const auto by : {3600s, -3600s}) {
        clock.step(by);
        group.node(1).kill9();
        {
            const support::moved_clock::for_new_programs with_clock(clock);
            group.node(1).start(false);
        }
        const auto is_named = [&](const std::string& sentence) {
            return sentence.find("the clock of " + group.name_of(1) + " is 3") !=
                       std::string::npos &&
                   sentence.find(by > 0s ? "ahead of" : "behind") != std::string::npos;
        };
        EXPECT_TRUE(eventually([&] {
            const auto failed = failure_at(url);
            return failed && failed->reason == errc::no_set && is_named(failed->sentence);
        })) << client_log.text();
        for (const bool forget : {false, true}) {
            try {
                redlock_group::begin_set(url, forget);
                ADD_FAILURE() << "a set began whose tokens are above its clocks";
            } catch (const pawl::error& e) {
                EXPECT_EQ(e.reason(), errc::no_set);
                EXPECT_TRUE(is_named(e.what())) << e.what();
            }
            for (std::size_t node = 0; node < 3; ++node)
                EXPECT_EQ(member_of(group, node, "highest"), "");
        }
        clock.step(-by);
    }
    redlock_group::begin_set(url);
    EXPECT_TRUE(client_at(url).try_acquire("it", {.ttl = 500ms}).owns_lock());
}

// The clocks were set back, or the nodes knew such tokens when the set began.
TEST_F(RedlockMembers, TokensAboveTheClocksAreShown) {
    redlock_group group;
    const auto url = group.url();
    redlock_group::begin_set(url);
    const auto has_finding = [&] {
        const auto report = client_at(url).examine();
        return std::ranges::any_of(report.findings,
                                   [](const auto& each) { return each.topic == "tokens"; });
    };
    EXPECT_FALSE(has_finding());
    for (const auto& each : redlock_group::examine(url))
        EXPECT_EQ(each.warning, "");
    (void)group.node(1).execute({"HSET", "pawl:redlock", "highest", "2000000000000000"});
    EXPECT_TRUE(has_finding());
    for (const auto& each : redlock_group::examine(url))
        EXPECT_EQ(each.warning.find("s ahead of the nodes' clocks") != std::string::npos,
                  each.name == group.name_of(1))
            << each.warning;
}

// A client that waits learns that its nodes vote now, long before their quarantine would end.
TEST_F(RedlockMembers, AWaiterSeesThatAnOperatorHasEndedTheWait) {
    redlock_group group;
    const auto url = group.url("?ttl_max=3600000");
    client locks = client_at(url);
    auto held = std::async(std::launch::async, [&] {
        return locks.acquire("it", {.ttl = 900ms, .wait = 4 * patience}).owns_lock();
    });
    ASSERT_TRUE(eventually([&] { return member_of(group, 0, "highest") != ""; }));
    ASSERT_TRUE(eventually([&] { return member_of(group, 2, "highest") != ""; }));
    redlock_group::begin_set(url, true);
    EXPECT_TRUE(held.get());
}

TEST_F(RedlockMembers, TheStatusTellsWhoVotes) {
    redlock_group group;
    const auto url = group.url(short_leases);
    for (const auto& each : redlock_group::examine(url))
        EXPECT_FALSE(each.votes) << each.name;
    EXPECT_EQ(member_of(group, 0, "run"), "") << "a look has changed something";
    redlock_group::begin_set(url);
    for (const auto& each : redlock_group::examine(url)) {
        EXPECT_TRUE(each.votes) << each.name << ": " << each.objection;
        EXPECT_EQ(each.incarnation, 1U);
    }
    (void)group.node(0).execute({"FLUSHALL"});
    std::size_t votes = 0;
    for (const auto& each : redlock_group::rejoin(url))
        votes += each.votes ? 1 : 0;
    EXPECT_EQ(votes, 2U) << "the third has joined again, and is in quarantine";
    EXPECT_NE(member_of(group, 0, "highest"), "");
    group.node(1).kill9();
    for (const auto& each : redlock_group::examine(url)) {
        if (each.name == group.name_of(1)) {
            EXPECT_EQ(each.objection, "Connection refused");
        }
    }
}

}  // namespace
