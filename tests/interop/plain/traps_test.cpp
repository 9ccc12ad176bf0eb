// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What one side does not know of the other.
#include "libraries.hpp"
#include "library_fixture.hpp"

#include <algorithm>

namespace {

using namespace plain;
using pawl::release_result;

std::vector<library> only_library(const std::string& name) {
    auto some = libraries();
    std::erase_if(some, [&](const library& each) { return each.name != name; });
    return some;
}

std::string library_name(const testing::TestParamInfo<library>& info) { return info.param.name; }

// By default, a lock of redis-py has no expiry. Pawl waits for its release, and shows that it has
// none.
using RedisPy = library_fixture;
INSTANTIATE_TEST_SUITE_P(Plain, RedisPy, testing::ValuesIn(only_library("redis_py")), library_name);
TEST_P(RedisPy, ALockWithoutAnEndIsShownAsOne) {
    auto locks = own_client();
    auto other = other_library();
    ASSERT_EQ(other.execute("take it 0"), "got");
    const auto info = locks.inspect("it");
    ASSERT_TRUE(info.held_by.has_value());
    EXPECT_EQ(info.held_by->remaining, pawl::forever);
    EXPECT_FALSE(locks.try_acquire("it", {.ttl = 1s}).owns_lock());
    ASSERT_EQ(other.execute("give"), "gave");
    EXPECT_TRUE(locks.acquire("it", {.ttl = long_ttl, .wait = patience}).owns_lock());
}

// node-redlock acquires all resources of a request or none: if Pawl holds one of two, the peer does
// not get the other one either.
using NodeRedlock = library_fixture;
INSTANTIATE_TEST_SUITE_P(Plain, NodeRedlock, testing::ValuesIn(only_library("node_redlock")),
                         library_name);
TEST_P(NodeRedlock, ManyResourcesAreTakenTogether) {
    auto locks = own_client();
    auto other = other_library();
    auto ink = locks.acquire("ink", {.ttl = long_ttl, .wait = patience});
    EXPECT_EQ(other.execute("take paper,ink" + an_hour), "busy");
    EXPECT_EQ(value_of("paper"), "");
    EXPECT_EQ(ink.release(), release_result::released);
    ASSERT_EQ(other.execute("take paper,ink" + an_hour), "got");
    EXPECT_FALSE(locks.try_acquire("ink", {.ttl = long_ttl}).owns_lock());
    EXPECT_FALSE(locks.try_acquire("paper", {.ttl = long_ttl}).owns_lock());
}

// The release of python-redis-lock leaves a list beside the lock, for a second; the list is no lock
// and disturbs no client.
using PythonRedisLock = library_fixture;
INSTANTIATE_TEST_SUITE_P(Plain, PythonRedisLock,
                         testing::ValuesIn(only_library("python_redis_lock")), library_name);
TEST_P(PythonRedisLock, ItsSignalIsNoLock) {
    auto locks = own_client();
    auto other = other_library();
    ASSERT_EQ(other.execute("take it 60000"), "got");
    ASSERT_EQ(other.execute("give"), "gave");
    EXPECT_TRUE(locks.list().empty());
    EXPECT_TRUE(locks.try_acquire("it", {.ttl = long_ttl}).owns_lock());
}

}  // namespace
