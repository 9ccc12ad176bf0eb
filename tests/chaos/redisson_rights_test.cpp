// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The ACL lines of docs/backends/redisson.md, word for word, on a server.
#include "rights.hpp"

#include <memory>

namespace {

using namespace chaos;
using pawl::lock_mode;

class JavaRights : public testing::Test, protected least_rights {
protected:
    explicit JavaRights(support::redis_options server_options = {.config = {"appendonly yes"}})
        : least_rights("backends/redisson.md", std::move(server_options)) {}

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
        const pawl::lock_options fair{.ttl = long_ttl, .wait = patience, .fair = true};
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
    void exercise_semaphore(const std::function<bool()>& waiting) {
        constexpr pawl::lock_options two_of_three{
            .mode = lock_mode::permits, .permits = 2, .total_permits = 3};
        for (const auto& options : {layout, counting}) {
            client first = user_client(options), second = user_client(options);
            exercise_handoff(first, second, two_of_three, waiting);
            exercise_timeout(first, second, two_of_three);
        }
        user_client(layout).resize("it", 5);
        (void)server.execute({"DEL", "it"});
    }
    void exercise_each_inspection() {
        client first = user_client(layout), second = user_client(readwrite),
               third = user_client(counting);
        exercise_inspection(first);
        const pawl::lock_options some{
            .ttl = long_ttl, .mode = lock_mode::permits, .total_permits = 3};
        auto lock = first.acquire("a/lock", {.ttl = long_ttl});
        auto reader = second.acquire("a/reader", {.ttl = long_ttl, .mode = lock_mode::shared});
        auto lent = first.acquire("a/lent", some);
        auto free = third.acquire("a/free", some);
        EXPECT_EQ(third.list("a/").size(), 4U);
        for (const std::string name : {"a/lock", "a/reader", "a/lent"})
            EXPECT_TRUE(first.force_release(name)) << name;
    }

private:
    std::optional<client> observer_;
};

TEST_F(JavaRights, OfAllLinesLetDoEverything) {
    allow_all(sentence_rights("+decrby"));
    client first = user_client(layout), second = user_client(layout);
    exercise_handoff(first, second, {}, waiter_condition(first));
    exercise_timeout(first, second, {});
    exercise_handoff(first, second, {.fair = true}, waiter_condition(first));
    exercise_timeout(first, second, {.fair = true});
    exercise_fair_lock(first, second);
    exercise_read_lock(waiter_condition(first));
    exercise_semaphore(waiter_condition(first));
    exercise_latch(first, second, first);
    exercise_election(first, second);
    exercise_each_inspection();
    expect_nothing_refused();
    EXPECT_EQ(unused_rights(), std::vector<std::string>{});
}

TEST_F(JavaRights, OfTheFirstLinesAreEnoughForLocks) {
    allow({1, 2, 3});
    client first = user_client(layout), second = user_client(layout);
    exercise_handoff(first, second, {}, has_waiters());
    exercise_handoff(first, second, {.fenced = false}, has_waiters());
    exercise_timeout(first, second, {});
    expect_nothing_refused();
}

TEST_F(JavaRights, OfTheFirstLinesAreEnoughForLatchesWithWhatTheSentenceAdds) {
    allow({1, 2, 3}, sentence_rights("+decrby"));
    client first = user_client(layout), second = user_client(layout),
           observer = direct_client(layout);
    exercise_latch(first, second, observer);
    expect_nothing_refused();
}

TEST_F(JavaRights, OfEachObjectsLineAreEnoughForIt) {
    allow({1, 2, 3, 4});
    {
        client first = user_client(layout), second = user_client(layout);
        exercise_handoff(first, second, {.fair = true}, has_waiters());
        exercise_timeout(first, second, {.fair = true});
        exercise_fair_lock(first, second);
    }
    expect_nothing_refused();
    allow({1, 2, 3, 5});
    exercise_read_lock(has_waiters());
    expect_nothing_refused();
    allow({1, 2, 3, 6});
    exercise_semaphore(has_waiters());
    expect_nothing_refused();
    allow({1, 2, 3, 7});
    {
        client locks = user_client(layout);
        exercise_inspection(locks);
    }
    expect_nothing_refused();
}

class ClusterRights : public JavaRights {
protected:
    ClusterRights() : JavaRights({.config = {"cluster-enabled yes"}}) { server.serve_all_slots(); }
};

TEST_F(ClusterRights, AreThoseOfTheSentenceBesides) {
    allow({1, 2, 3, 7}, sentence_rights("+ssubscribe"));
    client first = user_client(layout), second = user_client(layout);
    exercise_handoff(first, second, {}, waiter_condition(first));
    exercise_timeout(first, second, {});
    expect_nothing_refused();
}

}  // namespace
