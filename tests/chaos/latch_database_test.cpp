// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Latches of one name in two databases of one server, which shares its channels among all
// databases.
#include "redis_fixture.hpp"

#include <pawl/blocking/latch.hpp>

#include <atomic>

namespace {

using namespace chaos;
using pawl::blocking::barrier;
using pawl::blocking::latch;

class LatchDatabases : public testing::Test, protected redis_fixture {
protected:
    std::int64_t listeners(const std::string& channel) {
        return server.execute({"PUBSUB", "NUMSUB", channel}).items.at(1).number();
    }
};

//   W: waits in 1, whose latch is older | C: 1 -> 0 in 0, published under a larger generation | W
//   keeps waiting: its generation is neither over nor lost
TEST_F(LatchDatabases, ALatchOfAnotherDatabaseMovesNobody) {
    client database_zero = direct_client("/0"), database_one = direct_client("/1");
    latch own_latch(database_zero, "it"), other_latch(database_one, "it");
    ASSERT_TRUE(other_latch.try_set(2));
    ASSERT_TRUE(own_latch.try_set(1));
    std::optional<failure> failed;
    std::atomic<bool> over = false;
    background_task waiting([&] {
        failed = failure_of([&] { other_latch.wait(); });
        over = true;
    });
    ASSERT_TRUE(eventually([&] { return listeners("pawl:{it}:l/1") == 1; }));
    EXPECT_EQ(own_latch.inspect().waiters, 0U);
    EXPECT_EQ(other_latch.inspect().waiters, 1U);
    EXPECT_EQ(own_latch.count_down(), 0U);
    EXPECT_TRUE(own_latch.reset());
    // Sent behind the message: when this is answered, the waiter has received the message.
    EXPECT_EQ(other_latch.count_down(), 1U);
    EXPECT_FALSE(over);
    EXPECT_EQ(other_latch.count_down(), 0U);
    waiting.join();
    EXPECT_FALSE(failed.has_value()) << failed;
}

TEST_F(LatchDatabases, ABarrierOfAnotherDatabaseMovesNobody) {
    client database_zero = direct_client("/0"), database_one = direct_client("/1");
    barrier own_barrier(database_zero, "it", 2), other_barrier(database_one, "it", 2);
    const auto arrival = other_barrier.arrive();
    std::optional<failure> failed;
    background_task waiting([&] { failed = failure_of([&] { other_barrier.wait(arrival); }); });
    ASSERT_TRUE(eventually([&] { return listeners("pawl:{it}:l/1") == 1; }));
    EXPECT_EQ(own_barrier.arrive(), own_barrier.arrive());
    EXPECT_EQ(other_barrier.arrive(), arrival);
    waiting.join();
    EXPECT_FALSE(failed.has_value()) << failed;
}

//   W: waits in 1 | C: 1 -> 0 in 0, "0" | W refreshes: not open | C: 1 -> 0 in 1, "0" | W is
//   released
TEST_F(LatchDatabases, RedissonsLatchOfAnotherDatabaseIsLookedAt) {
    const std::string layout = "?layout=redisson";
    client database_zero = direct_client("/0" + layout);
    const auto url = proxy.url("/1" + layout);
    client first = client_at(url), observer = direct_client("/1" + layout);
    latch own_latch(database_zero, "it"), other_latch(first, "it"), observed_latch(observer, "it");
    ASSERT_TRUE(own_latch.try_set(1));
    ASSERT_TRUE(observed_latch.try_set(1));
    std::atomic<bool> over = false;
    background_task waiting([&] {
        const bool open = other_latch.wait_for(patience);
        EXPECT_TRUE(open);
        over = true;
    });
    ASSERT_TRUE(eventually([&] { return proxy.count(named("GETRANGE")) > 0; }));
    // Sent behind the waiter's refreshes on the same connection.
    (void)other_latch.inspect();
    const auto refreshes = proxy.count(named("GETRANGE"));
    EXPECT_EQ(own_latch.count_down(), 0U);
    ASSERT_TRUE(eventually([&] { return over || proxy.count(named("GETRANGE")) > refreshes; }));
    EXPECT_FALSE(over) << "released by another database's latch";
    EXPECT_EQ(observed_latch.count_down(), 0U);
    waiting.join();
}

}  // namespace
