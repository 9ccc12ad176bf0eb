// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "redis_fixture.hpp"

#include <pawl/guard/counters.hpp>

#include <limits>

namespace {

using namespace guard_tests;
using namespace std::chrono_literals;
using pawl::errc;
using pawl::guard::counters;

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();

class Counters : public redis_test {
protected:
    counters stock{connection};
};

TEST_F(Counters, StayWithinTheirBounds) {
    EXPECT_TRUE(stock.create("stock", 5));
    EXPECT_FALSE(stock.create("stock", 9));
    EXPECT_EQ(stock.subtract("stock", 3), 2);
    EXPECT_EQ(stock.subtract("stock", 3), std::nullopt);
    EXPECT_EQ(stock.subtract("stock", 2), 0);
    EXPECT_EQ(stock.subtract("stock", 1), std::nullopt);
    EXPECT_EQ(stock.subtract("stock", 10, {.floor = -10}), -10);
    EXPECT_EQ(stock.add("stock", 11, {.ceiling = 0}), std::nullopt);
    EXPECT_EQ(stock.add("stock", 10, {.ceiling = 0}), 0);
    EXPECT_EQ(stock.get("stock"), 0);
    EXPECT_EQ(stored("stock"), "0");
}

TEST_F(Counters, AreExactTo64Bits) {
    const std::int64_t beyond_doubles = (std::int64_t{1} << 53) + 1;
    EXPECT_TRUE(stock.create("n", beyond_doubles));
    EXPECT_EQ(stock.add("n", 1), beyond_doubles + 1);
    EXPECT_EQ(stock.subtract("n", 1, {.floor = beyond_doubles}), beyond_doubles);
    EXPECT_EQ(stock.subtract("n", 1, {.floor = beyond_doubles}), std::nullopt);
    EXPECT_EQ(stock.add("n", most - beyond_doubles), most);
    EXPECT_EQ(stock.add("n", 1), std::nullopt);
    EXPECT_EQ(stock.subtract("n", 1, {.floor = most}), std::nullopt);
    EXPECT_EQ(stock.subtract("n", most), 0);
    EXPECT_EQ(stock.subtract("n", most, {.floor = least}), -most);
    EXPECT_EQ(stock.subtract("n", 1, {.floor = least}), least);
    EXPECT_EQ(stock.subtract("n", 1, {.floor = least}), std::nullopt);
    EXPECT_EQ(stock.add("n", 1, {.ceiling = least}), std::nullopt);
    EXPECT_EQ(stock.get("n"), least);
}

TEST_F(Counters, ThatAreMissingAreAnError) {
    EXPECT_EQ(code_of([&] { (void)stock.subtract("none", 1); }, "none: there is no such key"),
              errc::lost);
    EXPECT_EQ(code_of([&] { (void)stock.add("none", 1); }), errc::lost);
    EXPECT_EQ(code_of([&] { (void)stock.get("none"); }), errc::lost);
    EXPECT_EQ(code_of([&] { (void)stock.update("none", [](const auto& old) { return old; }); }),
              errc::lost);
    EXPECT_TRUE(server.keys().empty());
}

TEST_F(Counters, RefuseOtherValuesAndWrongArguments) {
    for (const std::string text : {"ten", "", "07", " 7", "7.0", "9223372036854775808"}) {
        (void)server.execute({"SET", "text", text});
        EXPECT_EQ(code_of([&] { (void)stock.subtract("text", 1, {}, "id"); }), errc::wrong_type);
        EXPECT_EQ(code_of([&] { (void)stock.get("text"); }), errc::wrong_type) << text;
        EXPECT_EQ(stored("text"), text);
    }
    (void)server.execute({"DEL", "text"});
    (void)server.execute({"RPUSH", "list", "1"});
    EXPECT_EQ(code_of([&] { (void)stock.add("list", 1); }), errc::wrong_type);
    EXPECT_EQ(code_of([&] { (void)stock.get("list"); }), errc::wrong_type);
    EXPECT_EQ(server.keys(), std::vector<std::string>{"list"}) << "a refused step is remembered";

    const auto sent = connection.sent.size();
    EXPECT_EQ(code_of([&] { (void)stock.add("n", 0); }, "1 or more"), errc::bad_option);
    EXPECT_EQ(code_of([&] { (void)stock.subtract("n", least); }), errc::bad_option);
    EXPECT_EQ(code_of([&] { (void)stock.add("", 1); }), errc::bad_name);
    EXPECT_EQ(code_of([&] { (void)stock.add("a}b", 1, {}, "id"); }, "hash tag"), errc::bad_name);
    EXPECT_EQ(code_of([&] { (void)stock.add("n", 1, {.keep = 0s}, "id"); }), errc::bad_option);
    EXPECT_EQ(code_of([&] { (void)stock.add("n", 1, {}, std::string(256, 'x')); }),
              errc::bad_option);
    EXPECT_EQ(connection.sent.size(), sent) << "a wrong call is refused before it is sent";
}

TEST_F(Counters, CountAnIdOnce) {
    ASSERT_TRUE(stock.create("stock", 10));
    EXPECT_EQ(stock.subtract("stock", 2, {}, "order 7"), 8);
    EXPECT_EQ(stock.subtract("stock", 1), 7);
    EXPECT_EQ(stock.subtract("stock", 2, {}, "order 7"), 8) << "the first answer is repeated";
    EXPECT_EQ(stock.get("stock"), 7);
    EXPECT_EQ(code_of([&] { (void)stock.subtract("stock", 3, {}, "order 7"); }, "a step of -2"),
              errc::bad_option);
    EXPECT_EQ(code_of([&] { (void)stock.add("stock", 2, {}, "order 7"); }), errc::bad_option);
    EXPECT_EQ(stock.add("stock", 2, {}, "return 7"), 9);
    EXPECT_EQ(stock.get("stock"), 9);
}

// Both are names of a counter. One id is a step of each.
TEST_F(Counters, DoNotShareIdsWithAKeyInBraces) {
    for (const auto* key : {"stock", "{stock}", "{stock}:a"}) {
        ASSERT_TRUE(stock.create(key, 10));
        EXPECT_EQ(stock.subtract(key, 1, {}, "order 7"), 9) << key;
        EXPECT_EQ(stock.get(key), 9) << key;
    }
}

TEST_F(Counters, ForgetARefusedStep) {
    ASSERT_TRUE(stock.create("stock", 1));
    EXPECT_EQ(stock.subtract("stock", 2, {}, "id"), std::nullopt);
    ASSERT_EQ(stock.add("stock", 1), 2);
    EXPECT_EQ(stock.subtract("stock", 2, {}, "id"), 0) << "now it is counted";
    EXPECT_EQ(stock.subtract("stock", 2, {}, "id"), 0);
}

TEST_F(Counters, RememberAnIdForItsTimeOnly) {
    ASSERT_TRUE(stock.create("stock", 3));
    ASSERT_EQ(stock.subtract("stock", 1, {.keep = 90s}, "id"), 2);
    const auto left = server.execute({"PTTL", "{stock}:step:id"}).number();
    EXPECT_GT(left, 0);
    EXPECT_LE(left, 90'000);
    EXPECT_EQ(server.execute({"PTTL", "stock"}).number(), -1);
    (void)server.execute({"PEXPIRE", "{stock}:step:id", "0"});
    EXPECT_EQ(stock.subtract("stock", 1, {}, "id"), 1);
}

TEST_F(Counters, RefuseAStepThatTheyDoNotRecognise) {
    ASSERT_TRUE(stock.create("stock", 3));
    (void)server.execute({"SET", "{stock}:step:id", "-1"});
    EXPECT_EQ(code_of([&] { (void)stock.subtract("stock", 1, {}, "id"); }), errc::wrong_type);
    EXPECT_EQ(stock.get("stock"), 3);
    EXPECT_EQ(stored("{stock}:step:id"), "-1");
}

TEST_F(Counters, CountNothingOnAServerWithoutMemory) {
    ASSERT_TRUE(stock.create("stock", 3));
    (void)server.execute({"CONFIG", "SET", "maxmemory", "1"});
    EXPECT_EQ(code_of([&] { (void)stock.subtract("stock", 1, {}, "id"); }), errc::unavailable);
    (void)server.execute({"CONFIG", "SET", "maxmemory", "0"});
    EXPECT_EQ(stock.get("stock"), 3);
    EXPECT_EQ(stock.subtract("stock", 1, {}, "id"), 2);
}

TEST_F(Counters, SendOneCommandForAStep) {
    ASSERT_TRUE(stock.create("stock", 9));
    (void)stock.subtract("stock", 1);
    (void)server.execute({"SCRIPT", "FLUSH"});
    connection.sent.clear();
    EXPECT_EQ(stock.subtract("stock", 1, {}, "id"), 7);
    EXPECT_EQ(connection.sent, (std::vector<std::string>{"EVALSHA", "EVAL"}));
    EXPECT_EQ(stock.subtract("stock", 1, {}, "id"), 7);
    EXPECT_EQ(connection.sent, (std::vector<std::string>{"EVALSHA", "EVAL", "EVALSHA"}));
}

TEST(CountersInACluster, KeepTheIdInTheSlotOfTheCounter) {
    support::redis_server server({.cluster = true});
    server.serve_all_slots();
    resp_connection connection(server);
    counters stock(connection);
    for (const std::string key : {"stock", "{order-7}:stock", "a{b", "{}x"}) {
        if (key == "{}x") {
            EXPECT_EQ(code_of([&] { (void)stock.add(key, 1, {}, "id"); }), errc::bad_name);
            continue;
        }
        ASSERT_TRUE(stock.create(key, 1));
        EXPECT_EQ(stock.subtract(key, 1, {}, "a} {b"), 0) << key;
        EXPECT_EQ(stock.subtract(key, 1, {}, "a} {b"), 0) << key;
    }
}

}  // namespace
