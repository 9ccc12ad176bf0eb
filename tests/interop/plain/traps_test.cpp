// What one side does not know of the other.
#include "libraries.hpp"
#include "scene.hpp"

#include <algorithm>

namespace {

using namespace plain;
using pawl::release_result;

std::vector<library> only(const std::string& name) {
    auto some = libraries();
    std::erase_if(some, [&](const library& each) { return each.name != name; });
    return some;
}

std::string its_name(const testing::TestParamInfo<library>& what) { return what.param.name; }

// Its default. Pawl waits for its release, and says that there is no end.
using RedisPy = scene;
INSTANTIATE_TEST_SUITE_P(Plain, RedisPy, testing::ValuesIn(only("redis_py")), its_name);
TEST_P(RedisPy, ALockWithoutAnEndIsShownAsOne) {
    auto locks = ours();
    auto other = theirs();
    ASSERT_EQ(other.ask("take it 0"), "got");
    const auto found = locks.inspect("it");
    ASSERT_TRUE(found.held_by.has_value());
    EXPECT_EQ(found.held_by->remaining, pawl::forever);
    EXPECT_FALSE(locks.try_acquire("it", {.ttl = 1s}).owns_lock());
    ASSERT_EQ(other.ask("give"), "gave");
    EXPECT_TRUE(locks.acquire("it", {.ttl = long_ttl, .wait = patience}).owns_lock());
}

// All of its resources or none: one that is ours keeps it from the other one.
using NodeRedlock = scene;
INSTANTIATE_TEST_SUITE_P(Plain, NodeRedlock, testing::ValuesIn(only("node_redlock")), its_name);
TEST_P(NodeRedlock, ManyResourcesAreTakenTogether) {
    auto locks = ours();
    auto other = theirs();
    auto ink = locks.acquire("ink", {.ttl = long_ttl, .wait = patience});
    EXPECT_EQ(other.ask("take paper,ink" + an_hour), "busy");
    EXPECT_EQ(value_of("paper"), "");
    EXPECT_EQ(ink.release(), release_result::released);
    ASSERT_EQ(other.ask("take paper,ink" + an_hour), "got");
    EXPECT_FALSE(locks.try_acquire("ink", {.ttl = long_ttl}).owns_lock());
    EXPECT_FALSE(locks.try_acquire("paper", {.ttl = long_ttl}).owns_lock());
}

// Its release leaves a list beside the lock, for a second; it is no lock and disturbs nobody.
using PythonRedisLock = scene;
INSTANTIATE_TEST_SUITE_P(Plain, PythonRedisLock, testing::ValuesIn(only("python_redis_lock")),
                         its_name);
TEST_P(PythonRedisLock, ItsSignalIsNoLock) {
    auto locks = ours();
    auto other = theirs();
    ASSERT_EQ(other.ask("take it 60000"), "got");
    ASSERT_EQ(other.ask("give"), "gave");
    EXPECT_TRUE(locks.list().empty());
    EXPECT_TRUE(locks.try_acquire("it", {.ttl = long_ttl}).owns_lock());
}

}  // namespace
