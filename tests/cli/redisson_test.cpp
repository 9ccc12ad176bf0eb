// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Redisson's semaphores in the output of the command.
#include "command.hpp"

#include <support/redis_server.hpp>

#include <gtest/gtest.h>

#include <signal.h>

namespace {

using namespace cli_test;

// FencedLock's counter never expires, so many names leave many counters. A plain RLock has no
// counter.
TEST(RedissonLocks, LeaveNothingBehindWithoutTokens) {
    support::redis_server server;
    const test_sandbox sandbox(server.url("?layout=redisson"));
    EXPECT_EQ(sandbox.run({"run", "--no-token", "x", "--also", "y", "--", "true"}).code, 0);
    EXPECT_EQ(server.keys(), std::vector<std::string>{});
    EXPECT_EQ(sandbox.run({"run", "x", "--", "true"}).code, 0);
    EXPECT_EQ(server.keys().size(), 1U) << "the counter";
}

class RedissonPermits : public ::testing::Test {
protected:
    [[nodiscard]] static std::string status(const test_sandbox& sandbox, const std::string& name) {
        return from_json(sandbox.run({"status", name, "--json"}).out,
                         "it['held'], it['permits'], it['free_permits'], it['holder'] is None");
    }

    support::redis_server server;
    const test_sandbox semaphores{server.url("?layout=redisson&object=semaphore")};
    const test_sandbox locks{server.url("?layout=redisson")};
};

// The server stores neither the holders nor the total number.
TEST_F(RedissonPermits, OfASemaphoreAreShownAsFree) {
    const auto first = semaphores.start({"run", "--permits", "2/3", "pool", "--", "sleep", "600"});
    ASSERT_TRUE(support::eventually([&] {
        return server.execute({"GET", "pool"}).text == "1";
    })) << first->err();
    EXPECT_EQ(status(semaphores, "pool"), "False None 1 True");
    const auto shown = semaphores.run({"status", "pool"});
    EXPECT_TRUE(shown.out.starts_with("'pool' is free\n  permits    1 free\n")) << shown.out;
    EXPECT_EQ(shown.code, 1);

    const auto second = semaphores.start({"run", "--permits", "1", "pool", "--", "sleep", "600"});
    ASSERT_TRUE(support::eventually([&] {
        return server.execute({"GET", "pool"}).text == "0";
    })) << second->err();
    EXPECT_EQ(status(semaphores, "pool"), "True None 0 True");
    EXPECT_EQ(semaphores.run({"status", "pool"}).code, 0) << "no permit is free";
    EXPECT_EQ(semaphores.run({"run", "--wait", "0", "--permits", "1", "pool", "--", "true"}).code,
              75);
}

// A number under a name of the key template, but not the keys that Redisson and Pawl keep beside
// their locks.
TEST_F(RedissonPermits, OfSemaphoresAreListedWhereTheUrlSaysSo) {
    server.execute({"SET", "pool", "3"});
    server.execute({"SET", "text", "hello"});
    // Keys of the native layout on the same server, with a key template and without.
    server.execute({"SET", "pawl:x:{s2}:f", "7"});
    server.execute({"SET", "pawl:{s3}:f", "7"});
    ASSERT_EQ(locks.run({"run", "lock", "--", "true"}).code, 0);
    const auto holds = locks.start({"run", "lock", "--", "sleep", "600"});
    ASSERT_TRUE(locks.eventually_held("lock")) << holds->err();
    EXPECT_EQ(semaphores.run({"ls", "--names"}).out, "lock\npool\n");
    const auto shown = semaphores.run({"ls", "po"}).out;
    EXPECT_NE(shown.find("pool  3 free"), std::string::npos) << shown;
    EXPECT_EQ(locks.run({"ls", "--names"}).out, "lock\n") << "a number may be anything";
}

TEST_F(RedissonPermits, WithLeasesHaveHolders) {
    const auto first = locks.start({"run", "--permits", "2/3", "pool", "--", "sleep", "600"});
    ASSERT_TRUE(locks.eventually_held("pool")) << first->err();
    for (const test_sandbox* sandbox : {&locks, &semaphores}) {
        EXPECT_EQ(status(*sandbox, "pool"), "True 3 1 False");
        const auto shown = sandbox->run({"ls"}).out;
        EXPECT_NE(shown.find("pool  2 of 3"), std::string::npos) << shown;
    }
    const auto second = locks.start({"run", "--permits", "1/1", "{a}", "--", "sleep", "600"});
    ASSERT_TRUE(locks.eventually_held("{a}")) << second->err();
    EXPECT_EQ(locks.run({"ls", "--names"}).out, "pool\n{a}\n");
    first->signal(SIGTERM);
    ASSERT_TRUE(support::eventually([&] { return !locks.is_held("pool"); }));
    const auto free = locks.run({"status", "pool"}).out;
    EXPECT_TRUE(free.starts_with("'pool' is free\n  permits    3 free\n")) << free;
}

TEST_F(RedissonPermits, OfASemaphoreAreNotResized) {
    const auto refusal = [&](const words& more) {
        const auto result = semaphores.run(words{"resize"} + more + words{"pool", "5"});
        EXPECT_EQ(result.code, 64) << result.err;
        EXPECT_NE(result.err.find("--permits K/N"), std::string::npos) << result.err;
        EXPECT_EQ(result.err.find("--create"), std::string::npos) << result.err;
    };
    refusal({});
    refusal({"--create"});
    EXPECT_EQ(server.execute({"EXISTS", "pool"}).number(), 0);
    server.execute({"SET", "pool", "3"});
    refusal({});
    EXPECT_EQ(server.execute({"GET", "pool"}).text, "3");
}

TEST_F(RedissonPermits, MoreThanThereAreIsOneSentence) {
    const auto refusal = [&](const test_sandbox& sandbox, const std::string& permits) {
        const auto result =
            sandbox.run({"run", "--wait", "0", "--permits", permits, "pool", "--", "true"});
        EXPECT_EQ(result.code, 64) << permits;
        return result.err;
    };
    EXPECT_NE(refusal(semaphores, "4/3").find("asks for more permits than the total"),
              std::string::npos);
    EXPECT_NE(refusal(semaphores, "4").find("The total of the semaphore 'pool' is not set"),
              std::string::npos);
    server.execute({"SET", "pool", "1"});
    EXPECT_NE(refusal(locks, "2").find("'pool' has 1 permit, and you ask for 2; ask for fewer"),
              std::string::npos);
    EXPECT_NE(refusal(locks, "1/2").find("'pool' has 1 permit, not 2; change that with"),
              std::string::npos);
}

}  // namespace
