// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The places in a FairLock's queue, which Java's waiters do not renew.
#include "mixed_processes.hpp"

#include <support/eventually.hpp>

#include <gtest/gtest.h>

namespace {

using namespace interop;

//   P1 holds | J waits, until a time that its place has in `redisson_lock_timeout` | that time is
//   over (the test sets it back, instead of waiting for minutes) | P2 requests: it removes J's
//   place and is first | P1 releases: P2 holds, not J | P2 releases | J's sleep ends with the lease
//   that it saw: J requests again, and holds
TEST(FairQueue, AJavaWaiterThatHasWaitedTooLongIsPassed) {
    constexpr auto lease = 20s;
    const std::string queue = "redisson_lock_queue:{fair}", times = "redisson_lock_timeout:{fair}";
    mixed_processes processes;
    test_process holder = processes.pawl(lease), java = processes.java(lease),
                 later = processes.pawl(lease);
    auto& server = processes.server();
    ASSERT_TRUE(holder.execute("lock fair").starts_with("held"));
    java.send("lock fair");
    ASSERT_TRUE(processes.has_listeners(1));
    const auto place = server.execute({"LINDEX", queue, "0"}).text;
    ASSERT_FALSE(place.empty());
    // The thread id of a waiter of Pawl's is negative.
    ASSERT_EQ(place.find(":-"), std::string::npos) << "a place of Pawl's";
    // Java tries once more after it has subscribed, so this is repeated.
    const auto first_is_passed = [&] {
        (void)server.execute({"ZADD", times, "XX", "1", place});
        return server.execute({"LINDEX", queue, "0"}).text.find(":-") != std::string::npos;
    };
    later.send("lock fair");
    ASSERT_TRUE(support::eventually(first_is_passed));
    ASSERT_TRUE(holder.execute("unlock fair").starts_with("unlocked"));
    ASSERT_TRUE(later.read_reply().starts_with("held"));
    EXPECT_TRUE(java.is_silent(100ms));
    ASSERT_TRUE(later.execute("unlock fair").starts_with("unlocked"));
    EXPECT_TRUE(java.read_reply(60s).starts_with("held"));
    EXPECT_TRUE(java.execute("unlock fair").starts_with("unlocked"));
}

}  // namespace
