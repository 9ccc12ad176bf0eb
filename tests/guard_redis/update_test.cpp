// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "redis_fixture.hpp"

#include <pawl/guard/connection.hpp>
#include <pawl/guard/counters.hpp>

namespace {

using namespace guard_tests;
using pawl::errc;
using pawl::guard::counters;
using words = std::vector<std::string>;

class Update : public redis_test {
protected:
    counters values{connection};
};

std::string exclaim(const std::string& old_value) { return old_value + "!"; }

TEST_F(Update, ReplacesBytesAndKeepsTheTtl) {
    const std::string old_value("a\0\r\nb", 5);
    (void)server.execute({"SET", "text", old_value, "PX", "90000"});
    EXPECT_EQ(values.update("text", exclaim), old_value + "!");
    EXPECT_EQ(stored("text"), old_value + "!");
    EXPECT_GT(server.execute({"PTTL", "text"}).number(), 0);
}

TEST_F(Update, WritesNothingIfTheValueStays) {
    (void)server.execute({"SET", "text", "a"});
    EXPECT_EQ(values.update("text", [](const auto&) { return std::nullopt; }), "a");
    EXPECT_EQ(connection.sent, words{"GET"});
}

// The function itself writes between the GET and the replacement, as another caller would.
TEST_F(Update, BeginsAgainAfterAnotherWrite) {
    (void)server.execute({"SET", "text", "a"});
    int calls = 0;
    const auto disturbed = [&](const std::string& old_value) {
        if (++calls <= 2) (void)server.execute({"APPEND", "text", "b"});
        return exclaim(old_value);
    };
    EXPECT_EQ(values.update("text", disturbed), "abb!");
    EXPECT_EQ(calls, 3);
}

TEST_F(Update, GivesUpAfterItsTries) {
    (void)server.execute({"SET", "text", "a"});
    int calls = 0;
    const auto disturbed = [&](const std::string& old_value) {
        ++calls;
        (void)server.execute({"APPEND", "text", "b"});
        return exclaim(old_value);
    };
    EXPECT_THROW((void)values.update("text", disturbed, {.tries = 4}), pawl::guard::conflict);
    EXPECT_EQ(calls, 4);
    EXPECT_EQ(stored("text"), "abbbb");
    EXPECT_EQ(code_of([&] { (void)values.update("text", exclaim, {.tries = 0}); }, "tries"),
              errc::bad_option);
}

TEST_F(Update, RefusesOtherTypesAndDeletedKeys) {
    (void)server.execute({"RPUSH", "list", "1"});
    EXPECT_EQ(code_of([&] { (void)values.update("list", exclaim); }), errc::wrong_type);
    (void)server.execute({"SET", "text", "a"});
    const auto removed = [&](const std::string& old_value) {
        (void)server.execute({"DEL", "text"});
        return exclaim(old_value);
    };
    EXPECT_EQ(code_of([&] { (void)values.update("text", removed); }), errc::lost);
    EXPECT_EQ(server.keys(), words{"list"});
}

TEST(UpdateOnServers, UsesAScriptWhereTheServerHasNoConditionalSet) {
    support::redis_server server({.program = "redis-server"});
    resp_connection connection(server);
    (void)server.execute({"SET", "text", "a"});
    counters values(connection);
    EXPECT_EQ(values.update("text", exclaim), "a!");
    EXPECT_EQ(values.update("text", exclaim), "a!!");
    EXPECT_EQ(connection.sent, (words{"GET", "SET", "EVALSHA", "EVAL", "GET", "EVALSHA"}));
}

TEST(UpdateOnServers, UsesAConditionalSetWhereTheServerHasIt) {
    support::redis_server server({.program = support::conditional_set_program()});
    resp_connection connection(server);
    (void)server.execute({"SET", "text", "a", "PX", "90000"});
    counters values(connection);
    int calls = 0;
    const auto disturbed = [&](const std::string& old_value) {
        if (++calls == 1) (void)server.execute({"SET", "text", "b", "KEEPTTL"});
        return exclaim(old_value);
    };
    EXPECT_EQ(values.update("text", disturbed), "b!");
    EXPECT_EQ(connection.sent, (words{"GET", "SET", "GET", "SET"}));
    EXPECT_EQ(server.execute({"GET", "text"}).text, "b!");
    EXPECT_GT(server.execute({"PTTL", "text"}).number(), 0);
}

}  // namespace
