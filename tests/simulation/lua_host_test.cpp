// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Lua in the simulated server: conversions, errors and the sandbox. Each script also runs on a real
// server, which must give the same reply.
#include "bugs/script_bugs.hpp"
#include "server/command_check.hpp"
#include "server/known_scripts.hpp"
#include "server/replies.hpp"
#include "server/simulated_redis.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace pawl::simulation {
namespace {

constexpr std::int64_t now_us = 1'900'000'000'000'000;

struct script_case {
    const char* name;
    const char* text;
    const char* reply;  // to_string of the reply
};

constexpr script_case cases[] = {
    // Lua to reply.
    {"fractions_are_cut", "return {3.99, -3.99, 0.5}", "[3, -3, 0]"},
    {"large_numbers", "return {2^53, 2^53 + 1, 2^62, 2^63, -2^63, 1e300}",
     "[9007199254740992, 9007199254740992, 4611686018427387904, -9223372036854775808, "
     "-9223372036854775808, -9223372036854775808]"},
    {"nil_ends_a_table", "return {1, nil, 3}", "[1]"},
    {"booleans", "return {true, 1, false, 2}", "[1, 1, nil, 2]"},
    {"nothing", "return", "nil"},
    {"a_function", "return print_nothing and 1 or function() end", "error ERR"},
    {"a_function_is_nil", "return function() end", "nil"},
    {"nested_tables", "return {{}, {{1}}, 'a'}", "[[], [[1]], \"a\"]"},
    {"named_fields_are_left_out", "return {1, x = 2}", "[1]"},
    {"ok", "return {ok = 'fine\\nso far'}", "\"fine so far\""},
    {"err", "return {err = 'MY error'}", "error MY"},
    {"status_reply", "return redis.status_reply('FINE')", "\"FINE\""},
    {"error_reply", "return redis.error_reply('MY error')", "error MY"},
    {"error_reply_of_one_word", "return redis.error_reply('MINE')", "error ERR"},
    {"error_reply_without_text", "return redis.error_reply(1)", "error ERR"},
    {"binary_text", "return 'a\\0b\\255'", nullptr},
    // Reply to Lua.
    {"nil_is_false", "return {redis.call('GET', 'none') == false and 1 or 0}", "[1]"},
    {"status_is_a_table", "return redis.call('SET', 'a', 1).ok", "\"OK\""},
    {"integers_are_numbers", "redis.call('SET', 'a', 41) return redis.call('INCR', 'a') + 1", "43"},
    {"integers_above_2_53_are_rounded",
     "redis.call('SET', 'a', '9007199254740992') "
     "return {redis.call('INCR', 'a'), redis.call('GET', 'a')}",
     "[9007199254740992, \"9007199254740993\"]"},
    {"missing_items_are_false",
     "redis.call('HSET', 'h', 'b', 1) local t = redis.call('HMGET', 'h', 'a', 'b') "
     "return {#t, t[1] == false and 1 or 0, t[2]}",
     "[2, 1, \"1\"]"},
    // Arguments.
    {"numbers_have_17_digits", "redis.call('SET', 'a', 0.1) return redis.call('GET', 'a')",
     "\"0.10000000000000001\""},
    {"large_integers_as_arguments",
     "redis.call('SET', 'a', 2^60) redis.call('SET', 'b', 1e17) redis.call('SET', 'c', -0/1) "
     "return {redis.call('GET', 'a'), redis.call('GET', 'b'), redis.call('GET', 'c')}",
     "[\"1.152921504606847e+18\", \"1e+17\", \"-0\"]"},
    {"no_arguments", "return redis.pcall()", "error ERR"},
    {"a_table_as_argument", "return redis.pcall('GET', {})", "error ERR"},
    {"a_boolean_as_argument", "return redis.call('GET', true)", "error ERR"},
    {"keys_and_arguments", "return {#KEYS, #ARGV, ARGV[1], KEYS[1]}", "[0, 2, \"one\"]"},
    // Errors.
    {"call_raises", "redis.call('HGET', 'text', 'f') return 1", "error WRONGTYPE"},
    {"pcall_returns", "local e = redis.pcall('HGET', 'text', 'f') return {type(e), e.err}",
     nullptr},
    {"lua_pcall_gives_the_text",
     "local ok, e = pcall(redis.call, 'HGET', 'text', 'f') return {ok and 1 or 0, type(e), e}",
     nullptr},
    {"an_error_of_lua", "local x = nil\nreturn x + 1", "error ERR"},
    {"an_error_with_a_text", "error('my text')", "error ERR"},
    {"an_error_with_a_table", "error({err = 'MY own'})", "error MY"},
    {"an_error_of_a_library", "return\nstring.rep()", "error ERR"},
    {"unknown_command", "return redis.call('NONSENSE')", "error ERR"},
    {"wrong_number_of_words", "return redis.call('GET')", "error ERR"},
    {"wrong_number_of_words_in_pcall", "return redis.pcall('GET', 1, 2).err", nullptr},
    // The sandbox.
    {"no_new_globals", "x = 1", "error ERR"},
    {"no_unknown_globals", "return x", "error ERR"},
    {"no_new_globals_by_table", "_G.x = 1", "error ERR"},
    {"no_new_globals_by_rawset", "rawset(_G, 'x', 1)", "error ERR"},
    {"no_changed_libraries", "string.format = 1", "error ERR"},
    {"no_changed_redis", "redis.call = 1", "error ERR"},
    {"no_functions_as_globals", "function f() end", "error ERR"},
    {"no_files", "return {dofile == nil and 1 or 0}", "error ERR"},
    {"no_os", "return os.time()", "error ERR"},
    {"loaded_code_has_the_sandbox", "loadstring('x = 1')()", "error ERR"},
    {"local_tables_are_free", "local t = {} t.x = 1 rawset(t, 'y', 2) return t.x + t.y", "3"},
    {"keys_may_be_changed", "KEYS[1] = 'a' ARGV = ARGV return KEYS[1]", "error ERR"},
    {"random_numbers_repeat", "return {math.random(1000000), math.random(5, 9), math.random(7)}",
     nullptr},
    {"random_numbers_with_a_seed",
     "math.randomseed(7) return {tostring(math.random()), math.random(1000)}", nullptr},
    {"sha1hex", "return {redis.sha1hex(''), redis.sha1hex('abc'), redis.sha1hex(1)}", nullptr},
    {"formats", "return {string.format('%.0f', 2^53), tostring(1e15), 2^53 .. '', 10 / 2 .. ''}",
     nullptr},
    // struct
    {"packed_integers", "return struct.pack('>I4', 258) .. struct.pack('<I4', 258)", nullptr},
    {"packed_sizes",
     "return struct.pack('bBhHlLTiI>h<h >I3', 1, -1, 2, -2, 3, -3, 4, 5, 6, 7, 8, 9)", nullptr},
    {"packed_fractions_are_cut", "return struct.pack('>i2', -1.9) .. struct.pack('>i2', 1.9)",
     nullptr},
    {"packed_texts_that_are_numbers", "return struct.pack('>I2', '7')", nullptr},
    {"nothing_packed", "return struct.pack('')", "\"\""},
    {"packing_without_a_number", "return struct.pack('>I4', 'x')", "error ERR"},
    {"packing_too_few", "return struct.pack('>I4I4', 1)", "error ERR"},
    {"packing_an_unknown_format", "return struct.pack('>q', 1)", "error ERR"},
    {"packing_too_large_an_integer", "return struct.pack('I33', 1)", "error ERR"},
    {"packing_an_endless_size", "return struct.pack('I99999999999', 1)", "error ERR"},
    {"unpacked_integers", "return {struct.unpack('>I4', '\\0\\0\\1\\2')}", "[258, 5]"},
    {"unpacked_signs", "return {struct.unpack('bBh', '\\255\\255\\255\\255')}", "[-1, 255, -1, 5]"},
    {"unpacked_from_an_offset", "return {struct.unpack('>i2', 'abc\\1\\0', 4)}", "[256, 6]"},
    {"unpacking_too_short_a_text", "return struct.unpack('>I4', 'abc')", "error ERR"},
    {"unpacking_from_nothing", "return struct.unpack('B', 'abc', 0)", "error ERR"},
    {"no_changed_struct", "struct.pack = 1", "error ERR"},
    {"comparison_of_texts", "return {'10' < '9' and 1 or 0, '10' + 1}", "[1, 11]"},
};

class LuaHost : public testing::TestWithParam<script_case> {};

TEST_P(LuaHost, DoesWhatARealServerDoes) {
    command_check check({"a", "b", "c", "h", "text"}, {}, {});
    const checked_command batch[] = {{"", {"SET", "text", "x"}}, {GetParam().text, {"one", "two"}}};
    EXPECT_NO_THROW(check.play(now_us, batch));
    if (GetParam().reply == nullptr) return;
    simulated_redis server([](auto, auto) {}, injected_bug::none);
    server.set_clock(now_us);
    static_cast<void>(server.execute(1, {"SET", "text", "x"}));
    EXPECT_EQ(to_string(server.execute(1, {"EVAL", GetParam().text, "0", "one", "two"})),
              GetParam().reply);
}

INSTANTIATE_TEST_SUITE_P(Each, LuaHost, testing::ValuesIn(cases),
                         [](const auto& test) { return std::string(test.param.name); });

class ServerScripts : public testing::Test {
protected:
    ServerScripts() { server_.set_clock(now_us); }
    std::string run(const words& command) { return to_string(server_.execute(1, command)); }

