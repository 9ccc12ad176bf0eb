// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The rights of Pawl's own layout: enough for each feature, and no more.
#include "rights.hpp"

#include <pawl/blocking/latch.hpp>

#include <algorithm>

namespace {

using namespace chaos;
using pawl::lock_mode;

class NativeRights : public testing::Test, protected least_rights {
protected:
    // `pawl doctor` needs more permissions on a server that keeps a log.
    NativeRights() : least_rights({.config = {"appendonly yes"}}) {}

    void exercise_exclusive(client& first, client& second, const std::function<bool()>& waits) {
        exercise_handoff(first, second, {}, waits);
        exercise_handoff(first, second, {.fenced = false}, waits);
        exercise_timeout(first, second, {});
        exercise_local_waiter(first, second, waits);
        auto batch = first.acquire_all({"a", "b"}, {.ttl = long_ttl});
        auto named = first.acquire_as("c", "by-name", {.ttl = long_ttl});
        EXPECT_TRUE(second.adopt("c", "by-name", {.ttl = long_ttl}).owns_lock());
    }
    bool was_used(const std::string& command) {
        const auto stats = server.execute({"INFO", "commandstats"}).text;
        return stats.find("cmdstat_" + command + ":") != std::string::npos;
    }
    // A release names a waiter of the same client, although another client waits, too. Whether the
    // local waiter waits already cannot be seen, so this is repeated.
    void exercise_local_waiter(client& first, client& second,
                               const std::function<bool()>& second_waits) {
        const auto acquire_next = [](client& waiter) {
            auto next = waiter.acquire("it", {.ttl = long_ttl, .wait = patience});
            EXPECT_EQ(next.release(), release_result::released);
        };
        EXPECT_TRUE(eventually([&] {
            auto lock = first.acquire("it", {.ttl = long_ttl, .wait = patience});
            background_task other_waiter([&] { acquire_next(second); });
            EXPECT_TRUE(eventually(second_waits));
            background_task local_waiter([&] { acquire_next(first); });
            std::this_thread::yield();
            EXPECT_EQ(lock.release(), release_result::released);
            return was_used("zscore") && was_used("zrange");
        }));
    }
    // For a user that may not inspect.
    std::function<bool()> is_queued() {
        return [this] { return waiters("it") == 1; };
    }
    void exercise_shared(client& first, client& second) {
        exercise_handoff(first, second, {.fair = true}, waiter_condition(first));
        exercise_handoff(first, second,
                         {.mode = lock_mode::permits, .permits = 2, .total_permits = 3},
                         waiter_condition(first));
        exercise_timeout(first, second, {.mode = lock_mode::permits, .permits = 2});
        auto writer = first.acquire("it", {.ttl = long_ttl, .wait = patience});
        held_lock reader;
        background_task waiting([&] {
            reader = second.acquire("it",
                                    {.ttl = long_ttl, .wait = patience, .mode = lock_mode::shared});
        });
        EXPECT_TRUE(eventually(waiter_condition(first)));
        writer.downgrade();
        waiting.join();
        writer.renew();
        EXPECT_TRUE(first.force_release("it"));
        first.resize("it", 5);
        exercise_election(first, second);
    }
    void exercise_foreign_data(client& locks) {
        (void)server.execute({"HSET", "pawl:{other}", "a", "b"});
        const auto failed = failure_of([&] { (void)locks.try_acquire("other"); });
        ASSERT_TRUE(failed.has_value());
        EXPECT_NE(failed->sentence.find("holds a hash"), std::string::npos) << failed;
    }
    void exercise_barrier(client& first, client& second) {
        pawl::blocking::barrier own_barrier(first, "turn", 2), other(second, "turn", 2);
        background_task waiting([&] { other.arrive_and_wait(); });
        own_barrier.arrive_and_wait();
    }
};

TEST_F(NativeRights, ForEverythingLetDoEverything) {
    allow({});
    client first = user_client(), second = user_client();
    exercise_shared(first, second);
    exercise_exclusive(first, second, waiter_condition(first));
    exercise_latch(first, second, first);
    exercise_barrier(first, second);
    exercise_inspection(first);
    exercise_foreign_data(first);
    expect_nothing_refused();
    EXPECT_EQ(unused_commands(), none);
}

TEST_F(NativeRights, ForExclusiveLocksAreEnoughForThem) {
    allow({.modes = false, .latches = false, .admin = false});
    client first = user_client(), second = user_client();
    exercise_exclusive(first, second, is_queued());
    expect_nothing_refused();
    EXPECT_EQ(unused_commands(), none);
}

// The scripts may write first what these rights allow.
TEST_F(NativeRights, ForExclusiveLocksLeaveNothingOfARefusedMode) {
    allow({.modes = false, .latches = false, .admin = false});
    client locks = user_client();
    const auto expect_refusal = [](const std::optional<failure>& failed, const char* part) {
        ASSERT_TRUE(failed.has_value());
        EXPECT_EQ(failed->reason, errc::refused) << failed;
        EXPECT_NE(failed->sentence.find(part), std::string::npos) << failed;
    };
    const std::vector<pawl::try_options> modes{
        {.mode = lock_mode::shared},
        {.mode = lock_mode::permits, .permits = 1, .total_permits = 2}};
    for (const auto& options : modes) {
        expect_refusal(failure_of([&] { (void)locks.try_acquire("it", options); }),
                       "`pawl acl --for modes`");
        EXPECT_TRUE(becomes_clean());
    }
    pawl::blocking::latch done(locks, "it");
    expect_refusal(failure_of([&] { (void)done.try_set(1); }), "`pawl acl --for FEATURES`");
    EXPECT_TRUE(becomes_clean());
    auto lock = locks.acquire("it", {.ttl = long_ttl});
    expect_refusal(failure_of([&] { lock.downgrade(); }), "`pawl acl --for modes`");
    EXPECT_EQ(server.execute({"GET", "pawl:{it}"}).text.find("pawl:shared"), std::string::npos);
}

// Whoever releases serves all waiters. Without the rights to serve a reader, the lock is free.
TEST_F(NativeRights, ForExclusiveLocksLeaveAReaderToServeItself) {
    allow({.modes = false, .latches = false, .admin = false});
    client holds = user_client(), reads = direct_client();
    auto lock = holds.acquire("it", {.ttl = long_ttl});
    held_lock reader;
    background_task waiter([&] {
        reader = reads.acquire("it", {.ttl = 2s, .wait = patience, .mode = lock_mode::shared});
    });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    EXPECT_EQ(lock.release(), release_result::released);
    waiter.join();
    EXPECT_TRUE(reader.owns_lock());
    EXPECT_GT(reader.token(), lock.token());
}

// The server has no replica, so the command itself is all that can be refused.
TEST_F(NativeRights, ForReplicasAreEnoughForADurableAcquire) {
    const pawl::lock_options durable{
        .ttl = 2s, .wait = 300ms, .durable = pawl::durability::replicas(1)};
    for (const bool is_included : {false, true}) {
        allow({.modes = false, .latches = false, .admin = false, .replicas = is_included});
        client locks = user_client();
        const auto failed = failure_of([&] { (void)locks.acquire("it", durable); });
        ASSERT_TRUE(failed.has_value());
        EXPECT_EQ(failed->reason, is_included ? errc::not_durable : errc::refused)
            << failed->sentence;
    }
    expect_nothing_refused();
}

TEST_F(NativeRights, ForTheOtherModesAreEnoughForThem) {
    allow({.latches = false, .admin = false});
    client first = user_client(), second = user_client();
    exercise_exclusive(first, second, is_queued());
    exercise_shared(first, second);
    expect_nothing_refused();
    EXPECT_EQ(unused_commands(), none);
}

TEST_F(NativeRights, ForLatchesAreEnoughForThem) {
    allow({.modes = false, .admin = false});
    client first = user_client(), second = user_client();
    exercise_exclusive(first, second, is_queued());
    exercise_latch(first, second, first);
    exercise_barrier(first, second);
    expect_nothing_refused();
    EXPECT_EQ(unused_commands(), none);
}

TEST_F(NativeRights, ForOperatorsAreEnoughForThem) {
    allow({.modes = false, .latches = false});
    client first = user_client(), second = user_client();
    exercise_exclusive(first, second, is_queued());
    exercise_inspection(first);
    exercise_foreign_data(first);
    // Of another user.
    client others = direct_client();
    auto lent =
        others.acquire("lent", {.ttl = long_ttl, .mode = lock_mode::permits, .total_permits = 2});
    EXPECT_TRUE(first.inspect("lent").held_by.has_value());
    expect_nothing_refused();
    EXPECT_EQ(unused_commands(), none);
}

// The server notifies of releases by another library.
TEST_F(NativeRights, ForSharedKeysAreThoseOfTheTemplate) {
    const std::string options = "?key=app:%7Bname%7D";
    allow({}, options);
    client first = user_client(options), second = user_client(options);
    (void)server.execute({"SET", "app:it", "theirs", "PX", "60000"});
    held_lock acquired;
    background_task waiting(
        [&] { acquired = first.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    EXPECT_TRUE(eventually(waiter_condition(second)));
    (void)server.execute({"DEL", "app:it"});
    waiting.join();
    EXPECT_TRUE(acquired.owns_lock());
    EXPECT_EQ(acquired.release(), release_result::released);
    exercise_latch(first, second, first);
    exercise_handoff(first, second, {}, waiter_condition(first));
    expect_nothing_refused();
    const auto unused = unused_commands();
    EXPECT_EQ(std::ranges::count(unused, "+client|caching"), 0);
}

// Each pattern is of use: without it, one of these is refused.
class NativePatterns : public NativeRights, public testing::WithParamInterface<std::string> {};

TEST_P(NativePatterns, AreAllNeeded) {
    allow({}, GetParam());
    const auto patterns = allowed("~&");
    ASSERT_FALSE(patterns.empty());
    for (const auto& each : patterns) {
        allow_without(each);
        client locks = user_client(GetParam());
        for (const std::string name : {"it", "{a}b}c", "a}b"}) {
            (void)failure_of([&] { (void)locks.try_acquire(name, {.ttl = 2s}); });
            pawl::blocking::latch done(locks, name + "-latch");
            (void)failure_of([&] {
                (void)done.try_set(1);
                (void)done.wait_for(10ms);
            });
        }
        EXPECT_TRUE(was_refused()) << each;
    }
}

TEST_P(NativePatterns, AreEnough) {
    allow({}, GetParam());
    client first = user_client(GetParam()), second = user_client(GetParam());
    for (const std::string name : {"it", "{a}b}c", "a}b"}) {
        auto lock = first.acquire(name, {.ttl = long_ttl});
        const auto failed = failure_of(
            [&] { (void)second.acquire(name, {.ttl = long_ttl, .wait = 100ms, .fair = true}); });
        ASSERT_TRUE(failed.has_value());
        EXPECT_EQ(failed->reason, errc::timed_out) << failed;
        pawl::blocking::latch done(first, name + "-latch");
        EXPECT_TRUE(done.try_set(1));
        EXPECT_FALSE(done.wait_for(10ms));
    }
    expect_nothing_refused();
}

INSTANTIATE_TEST_SUITE_P(Options, NativePatterns,
                         testing::Values("", "/3?namespace=a%2Ab", "?key=%7Bname%7D",
                                         "?key=app:%7Bname%7D:%22lock", "/2?key=q%7Bname%7D"));

}  // namespace
