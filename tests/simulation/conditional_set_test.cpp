// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Compares SET with IFEQ of the simulated server with a real server that has it. `Commands` uses
// the server of the machine, which may be too old.
#include "kernel/prng.hpp"
#include "server/commands.hpp"
#include "server/real_redis.hpp"
#include "server/replies.hpp"

#include <support/redis_server.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace pawl::simulation {
namespace {

using words = std::vector<std::string>;

class no_channels final : public pubsub {
public:
    std::int64_t publish(std::string_view, std::string_view, bool) override { return 0; }
    [[nodiscard]] std::int64_t subscriber_count(std::string_view, bool) const override { return 0; }
};

std::string text_of(const redis::reply& reply) {
    using kind = redis::reply::kind;
    switch (reply.type) {
    case kind::nil: return "nil";
    case kind::integer: return std::to_string(reply.number);
    case kind::string: return '"' + reply.text + '"';
    case kind::error: return "error " + reply.text;
    case kind::array: return "an array";
    }
    return {};
}

class conditional_set_check {
public:
    conditional_set_check() {
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        data_.set_clock(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
    }

    // Of the reply, when both sides agree.
    std::string compare(const words& command) {
        const auto simulated = text_of(simulate(command));
        const auto real = text_of(connection_.execute(command));
        EXPECT_EQ(simulated, real) << describe(command);
        return real;
    }
    // A far expiry passes on at the real server, but is there or not on both.
    void compare_expiry(const std::string& key, const words& after) {
        const words command{"PTTL", key};
        const auto simulated = simulate(command).number;
        const auto real = connection_.execute(command).number;
        EXPECT_EQ(simulated > 0 ? 1 : simulated, real > 0 ? 1 : real) << describe(after);
    }

private:
    static std::string describe(const words& command) {
        std::string text;
        for (const auto& word : command)
            text += "'" + word + "' ";
        return text;
    }
    redis::reply simulate(const words& command) {
        const std::vector<std::string_view> views(command.begin(), command.end());
        data_.begin_journal(false, false);
        command_session session(command_session::origin::client, data_, channels_, refusals_);
        reply_builder reply;
        try {
            session.execute(views, reply);
        } catch (const command_error& error) {
            return error_reply(error.what());
        }
        return reply.take();
    }

    support::redis_server server_{{.program = support::conditional_set_program()}};
    real_connection connection_{server_.unix_socket()};
    store data_;
    no_channels channels_;
    write_refusals refusals_;
};

words random_set(prng& random) {
    static constexpr std::array values{"a", "b", "c", ""};
    static constexpr std::array flags{"NX", "XX", "GET", "KEEPTTL"};
    words command{"SET", random.happens(0.1) ? "hash" : "text", values[random.below(4)]};
    for (const auto* const flag : flags)
        if (random.happens(0.08)) command.emplace_back(flag);
    if (random.happens(0.8))
        command.insert(command.end(), {random.happens(0.2) ? "ifeq" : "IFEQ",
                                       values[random.below(values.size())]});
    if (random.happens(0.15)) command.insert(command.end(), {"PXAT", "1"});
    if (random.happens(0.3)) command.insert(command.end(), {"PX", "10000000"});
    for (const auto* const flag : flags)
        if (random.happens(0.04)) command.emplace_back(flag);
    if (random.happens(0.03)) command.insert(command.end(), {"IFEQ", "a"});
    if (random.happens(0.02)) command.pop_back();
    return command;
}

TEST(Commands, CompareAStoredValueAsARealServerDoes) {
    conditional_set_check check;
    prng random(20261127);
    check.compare({"HSET", "hash", "field", "1"});
    std::map<std::string, int> outcomes;
    for (int i = 0; i < 5000 && !HasFailure(); ++i) {
        const auto command = random_set(random);
        const auto reply = check.compare(command);
        ++outcomes[reply.starts_with("error") ? reply.substr(0, 9) : reply];
        const auto& key = command[1];
        check.compare({"EXISTS", key});
        if (key == "text") check.compare({"GET", key});
        check.compare_expiry(key, command);
        if (key == "hash" && reply == "\"OK\"") {
            check.compare({"DEL", "hash"});
            check.compare({"HSET", "hash", "field", "1"});
        }
    }
    // Each must have occurred often, or the comparison proves little.
    for (const auto* const outcome : {"\"OK\"", "nil", "error WRO", "error ERR", "\"a\""})
        EXPECT_GE(outcomes[outcome], 20) << outcome;
}

}  // namespace
}  // namespace pawl::simulation
