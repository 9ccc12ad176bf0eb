// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// hiredis with one blocking connection: the baseline of most measurements. And what a server
// reports about its clients.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct redisContext;
struct redisReply;

namespace bench {

using command_words = std::vector<std::string>;

class hiredis_client {
public:
    explicit hiredis_client(std::uint16_t port);

    // Throws std::runtime_error on a broken connection or an error reply.
    std::string call(const command_words& command);
    std::int64_t call_for_number(const command_words& command);
    // The last string of the server's next message (SUBSCRIBE, MONITOR).
    std::string receive();
    // Sends all commands at once and reads one reply for each.
    void pipeline(const std::vector<command_words>& commands);

    // For several connections at the same time: sends without waiting for the reply; and reads what
    // has arrived, and returns the number of complete replies.
    void send(const command_words& command);
    [[nodiscard]] int descriptor() const noexcept;
    int read_ready();

    // From INFO: one field of a section, and the calls of each command.
    std::string info(const std::string& section, const std::string& field);
    std::map<std::string, std::int64_t> calls_per_command();

private:
    struct close_context {
        void operator()(redisContext* context) const noexcept;
    };
    struct free_reply {
        void operator()(redisReply* reply) const noexcept;
    };
    using reply_ptr = std::unique_ptr<redisReply, free_reply>;
    reply_ptr command(const command_words& command);
    void append(const command_words& command);

    std::unique_ptr<redisContext, close_context> context_;
};

// Calls in `after` that were not in `before`.
std::map<std::string, std::int64_t> difference(const std::map<std::string, std::int64_t>& before,
                                               const std::map<std::string, std::int64_t>& after);

// Sees every command that the server executes, in order.
class monitor {
public:
    explicit monitor(std::uint16_t port);

    struct line {
        bool in_script = false;
        command_words command;
    };
    // The commands executed between two marks. A mark is an ECHO that this class sends.
    void mark();
    std::vector<line> until_mark();

private:
    hiredis_client monitoring_;
    hiredis_client marking_;
    int marks_ = 0;
};

// "EVALSHA acquire" for one of Pawl's scripts, otherwise the command's name in upper case.
std::string name_of(const command_words& command);

}  // namespace bench
