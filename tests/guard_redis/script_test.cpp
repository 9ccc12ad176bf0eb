// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "redis_fixture.hpp"

#include <pawl/guard/script.hpp>

#include <tuple>

namespace {

using namespace guard_tests;
using pawl::errc;
using pawl::guard::script;

class Script : public redis_test {
protected:
    // What a script without keys returns.
    template <class Result>
    Result result_of(const std::string& text) {
        return script<Result>(text, 0).run(connection, {});
    }
    template <class Result>
    errc failure_of(const std::string& text, const std::string& words) {
        return code_of([&] { (void)script<Result>(text, 0).run(connection, {}); }, words);
    }
};

TEST_F(Script, HasATypedResult) {
    EXPECT_EQ(result_of<std::int64_t>("return 7"), 7);
    EXPECT_EQ(result_of<std::int64_t>("return '-9223372036854775808'"), INT64_MIN);
    EXPECT_TRUE(result_of<bool>("return 1"));
    EXPECT_FALSE(result_of<bool>("return 0"));
    EXPECT_FALSE(result_of<bool>("return false"));
    EXPECT_EQ(result_of<std::string>("return 'a\\0b'"), std::string("a\0b", 3));
    EXPECT_EQ(result_of<std::string>("return redis.status_reply('OK')"), "OK");
    EXPECT_EQ(result_of<std::optional<std::string>>("return false"), std::nullopt);
    EXPECT_EQ(result_of<std::vector<std::string>>("return {'a', 'b'}"),
              (std::vector<std::string>{"a", "b"}));
    using pair = std::tuple<std::string, std::optional<std::int64_t>>;
    EXPECT_EQ(result_of<pair>("return {'a', false}"), pair("a", std::nullopt));
    EXPECT_EQ(result_of<pawl::guard::redis_reply>("return {1}").items.size(), 1U);
    result_of<void>("return {'whatever'}");
}

TEST_F(Script, RefusesAnotherTypeOfResult) {
    EXPECT_EQ(failure_of<std::int64_t>("return false", "is nil"), errc::protocol);
    EXPECT_EQ(failure_of<std::int64_t>("return 'ten'", "an integer of 64 bits"), errc::protocol);
    EXPECT_EQ(failure_of<std::int64_t>("return '9223372036854775808'", "64 bits"), errc::protocol);
    EXPECT_EQ(failure_of<bool>("return 2", "expects 0, 1 or false"), errc::protocol);
    EXPECT_EQ(failure_of<std::string>("return 2", "an integer"), errc::protocol);
    EXPECT_EQ(failure_of<std::vector<std::int64_t>>("return {1, {}}", "item 2 of the reply"),
              errc::protocol);
    using pair = std::tuple<std::int64_t, std::int64_t>;
    EXPECT_EQ(failure_of<pair>("return {1, 2, 3}", "a table of 2 and not 3"), errc::protocol);
    EXPECT_EQ(failure_of<void>("return redis.error_reply('ERR my own words')", "my own words"),
              errc::protocol);
    EXPECT_EQ(failure_of<void>("return nonsense(", "compiling"), errc::protocol);
}

TEST_F(Script, RefusesIntegersThatLuaMayHaveRounded) {
    EXPECT_EQ(result_of<std::int64_t>("return 9007199254740992"), std::int64_t{1} << 53);
    EXPECT_EQ(failure_of<std::int64_t>("return 9007199254740994", "as strings"), errc::protocol);
    EXPECT_EQ(failure_of<std::int64_t>("return -9007199254740994", "as strings"), errc::protocol);
}

TEST_F(Script, ChecksTheNumberOfItsKeys) {
    const script<void> set("redis.call('SET', KEYS[1], ARGV[1])", 1);
    EXPECT_EQ(code_of([&] { set.run(connection, {}, {"a"}); }, "has 1 keys"), errc::bad_option);
    EXPECT_EQ(code_of([&] { set.run(connection, {"a", "b"}); }, "names 2"), errc::bad_option);
    EXPECT_TRUE(connection.sent.empty());
}

TEST_F(Script, TakesBytesAndExactIntegers) {
    const script<std::vector<std::string>> echo("return ARGV", 0);
    const std::string bytes("\0\n{}", 4);
    EXPECT_EQ(echo.run(connection, {}, {bytes, INT64_MAX, -1, 7U, "text"}),
              (std::vector<std::string>{bytes, "9223372036854775807", "-1", "7", "text"}));
}

TEST_F(Script, SendsItsTextOnceOnly) {
    const script<std::int64_t> seven("return 7", 0);
    EXPECT_EQ(seven.run(connection, {}), 7);
    EXPECT_EQ(seven.run(connection, {}), 7);
    (void)server.execute({"SCRIPT", "FLUSH"});
    EXPECT_EQ(seven.run(connection, {}), 7);
    EXPECT_EQ(connection.sent,
              (std::vector<std::string>{"EVALSHA", "EVAL", "EVALSHA", "EVALSHA", "EVAL"}));
}

TEST(ScriptInACluster, SaysThatItsKeysNeedOneHashTag) {
    support::redis_server server({.cluster = true});
    server.serve_all_slots();
    resp_connection connection(server);
    const script<void> two("redis.call('SET', KEYS[1], 1) redis.call('SET', KEYS[2], 1)", 2);
    EXPECT_EQ(code_of([&] { two.run(connection, {"a", "b"}); }, "hash tag"), errc::bad_option);
    two.run(connection, {"{order-7}:a", "{order-7}:b"});
    EXPECT_EQ(server.keys().size(), 2U);
}

}  // namespace
