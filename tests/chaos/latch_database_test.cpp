// Latches of one name in two databases of one server, whose channels all databases share.
#include "scene.hpp"

#include <pawl/blocking_latch.hpp>

#include <atomic>

namespace {

using namespace chaos;
using pawl::blocking::barrier;
using pawl::blocking::latch;

class LatchDatabases : public testing::Test, protected scene {
protected:
    std::int64_t listeners(const std::string& channel) {
        return server.ask({"PUBSUB", "NUMSUB", channel}).items.at(1).number();
    }
};

//   W: waits in 1, whose latch is the older one | C: 1 -> 0 in 0, told under a larger generation
//   | W waits on: its generation is neither over nor lost
TEST_F(LatchDatabases, ALatchOfAnotherDatabaseMovesNobody) {
    client zero = direct("/0"), one = direct("/1");
    latch here(zero, "it"), there(one, "it");
    ASSERT_TRUE(there.try_set(2));
    ASSERT_TRUE(here.try_set(1));
    std::optional<failure> what;
    std::atomic<bool> over = false;
    beside waiting([&] {
        what = failure_of([&] { there.wait(); });
        over = true;
    });
    ASSERT_TRUE(eventually([&] { return listeners("pawl:{it}:l/1") == 1; }));
    EXPECT_EQ(here.inspect().waiters, 0U);
    EXPECT_EQ(there.inspect().waiters, 1U);
    EXPECT_EQ(here.count_down(), 0U);
    EXPECT_TRUE(here.reset());
    // Asked behind what was told: when it is answered, the waiter has heard that.
    EXPECT_EQ(there.count_down(), 1U);
    EXPECT_FALSE(over);
    EXPECT_EQ(there.count_down(), 0U);
    waiting.join();
    EXPECT_FALSE(what.has_value()) << what;
}

TEST_F(LatchDatabases, ABarrierOfAnotherDatabaseMovesNobody) {
    client zero = direct("/0"), one = direct("/1");
    barrier here(zero, "it", 2), there(one, "it", 2);
    const auto turn = there.arrive();
    std::optional<failure> what;
    beside waiting([&] { what = failure_of([&] { there.wait(turn); }); });
    ASSERT_TRUE(eventually([&] { return listeners("pawl:{it}:l/1") == 1; }));
    EXPECT_EQ(here.arrive(), here.arrive());
    EXPECT_EQ(there.arrive(), turn);
    waiting.join();
    EXPECT_FALSE(what.has_value()) << what;
}

//   W: waits in 1 | C: 1 -> 0 in 0, "0" | W looks: not open | C: 1 -> 0 in 1, "0" | W goes
TEST_F(LatchDatabases, RedissonsLatchOfAnotherDatabaseIsLookedAt) {
    const std::string layout = "?layout=redisson";
    client zero = direct("/0" + layout);
    const auto url = proxy.url("/1" + layout);
    client one = at(url), eyes = direct("/1" + layout);
    latch here(zero, "it"), there(one, "it"), seen(eyes, "it");
    ASSERT_TRUE(here.try_set(1));
    ASSERT_TRUE(seen.try_set(1));
    std::atomic<bool> over = false;
    beside waiting([&] {
        const bool open = there.wait_for(patience);
        EXPECT_TRUE(open);
        over = true;
    });
    ASSERT_TRUE(eventually([&] { return proxy.count(named("GET")) > 0; }));
    // Asked behind the waiter's looks on the same connection.
    (void)there.inspect();
    const auto looks = proxy.count(named("GET"));
    EXPECT_EQ(here.count_down(), 0U);
    ASSERT_TRUE(eventually([&] { return over || proxy.count(named("GET")) > looks; }));
    EXPECT_FALSE(over) << "let through by another database's latch";
    EXPECT_EQ(seen.count_down(), 0U);
    waiting.join();
}

}  // namespace
