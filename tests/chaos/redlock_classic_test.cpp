// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Classic Redlock: redlock://…?fenced=no. tests/interop has the libraries that share it.
#include "redlock_fixture.hpp"

#include <pawl/redis_rights.hpp>
#include <pawl/redlock.hpp>

#include <gmock/gmock.h>

namespace {

using namespace chaos;
using testing::HasSubstr;

const std::string classic = "?fenced=no";
const std::string classic_redisson = "?fenced=no&layout=redisson";

class RedlockClassic : public redlock_fixture {
protected:
    // A node that does not know the script yet may miss a lock that the others have granted.
    static held_lock acquire_at_all(client& locks, redlock_group& group, pawl::duration ttl) {
        for (int i = 0; i < 100; ++i) {
            auto held = locks.acquire("it", {.ttl = ttl, .wait = patience});
            if (eventually([&] { return group.count_of("it") == 3; }, 500ms)) return held;
            (void)held.release();
        }
        throw std::runtime_error("a node never has the lock");
    }
};

TEST_F(RedlockClassic, GrantsAtOnceAndKeepsOnlyTheLock) {
    redlock_group group;
    client locks = client_at(group.url(classic));
    auto held = acquire_at_all(locks, group, long_ttl);
    EXPECT_FALSE(held.token());
    EXPECT_EQ(group.node(0).execute({"DBSIZE"}).number(), 1);
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_TRUE(eventually([&] { return group.count_of("it") == 0; }));
}

// A node without the hold may have had another holder since.
TEST_F(RedlockClassic, ARenewalRestoresNothing) {
    redlock_group group;
    client locks = client_at(group.url(classic));
    auto held = acquire_at_all(locks, group, 2s);
    (void)group.node(0).execute({"DEL", "pawl:{it}"});
    const auto before = locks.statistics().renewals;
    ASSERT_TRUE(eventually([&] { return locks.statistics().renewals >= before + 6; }, patience));
    EXPECT_EQ(group.count_of("it"), 2U);
    EXPECT_EQ(held.state(), lock_state::held) << "a majority has it";
    (void)group.node(1).execute({"DEL", "pawl:{it}"});
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }, patience));
}

TEST_F(RedlockClassic, AMinorityIsGivenBackAndForeignHoldersAreWaitedFor) {
    redlock_group group;
    for (std::size_t i = 0; i < 2; ++i)
        (void)group.node(i).execute({"SET", "pawl:{it}", "somebody", "PX", "1500"});
    client locks = client_at(group.url(classic));
    EXPECT_FALSE(locks.try_acquire("it", {.ttl = long_ttl}).owns_lock());
    EXPECT_TRUE(eventually([&] { return group.count_of("it") <= 2; })) << "not given back";
    EXPECT_EQ(locks.inspect("it").held_by->owner, "somebody");
    auto held = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    EXPECT_EQ(held.release(), release_result::released);
}

TEST_F(RedlockClassic, AForcedReleaseIsTold) {
    redlock_group group;
    client locks = client_at(group.url(classic)), operators = client_at(group.url(classic));
    auto held = locks.acquire("it", {.ttl = long_ttl});
    EXPECT_TRUE(operators.force_release("it"));
    ASSERT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_EQ(held.why_lost(), pawl::loss_reason::forced);
    EXPECT_FALSE(operators.force_release("it"));
}

// What the page of guarantees says: such nodes vote twice. With fencing they wait.
TEST_F(RedlockClassic, NodesThatRestartEmptyGrantTheLockAgain) {
    redlock_group group;
    client locks = client_at(group.url(classic)), other = client_at(group.url(classic));
    auto held = locks.acquire("it", {.ttl = long_ttl});
    EXPECT_FALSE(other.try_acquire("it", {.ttl = long_ttl}).owns_lock());
    for (std::size_t i = 0; i < 2; ++i) {
        group.node(i).kill9();
        group.node(i).start(false);
    }
    EXPECT_TRUE(other.acquire("it", {.ttl = long_ttl, .wait = patience}).owns_lock());
}

// With the least rights for that layout.
TEST_F(RedlockClassic, SharesRedissonsHashes) {
    const auto rules = pawl::redis::least_rights("redlock://a,b,c" + classic_redisson, {});
    redlock_group group(3, {.config = {rules.at(0).line("locks", "PASSWORD")}});
    auto url = group.url(classic_redisson);
    url.insert(url.find("//") + 2, "locks:PASSWORD@");
    client locks = client_at(url), other = client_at(url);
    auto held = locks.acquire("it", {.ttl = 2s});
    ASSERT_TRUE(eventually([&] {
        int nodes = 0;
        for (std::size_t i = 0; i < 3; ++i)
            if (group.node(i).execute({"HLEN", "it"}).number() == 1) ++nodes;
        return nodes >= 2;
    }));
    EXPECT_FALSE(other.try_acquire("it", {.ttl = 2s}).owns_lock());
    EXPECT_EQ(other.inspect("it").held_by->pid, locks.inspect("it").held_by->pid);
    EXPECT_EQ(other.list().size(), 1U);
    ASSERT_TRUE(eventually([&] { return locks.statistics().renewals >= 3; }));
    std::jthread releasing([&] {
        (void)eventually([&] { return locks.inspect("it").waiters == 1; });
        EXPECT_EQ(held.release(), release_result::released);
    });
    auto next = other.acquire("it", {.ttl = long_ttl, .wait = patience});
    EXPECT_TRUE(locks.force_release("it"));
    EXPECT_TRUE(eventually([&] { return next.lost().stop_requested(); }));
    (void)locks.examine();
    for (std::size_t i = 0; i < 3; ++i) {
        // As RedissonRedLock: each of its nodes has another id.
        const auto owner = std::to_string(i) + "1a66e2a-0f3b-4f4e-9d0a-1c3a9a3a1c3a:17";
        (void)group.node(i).execute({"HSET", "it", owner, "1"});
    }
    EXPECT_FALSE(other.try_acquire("it", {.ttl = 1s}).owns_lock());
    EXPECT_TRUE(other.inspect("it").held_by.has_value());
    for (std::size_t i = 0; i < 3; ++i)
        EXPECT_TRUE(group.node(i).execute({"ACL", "LOG"}).items.empty());
}

TEST_F(RedlockClassic, OptionsThatDoNotFitAreRefused) {
    const std::pair<std::string, std::string> wrong[] = {
        {"?fenced=maybe", "fenced"},
        {"?fenced=no&ttl_max=1000", "leave out ttl_max"},
        {"?fenced=no&scripts=no", "needs scripts"},
        {classic_redisson + "&object=readwrite", "leave out object"},
    };
    for (const auto& [options, part] : wrong) {
        const auto failed = failure_at("redlock://a,b,c" + options);
        ASSERT_TRUE(failed.has_value()) << options;
        EXPECT_THAT(failed->sentence, HasSubstr(part)) << options;
    }
    EXPECT_THROW(redlock_group::begin_set("redlock://a,b,c" + classic), pawl::error);
    EXPECT_THROW((void)redlock_group::examine("redlock://a,b,c" + classic), pawl::error);
    EXPECT_EQ(pawl::redlock::at("redlock://a,b,c" + classic_redisson).describe(),
              "redlock://a:6379,b:6379,c:6379/0?fenced=no&layout=redisson");
}

}  // namespace
