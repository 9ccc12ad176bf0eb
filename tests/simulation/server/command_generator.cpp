// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "command_generator.hpp"

#include <algorithm>
#include <cctype>

namespace pawl::simulation {
namespace {

// How a command gets to the server.
const std::array<std::string, 6> forms{
    "",  // from a client
    "return redis.call(unpack(ARGV))", "return redis.pcall(unpack(ARGV))",
    // Numbers become text again.
    R"lua(for i = 2, #ARGV do ARGV[i] = tonumber(ARGV[i]) or ARGV[i] end
return redis.call(unpack(ARGV)))lua",
    // What the script sees.
    R"lua(local reply = redis.pcall(unpack(ARGV))
if type(reply) ~= "table" then return {type(reply), tostring(reply)} end
return {"table", reply.err or reply.ok or #reply, type(reply[1]), tostring(reply[2])})lua",
    // After a write that needs no memory, the server refuses none.
    R"lua(redis.call("DEL", "missing")
return redis.call(unpack(ARGV)))lua"};

}  // namespace

const words& command_generator::keys() {
    static const words all{"string", "counter", "hash", "list", "set", "any"};
    return all;
}

checked_command command_generator::next(std::int64_t now_us) {
    now_ms_ = now_us / 1000;
    auto command = next_command();
    const bool is_random = command[0] == "HRANDFIELD";
    const bool has_open_order = command[0] == "HKEYS" || command[0] == "HGETALL";
    if (random_.happens(0.2))
        std::ranges::transform(command[0], command[0].begin(), [](unsigned char letter) {
            return static_cast<char>(std::tolower(letter));
        });
    if (command.size() > 1 && random_.happens(0.01)) command.pop_back();
    if (!is_random && random_.happens(0.01)) command.push_back(value());
    // The other forms show what Redis leaves open.
    const auto usable_forms = is_random || has_open_order ? 3 : forms.size();
    return {forms[random_.below(usable_forms)], std::move(command)};
}

std::int64_t command_generator::next_delay() {
    const auto dice = random_.below(100);
    if (dice < 60) return random_.between(1, 900);
    if (dice < 95) return random_.between(1'000, 60'000);
    if (dice < 99) return random_.between(100'000, 3'000'000);
    return random_.between(-5'000'000, 0);
}

// Mostly the key that usually has a value of the wanted type.
std::string command_generator::key(const char* usual) {
    return random_.happens(0.85) ? usual : keys()[random_.below(keys().size())];
}

std::string command_generator::number() {
    static constexpr std::array hard{"9007199254740991",
                                     "9007199254740992",
                                     "9007199254740993",
                                     "9223372036854775807",
                                     "-9223372036854775807",
                                     "9223372036854775806",
                                     "9223372036854775808",
                                     "-9007199254740993",
                                     "4611686018427387904",
                                     "99999999999999999999",
                                     "abc",
                                     "",
                                     "1.5",
                                     " 1",
                                     "01",
                                     "+1",
                                     "1e3",
                                     "0"};
    return random_.happens(0.7) ? small() : one_of(hard);
}

std::string command_generator::score() {
    static constexpr std::array hard{"9007199254740993",
                                     "9223372036854775807",
                                     "inf",
                                     "-inf",
                                     "nan",
                                     "1.5",
                                     "0x10",
                                     "1e400",
                                     "3.0000000000000004",
                                     "1e-10",
                                     "x",
                                     "",
                                     " 2",
                                     "-2.25",
                                     "1e17",
                                     "123456789012345678",
                                     "+inf",
                                     "1e22",
                                     "0.1"};
    return random_.happens(0.6) ? small() : one_of(hard);
}

std::string command_generator::bound() {
    return std::string(random_.happens(0.2) ? "(" : "") +
           (random_.happens(0.3) ? random_.happens(0.5) ? "-inf" : "+inf" : score());
}

std::string command_generator::value() {
    static constexpr std::array texts{"a", "b", "c", "d", "1", "007", "ä\xff", "x y\r\nz"};
    if (random_.happens(0.02)) return {};
    if (random_.happens(0.02)) return std::string("\0b", 2);
    if (random_.happens(0.1)) return std::string(70, one_of(texts)[0]);
    return random_.happens(0.2) ? number() : one_of(texts);
}

std::string command_generator::ttl() {
    if (random_.happens(0.85)) return std::to_string(random_.between(1, 400));
    return number();
}

std::string command_generator::end_time() {
    if (random_.happens(0.85)) return std::to_string(now_ms_ + random_.between(-20, 400));
    return number();
}

// Appends up to two more words.
words command_generator::with(words command, std::string (command_generator::*more)()) {
    for (auto count = random_.below(3); count > 0; --count)
        command.push_back((this->*more)());
    return command;
}

words command_generator::with_options(words command, std::span<const char* const> options,
                                      double share) {
    for (const auto* const option : options)
        if (random_.happens(share)) command.emplace_back(option);
    return command;
}

words command_generator::next_command() {
    switch (random_.below(6)) {
    case 0: return string_command();
    case 1: return hash_command();
    case 2: return list_command();
    case 3:
    case 4: return random_.happens(0.5) ? set_change() : set_query();
    default: return key_command();
    }
}

words command_generator::string_command() {
    switch (random_.below(10)) {
    case 0: return {"GET", string_key()};
    case 1: return {"INCR", key("counter")};
    case 2: return {"DECR", key("counter")};
    case 3: return {"INCRBY", key("counter"), number()};
    case 4: return {"DECRBY", key("counter"), number()};
    case 5: return {"SET", key("counter"), number()};
    case 6: return {"GETRANGE", string_key(), number(), number()};
    default: return set_command();
    }
}

words command_generator::set_command() {
    static constexpr std::array flags{"NX", "XX", "GET", "KEEPTTL"};
    auto command = with_options({"SET", string_key(), value()}, flags, 0.12);
    if (random_.happens(0.5)) {
        const bool in_ms = random_.happens(0.8);
        const bool is_end = random_.happens(0.3);
        command.emplace_back(is_end ? in_ms ? "PXAT" : "EXAT" : in_ms ? "PX" : "EX");
        command.push_back(is_end ? in_ms ? end_time() : std::to_string(now_ms_ / 1000 + 1) : ttl());
    }
    if (random_.happens(0.03)) command.push_back(value());
    return command;
}

words command_generator::hash_command() {
    switch (random_.below(12)) {
    case 0: return {"HGET", key("hash"), value()};
    case 1: return with({"HMGET", key("hash"), value()}, &command_generator::value);
    case 2:
    case 3: return {"HSET", key("hash"), value(), value()};
    case 4: return {"HSET", key("hash"), value(), value(), value(), number()};
    case 5: return with({"HDEL", key("hash"), value()}, &command_generator::value);
    case 6: return {"HEXISTS", key("hash"), value()};
    case 7: return {"HGETALL", key("hash")};
    case 8: return {"HKEYS", key("hash")};
    case 9: return {"HLEN", key("hash")};
    case 10: return {"HRANDFIELD", key("hash")};
    default: return {"HINCRBY", key("hash"), value(), number()};
    }
}

words command_generator::list_command() {
    switch (random_.below(9)) {
    case 0: return with({"LPUSH", key("list"), value()}, &command_generator::value);
    case 1:
    case 2: return with({"RPUSH", key("list"), value()}, &command_generator::value);
    case 3:
        return random_.happens(0.7) ? words{"LPOP", key("list")}
                                    : words{"LPOP", key("list"), number()};
    case 4: return {"LINDEX", key("list"), number()};
    case 5: return {"LLEN", key("list")};
    case 6: return {"LRANGE", key("list"), number(), number()};
    case 7: return {"LREM", key("list"), number(), value()};
    default: return list_search();
    }
}

words command_generator::list_search() {
    words command{"LPOS", key("list"), value()};
    for (const auto* const option : {"RANK", "COUNT", "MAXLEN"}) {
        if (!random_.happens(0.25)) continue;
        command.emplace_back(option);
        command.push_back(number());
    }
    return command;
}

words command_generator::set_change() {
    static constexpr std::array flags{"NX", "XX", "GT", "LT", "CH", "INCR"};
    switch (random_.below(6)) {
    case 0:
    case 1: {
        auto command = with_options({"ZADD", key("set")}, flags, 0.2);
        for (auto count = random_.between(1, 2); count > 0; --count) {
            command.push_back(score());
            command.push_back(value());
        }
        return command;
    }
    case 2: return {"ZADD", key("set"), score(), value()};
    case 3: return {"ZINCRBY", key("set"), score(), value()};
    case 4:
        return random_.happens(0.7) ? words{"ZPOPMIN", key("set")}
                                    : words{"ZPOPMIN", key("set"), number()};
    default: return with({"ZREM", key("set"), value()}, &command_generator::value);
    }
}

words command_generator::set_query() {
    switch (random_.below(7)) {
    case 0: return {"ZCARD", key("set")};
    case 1: return {"ZCOUNT", key("set"), bound(), bound()};
    case 2: return {"ZRANK", key("set"), value()};
    case 3: return {"ZSCORE", key("set"), value()};
    case 4: return ranged({"ZRANGEBYSCORE", key("set"), bound(), bound()});
    case 5: return ranged({"ZREVRANGE", key("set"), small(), number()});
    default:
        return random_.happens(0.6) ? ranged({"ZRANGE", key("set"), small(), number()})
                                    : ranged({"ZRANGE", key("set"), bound(), bound(), "BYSCORE"});
    }
}

words command_generator::ranged(words command) {
    if (random_.happens(0.4)) command.emplace_back("WITHSCORES");
    if (random_.happens(0.15)) command.emplace_back("REV");
    if (random_.happens(0.15)) {
        command.emplace_back("LIMIT");
        command.push_back(small());
        command.push_back(number());
    }
    return command;
}

words command_generator::key_command() {
    static constexpr std::array flags{"NX", "XX", "GT", "LT"};
    const auto some_key = keys()[random_.below(keys().size())];
    switch (random_.below(14)) {
    case 0: return {"DEL", some_key};
    case 1: return {"DEL", some_key, keys()[random_.below(keys().size())]};
    case 2: return {"EXISTS", some_key, keys()[random_.below(keys().size())]};
    case 3: return {"TYPE", some_key};
    case 4:
    case 5: return {"PTTL", some_key};
    case 6:
    case 7: return with_options({"PEXPIRE", some_key, ttl()}, flags, 0.1);
    case 8: return with_options({"PEXPIREAT", some_key, end_time()}, flags, 0.1);
    case 9: return {"PERSIST", some_key};
    case 10: return {"TIME"};
    case 11: return {random_.happens(0.7) ? "PUBLISH" : "SPUBLISH", channel(), value()};
    case 12:
        return with({"PUBSUB", random_.happens(0.7) ? "NUMSUB" : "SHARDNUMSUB"},
                    &command_generator::channel);
    default: return {"PING"};
    }
}

std::string command_generator::channel() {
    static constexpr std::array names{"one", "two", "sharded", "nobody"};
    return one_of(names);
}

}  // namespace pawl::simulation