    simulated_redis server_{[](auto, auto) {}, injected_bug::none};
};

TEST_F(ServerScripts, AreKnownByTheirDigestAfterTheFirstCall) {
    const std::string text = "return ARGV[1]";
    const auto digest = sha1_hex(text);
    EXPECT_EQ(run({"EVALSHA", digest, "0", "x"}), "error NOSCRIPT");
    EXPECT_EQ(run({"EVAL", text, "0", "x"}), "\"x\"");
    EXPECT_EQ(run({"EVALSHA", digest, "0", "y"}), "\"y\"");
    server_.forget_scripts();
    EXPECT_EQ(run({"EVALSHA", digest, "0", "y"}), "error NOSCRIPT");
    EXPECT_EQ(run({"EVAL", text, "0", "x"}), "\"x\"");
    server_.restart({});
    EXPECT_EQ(run({"EVALSHA", digest, "0", "y"}), "error NOSCRIPT");
}

TEST_F(ServerScripts, AreRefusedIfTheyDoNotCompile) {
    EXPECT_EQ(run({"EVAL", "return return", "0"}), "error ERR");
}

TEST_F(ServerScripts, HaveTheDigestsOfTheirTexts) {
    for (const auto& each : known_scripts())
        EXPECT_EQ(sha1_hex(each.code->text), each.code->sha1) << each.name;
}

TEST_F(ServerScripts, AreRefusedBeforeTheirFirstWriteOnly) {
    const std::string grows = "redis.call('SET', 'a', 1) return 1";
    const std::string deletes_first = "redis.call('DEL', 'b') redis.call('SET', 'a', 1) return 1";
    const std::string catches = "return redis.pcall('SET', 'a', 1).err and 7 or 8";
    server_.set_out_of_memory(true);
    EXPECT_EQ(run({"EVAL", grows, "0"}), "error OOM");
    EXPECT_EQ(run({"GET", "a"}), "nil");
    EXPECT_EQ(run({"EVAL", catches, "0"}), "7");
    EXPECT_EQ(run({"EVAL", deletes_first, "0"}), "1");
    EXPECT_EQ(run({"GET", "a"}), "\"1\"");
    server_.set_out_of_memory(false);
    for (const auto* const error : {"READONLY You can't write", "MISCONF no disk"}) {
        server_.refuse(error, false);
        const auto code = "error " + std::string(error).substr(0, std::string(error).find(' '));
        EXPECT_EQ(run({"EVAL", grows, "0"}), code);
        EXPECT_EQ(run({"EVAL", deletes_first, "0"}), code);
        EXPECT_EQ(run({"EVAL", "return redis.call('GET', 'a')", "0"}), "\"1\"");
    }
    server_.refuse("BUSY a script runs", true);
    EXPECT_EQ(run({"EVAL", "return redis.call('GET', 'a')", "0"}), "error BUSY");
    server_.refuse({}, false);
    EXPECT_EQ(run({"EVAL", grows, "0"}), "1");
}

// Client-side caching: the server remembers every key that a command of the script has read.
TEST_F(ServerScripts, TellTheirCallerWhatChangesLater) {
    std::vector<words> pushes;
    simulated_redis server(
        [&](simulated_redis::connection to, words message) {
            message.insert(message.begin(), std::to_string(to));
            pushes.push_back(std::move(message));
        },
        injected_bug::none);
    server.set_clock(now_us);
    const auto execute = [&server](simulated_redis::connection from, const words& command) {
        static_cast<void>(server.execute(from, command));
    };
    execute(1, {"HELLO"});
    execute(1, {"CLIENT", "CACHING", "YES"});
    execute(1, {"EVAL", "redis.call('HGET', 'h', 'f') return redis.call('EXISTS', 'a', 'b')", "0"});
    execute(1, {"EVAL", "return redis.call('GET', 'c')", "0"});
    execute(1, {"SET", "a", "1"});
    for (const auto* const key : {"b", "c", "b"})
        execute(2, {"SET", key, "1"});
    execute(2, {"HSET", "h", "f", "1"});
    EXPECT_EQ(pushes, (std::vector<words>{{"1", "invalidate", "b"}, {"1", "invalidate", "h"}}));
}

TEST_F(ServerScripts, EachHaveTheTextsThatInjectedBugsReplace) {
    EXPECT_NO_THROW(check_script_bugs());
}

TEST_F(ServerScripts, RefuseABugThatDoesNotFit) {
    static constexpr redis::script other{"release", "return 1", ""};
    const known_script changed{"release", &other};
    EXPECT_THROW(
        static_cast<void>(inject_script_bug(injected_bug::release_without_compare, changed)),
        std::logic_error);
    EXPECT_EQ(inject_script_bug(injected_bug::none, changed), "return 1");
}

}  // namespace
}  // namespace pawl::simulation
