// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Compares the commands of the simulated server with a real server: more than 100,000 random
// commands, of clients and of scripts, with right and wrong arguments, on keys of all types.
#include "server/command_check.hpp"
#include "server/command_generator.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace pawl::simulation {
namespace {

constexpr int commands_to_check = 120'000;
constexpr std::int64_t start_us = 1'900'000'000'000'000;

void play(command_check& check, command_generator& source, int count) {
    auto now = start_us;
    std::vector<checked_command> batch;
    while (check.command_count() < count) {
        now += source.next_delay();
        if (source.happens(0.02)) check.set_out_of_memory(source.happens(0.3));
        if (source.happens(0.02)) check.set_replicas_missing(source.happens(0.2));
        batch.clear();
        for (auto left = source.next_batch_size(); left > 0; --left)
            batch.push_back(source.next(now));
        check.play(now, batch);
    }
}

// Each kind of reply must have occurred often, or the comparison proves little.
constexpr const char* outcomes[] = {"DEL integer",
                                    "EXISTS integer",
                                    "TYPE text",
                                    "PTTL integer",
                                    "PEXPIRE integer",
                                    "PEXPIRE ERR",
                                    "PEXPIREAT integer",
                                    "PERSIST integer",
                                    "GET text",
                                    "GET nil",
                                    "GET WRONGTYPE",
                                    "SET text",
                                    "SET nil",
                                    "SET ERR",
                                    "SET OOM",
                                    "SET NOREPLICAS",
                                    "SET WRONGTYPE",
                                    "INCR integer",
                                    "INCR ERR",
                                    "INCR WRONGTYPE",
                                    "DECR integer",
                                    "DECR ERR",
                                    "INCRBY integer",
                                    "INCRBY ERR",
                                    "INCRBY OOM",
                                    "DECRBY integer",
                                    "DECRBY ERR",
                                    "HGET text",
                                    "HGET nil",
                                    "HGET WRONGTYPE",
                                    "HMGET array",
                                    "HSET integer",
                                    "HSET OOM",
                                    "HSET NOREPLICAS",
                                    "HSET WRONGTYPE",
                                    "HDEL integer",
                                    "HDEL WRONGTYPE",
                                    "HDEL NOREPLICAS",
                                    "HEXISTS integer",
                                    "HGETALL array",
                                    "HGETALL empty",
                                    "HKEYS array",
                                    "HKEYS empty",
                                    "HLEN integer",
                                    "HINCRBY integer",
                                    "HINCRBY ERR",
                                    "HINCRBY WRONGTYPE",
                                    "HRANDFIELD text",
                                    "HRANDFIELD nil",
                                    "LPUSH integer",
                                    "LPUSH WRONGTYPE",
                                    "RPUSH integer",
                                    "RPUSH OOM",
                                    "LPOP text",
                                    "LPOP nil",
                                    "LPOP array",
                                    "LPOP ERR",
                                    "LINDEX text",
                                    "LINDEX nil",
                                    "LINDEX ERR",
                                    "LLEN integer",
                                    "LPOS integer",
                                    "LPOS nil",
                                    "LPOS array",
                                    "LPOS ERR",
                                    "LRANGE array",
                                    "LRANGE empty",
                                    "LRANGE ERR",
                                    "LREM integer",
                                    "LREM ERR",
                                    "ZADD integer",
                                    "ZADD text",
                                    "ZADD nil",
                                    "ZADD ERR",
                                    "ZADD OOM",
                                    "ZADD WRONGTYPE",
                                    "ZINCRBY text",
                                    "ZINCRBY ERR",
                                    "ZINCRBY OOM",
                                    "ZCARD integer",
                                    "ZCARD WRONGTYPE",
                                    "ZCOUNT integer",
                                    "ZCOUNT ERR",
                                    "ZPOPMIN array",
                                    "ZPOPMIN empty",
                                    "ZPOPMIN WRONGTYPE",
                                    "ZRANGE array",
                                    "ZRANGE empty",
                                    "ZRANGE ERR",
                                    "ZRANGE WRONGTYPE",
                                    "ZREVRANGE array",
                                    "ZREVRANGE ERR",
                                    "ZRANGEBYSCORE array",
                                    "ZRANGEBYSCORE empty",
                                    "ZRANGEBYSCORE ERR",
                                    "ZRANK integer",
                                    "ZRANK nil",
                                    "ZREM integer",
                                    "ZREM NOREPLICAS",
                                    "ZSCORE text",
                                    "ZSCORE nil",
                                    "TIME array",
                                    "PUBLISH integer",
                                    "SPUBLISH integer",
                                    "PUBSUB array",
                                    "PUBSUB empty",
                                    "PING text"};

TEST(Commands, DoWhatARealServerDoes) {
    command_check check(command_generator::keys(), command_generator::channels(),
                        command_generator::sharded_channels());
    command_generator source(20261122);
    play(check, source, commands_to_check);
    words rare;
    for (const char* const outcome : outcomes) {
        const auto it = check.outcomes().find(outcome);
        if (it == check.outcomes().end() || it->second < 20) rare.emplace_back(outcome);
    }
    EXPECT_EQ(rare, words{});
    EXPECT_GT(check.message_count(), 500);
}

// What the simulated side executes instead of a command.
struct injected_error {
    const char* name;
    void (*change)(words& command);
};

bool is(const words& command, std::string_view name, std::size_t size) {
    return command.size() == size && command[0] == name;
}

constexpr injected_error injected_errors[] = {
    {"pexpire_is_a_millisecond_off",
     [](words& command) {
         if (is(command, "PEXPIRE", 3) && command[2].size() == 3) command[2][2] ^= 1;
     }},
    {"set_keeps_no_expiry",
     [](words& command) {
         if (is(command, "SET", 5) && command[3] == "PX") command.resize(3);
     }},
    {"incrby_rounds_as_a_double",
     [](words& command) {
         if (is(command, "INCRBY", 3) && command[2] == "9007199254740993")
             command[2] = "9007199254740992";
     }},
    {"zrangebyscore_includes_excluded_bounds",
     [](words& command) {
         if (command[0] == "ZRANGEBYSCORE" && command.size() > 2 && command[2].starts_with('('))
             command[2].erase(0, 1);
     }},
    {"zadd_ignores_nx",
     [](words& command) {
         if (command[0] == "ZADD") std::erase(command, "NX");
     }},
    {"hdel_removes_one_field",
     [](words& command) {
         if (command[0] == "HDEL" && command.size() > 3) command.resize(3);
     }},
    {"lrem_counts_from_the_head",
     [](words& command) {
         if (is(command, "LREM", 4) && command[2].starts_with('-')) command[2].erase(0, 1);
     }},
    {"get_of_another_key",
     [](words& command) {
         if (is(command, "GET", 2) && command[1] == "hash") command[1] = "string";
     }},
    {"publish_to_another_channel",
     [](words& command) {
         if (is(command, "PUBLISH", 3) && command[1] == "one") command[1] = "two";
     }},
};

class InjectedErrors : public testing::TestWithParam<injected_error> {};

// If an error in a command is not found, the comparison proves nothing.
TEST_P(InjectedErrors, AreFound) {
    command_check check(command_generator::keys(), command_generator::channels(),
                        command_generator::sharded_channels());
    check.inject(GetParam().change);
    command_generator source(20261122);
    EXPECT_THROW(play(check, source, 40'000), std::runtime_error);
}

INSTANTIATE_TEST_SUITE_P(Each, InjectedErrors, testing::ValuesIn(injected_errors),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace pawl::simulation
