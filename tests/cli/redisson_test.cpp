// Redisson's semaphores as the command shows them.
#include "command.hpp"

#include <support/redis_server.hpp>

#include <gtest/gtest.h>

#include <signal.h>

namespace {

using namespace cli_test;

// FencedLock's counter has no end, so many names leave many. A plain RLock has none.
TEST(RedissonLocks, LeaveNothingBehindWithoutTokens) {
    support::redis_server server;
    const world here(server.url("?layout=redisson"));
    EXPECT_EQ(here.run({"run", "--no-token", "x", "--also", "y", "--", "true"}).code, 0);
    EXPECT_EQ(server.keys(), std::vector<std::string>{});
    EXPECT_EQ(here.run({"run", "x", "--", "true"}).code, 0);
    EXPECT_EQ(server.keys().size(), 1U) << "the counter";
}

class RedissonPermits : public ::testing::Test {
protected:
    [[nodiscard]] static std::string status(const world& at, const std::string& name) {
        return from_json(at.run({"status", name, "--json"}).out,
                         "it['held'], it['permits'], it['free_permits'], it['holder'] is None");
    }

    support::redis_server server;
    const world semaphores{server.url("?layout=redisson&object=semaphore")};
    const world locks{server.url("?layout=redisson")};
};

// Who has them and how many there are is written down nowhere.
TEST_F(RedissonPermits, OfASemaphoreAreShownAsFree) {
    const auto one = semaphores.start({"run", "--permits", "2/3", "pool", "--", "sleep", "600"});
    ASSERT_TRUE(support::eventually([&] {
        return server.ask({"GET", "pool"}).text == "1";
    })) << one->err();
    EXPECT_EQ(status(semaphores, "pool"), "False None 1 True");
    const auto shown = semaphores.run({"status", "pool"});
    EXPECT_TRUE(shown.out.starts_with("pool is free\n  permits    1 free\n")) << shown.out;
    EXPECT_EQ(shown.code, 1);

    const auto two = semaphores.start({"run", "--permits", "1", "pool", "--", "sleep", "600"});
    ASSERT_TRUE(support::eventually([&] {
        return server.ask({"GET", "pool"}).text == "0";
    })) << two->err();
    EXPECT_EQ(status(semaphores, "pool"), "True None 0 True");
    EXPECT_EQ(semaphores.run({"status", "pool"}).code, 0) << "nobody gets one now";
    EXPECT_EQ(semaphores.run({"run", "--wait", "0", "--permits", "1", "pool", "--", "true"}).code,
              75);
}

// A number under a name of the template; not what Redisson and Pawl keep beside their locks.
TEST_F(RedissonPermits, OfSemaphoresAreListedWhereTheUrlSaysSo) {
    server.ask({"SET", "pool", "3"});
    server.ask({"SET", "text", "hello"});
    // Of the native layout on the same server, with a key template and without.
    server.ask({"SET", "pawl:x:{s2}:f", "7"});
    server.ask({"SET", "pawl:{s3}:f", "7"});
    ASSERT_EQ(locks.run({"run", "lock", "--", "true"}).code, 0);
    const auto holds = locks.start({"run", "lock", "--", "sleep", "600"});
    ASSERT_TRUE(locks.soon_held("lock")) << holds->err();
    EXPECT_EQ(semaphores.run({"ls", "--names"}).out, "lock\npool\n");
    const auto shown = semaphores.run({"ls", "po"}).out;
    EXPECT_NE(shown.find("pool  3 free"), std::string::npos) << shown;
    EXPECT_EQ(locks.run({"ls", "--names"}).out, "lock\n") << "a number may be anything";
}

TEST_F(RedissonPermits, WithLeasesHaveHolders) {
    const auto one = locks.start({"run", "--permits", "2/3", "pool", "--", "sleep", "600"});
    ASSERT_TRUE(locks.soon_held("pool")) << one->err();
    for (const world* at : {&locks, &semaphores}) {
        EXPECT_EQ(status(*at, "pool"), "True 3 1 False");
        const auto shown = at->run({"ls"}).out;
        EXPECT_NE(shown.find("pool  2 of 3"), std::string::npos) << shown;
    }
    const auto two = locks.start({"run", "--permits", "1/1", "{a}", "--", "sleep", "600"});
    ASSERT_TRUE(locks.soon_held("{a}")) << two->err();
    EXPECT_EQ(locks.run({"ls", "--names"}).out, "pool\n{a}\n");
    one->signal(SIGTERM);
    ASSERT_TRUE(support::eventually([&] { return !locks.held("pool"); }));
    const auto free = locks.run({"status", "pool"}).out;
    EXPECT_TRUE(free.starts_with("pool is free\n  permits    3 free\n")) << free;
}

TEST_F(RedissonPermits, OfASemaphoreAreNotResized) {
    const auto refusal = [&](const words& more) {
        const auto found = semaphores.run(words{"resize"} + more + words{"pool", "5"});
        EXPECT_EQ(found.code, 64) << found.err;
        EXPECT_NE(found.err.find("--permits K/N"), std::string::npos) << found.err;
        EXPECT_EQ(found.err.find("--create"), std::string::npos) << found.err;
    };
    refusal({});
    refusal({"--create"});
    EXPECT_EQ(server.ask({"EXISTS", "pool"}).number(), 0);
    server.ask({"SET", "pool", "3"});
    refusal({});
    EXPECT_EQ(server.ask({"GET", "pool"}).text, "3");
}

TEST_F(RedissonPermits, MoreThanThereAreIsOneSentence) {
    const auto found = [&](const world& at, const std::string& permits) {
        const auto one = at.run({"run", "--wait", "0", "--permits", permits, "pool", "--", "true"});
        EXPECT_EQ(one.code, 64) << permits;
        return one.err;
    };
    EXPECT_NE(found(semaphores, "4/3").find("asks for more than there are"), std::string::npos);
    EXPECT_NE(found(semaphores, "4").find("Nobody has said how many permits 'pool' has"),
              std::string::npos);
    server.ask({"SET", "pool", "1"});
    EXPECT_NE(found(locks, "2").find("'pool' has 1 permit, and you ask for 2; ask for fewer"),
              std::string::npos);
    EXPECT_NE(found(locks, "1/2").find("'pool' has 1 permit, not 2; change that with"),
              std::string::npos);
}

}  // namespace
