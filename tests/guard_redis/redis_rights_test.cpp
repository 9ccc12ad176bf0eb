// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A user with the rights of docs/guide/no-lock-needed.md, and with one of them less.
#include "redis_fixture.hpp"

#include <pawl/guard/counters.hpp>
#include <pawl/guard/redis_fence.hpp>
#include <pawl/guard/redis_once.hpp>

#include <stdexcept>

namespace {

using namespace guard_tests;
using namespace pawl::guard;
using namespace std::chrono_literals;

using words = std::vector<std::string>;

class RedisRights : public redis_test {
protected:
    // The connection becomes that of a user who may run EVALSHA, EVAL and these commands on these
    // keys.
    void log_in(const words& keys, const words& commands) {
        redis_command user{"ACL", "SETUSER", "shop", "reset", "on", ">secret", "+evalsha", "+eval"};
        for (const std::string& each : keys)
            user.push_back("~" + each);
        for (const std::string& each : commands)
            user.push_back("+" + each);
        EXPECT_EQ(server.execute(user).text, "OK");
        EXPECT_EQ(connection.execute({"AUTH", "shop", "secret"}).text, "OK");
    }
};

TEST_F(RedisRights, AreEnoughForCounters) {
    const auto sell = [&] {
        counters stock(connection);
        stock.create("n", 3);
        EXPECT_EQ(stock.subtract("n", 1, {}, "order 7"), 2);
        EXPECT_EQ(stock.add("n", 1), 3);
        EXPECT_EQ(stock.subtract("n", 9), std::nullopt);
        EXPECT_EQ(stock.update("n", [](const std::string&) { return "5"; }), "5");
        EXPECT_EQ(stock.get("n"), 5);
    };
    log_in({"n", "{n}:step:*"}, {"get", "set", "incrby", "del"});
    sell();
    (void)server.execute({"FLUSHALL"});
    log_in({"n", "{n}:step:*"}, {"get", "set", "del"});
    EXPECT_THROW(sell(), pawl::error) << "INCRBY is not needed";
}

TEST_F(RedisRights, AreEnoughForFencedWrites) {
    const auto write = [&](std::uint64_t token) {
        return fenced(connection, "price", pawl::fencing_token(token), {{"APPEND", "price", "a"}});
    };
    log_in({"price", "{price}:fence"}, {"get", "set", "append"});
    EXPECT_TRUE(write(2));
    EXPECT_FALSE(write(1));
    EXPECT_EQ(stored("price"), "a");
    log_in({"price"}, {"get", "set", "append"});
    EXPECT_THROW((void)write(3), pawl::error) << "the fence needs no key of its own";
}

TEST_F(RedisRights, AreEnoughForOnce) {
    const redis_effect add("return redis.call('INCR', KEYS[1])", 1);
    const redis_once_work adding = [&](const attempt&) { return add({"n"}); };
    const once_work failing = [](const attempt&) -> outcome { throw std::runtime_error("no"); };
    const once_options single{.lease = 1min, .attempts = 1};
    const words commands{"hmget", "hset", "hdel",        "exists", "pexpire",
                         "zadd",  "zrem", "zrangebylex", "time",   "incr"};
    log_in({"pawl-once:*", "n"}, commands);
    EXPECT_EQ(once(connection, "k", patient, adding).value, "1");
    EXPECT_EQ(once(connection, "k", patient, adding).state, once_state::replayed);
    EXPECT_THROW((void)at_least_once(connection, "p", single, failing), std::runtime_error);
    EXPECT_EQ(unfinished(connection, "").size(), 1U);
    EXPECT_EQ(at_least_once(connection, "p", single, failing).value, "too many attempts");
    const auto claimed = claim(connection, "c", patient);
    ASSERT_TRUE(claimed);
    const once_options tiny{.lease = 1min, .largest_result = 1};
    EXPECT_TRUE(finish(connection, *claimed.attempt, outcome("not kept"), tiny));
    log_in({"n"}, commands);
    EXPECT_THROW((void)once(connection, "k", patient, adding), pawl::error)
        << "the records need no key of their own";
}

}  // namespace
