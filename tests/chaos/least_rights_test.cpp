// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The ACL lines of docs/backends/redis.md, word for word, on a server.
#include "rights.hpp"

#include <pawl/blocking/latch.hpp>

namespace {

using namespace chaos;
using pawl::lock_mode;

class NativeRights : public testing::Test, protected least_rights {
protected:
    // `pawl doctor` needs more permissions on a server that keeps a log.
    NativeRights() : least_rights("backends/redis.md", {.config = {"appendonly yes"}}) {}

    void exercise_exclusive(client& first, client& second, const std::function<bool()>& waits) {
        exercise_handoff(first, second, {}, waits);
        exercise_handoff(first, second, {.fenced = false}, waits);
        exercise_timeout(first, second, {});
        auto batch = first.acquire_all({"a", "b"}, {.ttl = long_ttl});
        auto named = first.acquire_as("c", "by-name", {.ttl = long_ttl});
        EXPECT_TRUE(second.adopt("c", "by-name", {.ttl = long_ttl}).owns_lock());
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
    // The server notifies of releases by another library.
    void exercise_shared_keys() {
        client first = user_client("?key=%7Bname%7D");
        (void)server.execute({"SET", "it", "theirs", "PX", "60000"});
        held_lock acquired;
        background_task waiting(
            [&] { acquired = first.acquire("it", {.ttl = long_ttl, .wait = patience}); });
        EXPECT_TRUE(eventually(waiter_condition(first)));
        (void)server.execute({"DEL", "it"});
        waiting.join();
        EXPECT_TRUE(acquired.owns_lock());
    }
    void exercise_barrier(client& first, client& second) {
        pawl::blocking::barrier own_barrier(first, "turn", 2), other(second, "turn", 2);
        background_task waiting([&] { other.arrive_and_wait(); });
        own_barrier.arrive_and_wait();
    }
};

TEST_F(NativeRights, OfAllLinesLetDoEverything) {
    allow_all({"~it", "~pawl:x:*"});
    client first = user_client(), second = user_client();
    exercise_shared(first, second);
    exercise_exclusive(first, second, waiter_condition(first));
    exercise_latch(first, second, first);
    exercise_barrier(first, second);
    exercise_inspection(first);
    (void)server.execute({"HSET", "pawl:{other}", "a", "b"});
    const auto failed = failure_of([&] { (void)first.try_acquire("other"); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_NE(failed->sentence.find("holds a hash"), std::string::npos) << failed;
    exercise_shared_keys();
    expect_nothing_refused();
    EXPECT_EQ(unused_rights(), std::vector<std::string>{});
}

TEST_F(NativeRights, OfTheFirstLinesAreEnoughForExclusiveLocks) {
    allow({1, 2, 3}, {"resetchannels", "&pawl:c:*"});
    client first = user_client(), second = user_client();
    exercise_exclusive(first, second, is_queued());
    expect_nothing_refused();
}

// The server has no replica, so the command itself is all that can be refused.
TEST_F(NativeRights, OfADurableAcquireAreOneMore) {
    const pawl::lock_options durable{
        .ttl = 2s, .wait = 300ms, .durable = pawl::durability::replicas(1)};
    allow({1, 2, 3}, {"resetchannels", "&pawl:c:*"});
    client locks = user_client();
    const auto failed = failure_of([&] { (void)locks.acquire("it", durable); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::refused) << failed->sentence;
    allow({1, 2, 3}, {"resetchannels", "&pawl:c:*", sentence_rights("+wait").at(0)});
    client allowed = user_client();
    const auto unanswered = failure_of([&] { (void)allowed.acquire("it", durable); });
    ASSERT_TRUE(unanswered.has_value());
    EXPECT_EQ(unanswered->reason, errc::not_durable) << unanswered->sentence;
    expect_nothing_refused();
}

TEST_F(NativeRights, OfTheNextLineAreEnoughForTheOtherModes) {
    allow({1, 2, 3, 4}, {"resetchannels", "&pawl:c:*"});
    client first = user_client(), second = user_client();
    exercise_exclusive(first, second, is_queued());
    exercise_shared(first, second);
    expect_nothing_refused();
}

TEST_F(NativeRights, OfTheNextLineAreEnoughForLatches) {
    allow({1, 2, 3, 4, 5});
    client first = user_client(), second = user_client();
    exercise_latch(first, second, first);
    exercise_barrier(first, second);
    expect_nothing_refused();
}

}  // namespace
