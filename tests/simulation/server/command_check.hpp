// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Executes the same commands on the simulated key space and on a real server, whose clock the test
// moves. After each command it compares the reply, the messages and every key.
#pragma once

#include "commands.hpp"
#include "lua_host.hpp"
#include "real_redis.hpp"

#include <deque>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace pawl::simulation {

using words = std::vector<std::string>;

// A command of a client, or a script with arguments.
struct checked_command {
    std::string script;  // empty: no script
    words arguments;     // of the script; or the command
};

class command_check : private pubsub {
public:
    // A test injects errors with it: it changes what the simulated side executes.
    using injected_error = std::function<void(words& command)>;

    command_check(words keys, words channels, words sharded_channels);
    void inject(injected_error error) { injected_error_ = std::move(error); }

    // Throws std::runtime_error at the first difference.
    void play(std::int64_t now_us, std::span<const checked_command> batch);
    // The server refuses writes, or accepts them again.
    void set_out_of_memory(bool enabled);
    void set_replicas_missing(bool enabled);

    [[nodiscard]] int command_count() const noexcept { return command_count_; }
    [[nodiscard]] int message_count() const noexcept { return message_count_; }
    // How often each command had each kind of reply: "GET nil", "GET WRONGTYPE".
    [[nodiscard]] const std::map<std::string, int>& outcomes() const noexcept { return outcomes_; }

private:
    std::int64_t publish(std::string_view channel, std::string_view payload, bool sharded) override;
    [[nodiscard]] std::int64_t subscriber_count(std::string_view channel,
                                                bool sharded) const override;
    [[nodiscard]] bool is_subscribed(std::string_view channel, bool sharded) const;

    redis::reply execute(checked_command command);
    redis::reply run_script(const std::string& text, std::span<const std::string> keys,
                            std::span<const std::string> arguments, const write_refusals& refused);
    void queue(const checked_command& command);
    void compare_messages();
    void count_outcome(const checked_command& command, const redis::reply& reply);

    const words keys_, channels_, sharded_channels_;
    injected_error injected_error_ = [](words&) {};
    std::map<std::string, int> outcomes_;
    int command_count_ = 0, message_count_ = 0;

    store data_;
    write_refusals refusals_;
    lua_host lua_;
    std::deque<std::string> published_;

    real_redis server_;
    real_connection commands_{server_.socket_path()};
    real_connection subscriber_{server_.socket_path()};
};

}  // namespace pawl::simulation
