// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The rights of Redisson's layout: enough for each feature and object, and no more.
#include "rights.hpp"

#include <pawl/blocking/latch.hpp>

#include <algorithm>

namespace {

using namespace chaos;
using pawl::lock_mode;

class JavaRights : public testing::Test, protected least_rights {
protected:
    explicit JavaRights(support::redis_options server_options = {.config = {"appendonly yes"}})
        : least_rights(std::move(server_options)) {}

    const std::string layout = "?layout=redisson";
    const std::string readwrite = layout + "&object=readwrite";
    const std::string counting = layout + "&object=semaphore";

    // A user that may inspect sees the waiters.
    std::function<bool()> has_waiters(std::uint64_t count = 1) {
        if (!observer_) observer_.emplace(direct_client(layout));
        return waiter_condition(*observer_, count);
    }
    // Two clients wait, one behind the other.
    void exercise_fair_lock(client& first, client& second) {
        auto lock = first.acquire("it", fair);
        const auto next = [&](client& waiter) { (void)waiter.acquire("it", fair).release(); };
        background_task first_waiter([&] { next(second); });
        EXPECT_TRUE(eventually(has_waiters()));
        background_task second_waiter([&] { next(first); });
        EXPECT_TRUE(eventually(has_waiters(2)));
        EXPECT_EQ(lock.release(), release_result::released);
    }
    void exercise_read_lock(const std::function<bool()>& waiting) {
        client first = user_client(readwrite), second = user_client(readwrite);
        exercise_handoff(first, second, {}, waiting);
        exercise_timeout(first, second, {});
        auto writer = first.acquire("it", {.ttl = long_ttl});
        writer.downgrade();
        auto reader = second.acquire("it", {.ttl = long_ttl, .mode = lock_mode::shared});
        writer.renew();
        reader.renew();
        EXPECT_EQ(writer.release(), release_result::released);
        EXPECT_EQ(reader.release(), release_result::released);
    }
    void exercise_permits(client& first, client& second, const std::function<bool()>& waiting) {
        constexpr pawl::lock_options two_of_three{
            .mode = lock_mode::permits, .permits = 2, .total_permits = 3};
        exercise_handoff(first, second, two_of_three, waiting);
        exercise_timeout(first, second, two_of_three);
        (void)server.execute({"DEL", "it"});
    }
    void exercise_lost_lock(client& locks) {
        auto lock = locks.acquire("lost", {.ttl = long_ttl});
        (void)server.execute({"DEL", "lost"});
        EXPECT_NE(lock.release(), release_result::released);
    }
    // Of a random field of the hash, so sometimes at the first try, and sometimes later.
    void exercise_other_object(client& locks) {
        client others = direct_client(readwrite);
        auto lock = others.acquire("other", {.ttl = long_ttl});
        EXPECT_TRUE(eventually([&] {
            (void)failure_of([&] { (void)locks.try_acquire("other", {.ttl = 2s}); });
            return server.execute({"INFO", "commandstats"}).text.find("cmdstat_hkeys:") !=
                   std::string::npos;
        }));
    }
    // The user inspects the locks of all objects, which other users have acquired.
    void exercise_each_inspection(const std::string& options) {
        client first = direct_client(layout), second = direct_client(readwrite),
               third = direct_client(counting), user = user_client(options);
        exercise_inspection(user);
        const pawl::lock_options some{
            .ttl = long_ttl, .mode = lock_mode::permits, .total_permits = 3};
        auto lock = first.acquire("a/lock", {.ttl = long_ttl});
        auto reader = second.acquire("a/reader", {.ttl = long_ttl, .mode = lock_mode::shared});
        auto lent = first.acquire("a/lent", some);
        auto free = third.acquire("a/free", some);
        EXPECT_GE(user.list("a/").size(), 3U);
        if (options != counting) user.resize("a/lent", 5);
        // A waiter for the FairLock that is gone.
        (void)server.execute({"RPUSH", "redisson_lock_queue:{a/lock}", "gone:1"});
        for (const std::string name : {"a/lock", "a/reader", "a/lent"})
            EXPECT_TRUE(user.force_release(name)) << name;
        (void)server.execute({"DEL", "a/free"});
    }

private:
    std::optional<client> observer_;
};

constexpr pawl::redis::used_features only_exclusive{
    .modes = false, .latches = false, .admin = false};
constexpr pawl::redis::used_features only_modes{.latches = false, .admin = false};

TEST_F(JavaRights, ForExclusiveLocksAreEnoughForThem) {
    allow(only_exclusive, layout);
    client first = user_client(layout), second = user_client(layout);
    exercise_handoff(first, second, {}, has_waiters());
    exercise_handoff(first, second, {.fenced = false}, has_waiters());
    exercise_timeout(first, second, {});
    exercise_lost_lock(first);
    exercise_other_object(first);
    expect_nothing_refused();
    EXPECT_EQ(unused_commands(), none);
}

TEST_F(JavaRights, ForLatchesAreEnoughForThem) {
    allow({.modes = false, .admin = false}, layout);
    client first = user_client(layout), second = user_client(layout),
           observer = direct_client(layout);
    exercise_handoff(first, second, {}, has_waiters());
    exercise_latch(first, second, observer);
    (void)pawl::blocking::latch(first, "done").inspect();
    exercise_other_object(first);
    expect_nothing_refused();
    EXPECT_EQ(unused_commands(), none);
}

TEST_F(JavaRights, ForFairLocksAndPermitsAreEnoughForThem) {
    allow(only_modes, layout);
    {
        client first = user_client(layout), second = user_client(layout);
        exercise_handoff(first, second, {.fair = true}, has_waiters());
        exercise_timeout(first, second, {.fair = true});
        exercise_fair_lock(first, second);
        exercise_election(first, second);
        exercise_permits(first, second, has_waiters());
        exercise_other_object(first);
    }
    expect_nothing_refused();
    EXPECT_EQ(unused_commands(), none);
}

TEST_F(JavaRights, ForSemaphoresAreEnoughForThem) {
    allow(only_modes, counting);
    {
        client first = user_client(counting), second = user_client(counting);
        exercise_permits(first, second, has_waiters());
    }
    expect_nothing_refused();
}

TEST_F(JavaRights, ForReadWriteLocksAreEnoughForThem) {
    allow(only_exclusive, readwrite);
    exercise_read_lock(has_waiters());
    client writer = user_client(readwrite);
    exercise_lost_lock(writer);
    expect_nothing_refused();
    EXPECT_EQ(unused_commands(), none);
    allow(only_modes, readwrite);
    exercise_read_lock(has_waiters());
    expect_nothing_refused();
}

// Together these use each command, so none is superfluous.
TEST_F(JavaRights, ForEverythingAreAllUsed) {
    for (const auto& options : {layout, readwrite}) {
        allow({}, options);
        {
            client first = user_client(options), second = user_client(options);
            const auto waiting = waiter_condition(first);
            if (options == layout) {
                exercise_handoff(first, second, {}, waiting);
                exercise_timeout(first, second, {.fair = true});
                exercise_fair_lock(first, second);
                exercise_other_object(first);
            } else {
                exercise_read_lock(waiting);
            }
            exercise_lost_lock(first);
            exercise_permits(first, second, waiting);
            exercise_latch(first, second, first);
            exercise_each_inspection(options);
        }
        expect_nothing_refused();
        EXPECT_EQ(unused_commands(), none) << options;
        (void)server.execute({"FLUSHALL"});
    }
}

TEST_F(JavaRights, ForOperatorsAreEnoughForThem) {
    for (const auto& options : {layout, readwrite, counting}) {
        allow({.modes = false, .latches = false}, options);
        exercise_each_inspection(options);
        expect_nothing_refused();
        (void)server.execute({"FLUSHALL"});
    }
}

TEST_F(JavaRights, AreNarrowWithATemplate) {
    const auto options = layout + "&key=app:%7Bname%7D";
    allow({}, options);
    {
        client first = user_client(options), second = user_client(options);
        exercise_handoff(first, second, {}, waiter_condition(first));
        exercise_handoff(first, second, {.fair = true}, waiter_condition(first));
        exercise_permits(first, second, waiter_condition(first));
        exercise_latch(first, second, first);
    }
    expect_nothing_refused();
    client others = user_client(layout);
    EXPECT_EQ(failure_of([&] { (void)others.try_acquire("it"); })->reason, errc::refused);
    for (const auto& each : allowed("~&")) {
        if (each.starts_with("&redisson_rwlock")) continue;  // of the operators
        allow_without(each);
        client locks = user_client(options);
        {
            auto held = direct_client(options).acquire("held", {.ttl = long_ttl});
            (void)failure_of([&] { (void)locks.acquire("held", {.ttl = 2s, .wait = 50ms}); });
            (void)held.release();
        }
        (void)failure_of([&] { (void)locks.acquire("fair", {.ttl = 2s, .fair = true}).release(); });
        (void)failure_of([&] {
            (void)locks.acquire("lent", {.ttl = 2s, .mode = lock_mode::permits, .total_permits = 2})
                .release();
        });
        pawl::blocking::latch done(locks, "done");
        (void)failure_of([&] {
            (void)done.try_set(1);
            (void)done.wait_for(10ms);
        });
        EXPECT_TRUE(was_refused()) << each;
    }
}

class ClusterRights : public JavaRights {
protected:
    ClusterRights() : JavaRights({.config = {"cluster-enabled yes"}}) { server.serve_all_slots(); }
};

TEST_F(ClusterRights, AreEnoughOnANode) {
    allow({.cluster_node = true}, layout);
    client first = user_client(layout), second = user_client(layout);
    exercise_handoff(first, second, {}, waiter_condition(first));
    exercise_timeout(first, second, {});
    exercise_latch(first, second, first);
    exercise_inspection(first);
    expect_nothing_refused();
    const auto unused = unused_commands();
    for (const std::string each :
         {"+ssubscribe", "+sunsubscribe", "+spublish", "+pubsub|shardnumsub", "+cluster|info"})
        EXPECT_EQ(std::ranges::count(unused, each), 0) << each;
}

}  // namespace
