// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A server whose replies a test scripts, for behaviour that a real server cannot show.
#pragma once

#include "resp.hpp"

#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace support {

// The reply to an acquire in a single server, when the lock is held for another second.
inline constexpr std::string_view lock_is_busy = "*2\r\n:0\r\n:1000\r\n";

// The reply of Redis to a command of a handshake; empty for other commands.
[[nodiscard]] std::string handshake_reply(const command_words& words);

// One connection, on a thread of its own.
class scripted_connection {
public:
    explicit scripted_connection(int socket) noexcept : socket_(socket) {}
    scripted_connection(const scripted_connection&) = delete;
    scripted_connection& operator=(const scripted_connection&) = delete;

    // The next command; empty when the client has gone.
    std::optional<command_words> receive();
    // Whether the client ended the connection with a reset.
    [[nodiscard]] bool was_reset() const noexcept { return was_reset_; }
    // False when the client has gone.
    bool send(std::string_view bytes);
    // The bytes arrive together with the end of the connection, when the script returns.
    void send_last(std::string_view bytes);
    // Sends `chunk` again and again, until `limit` bytes or a little more were sent, or the client
    // has gone: then it returns false.
    bool flood(std::string_view chunk, std::size_t limit);
    // Replies as Redis does until the first command that is not part of a handshake, and returns
    // that command.
    std::optional<command_words> complete_handshake();

private:
    int socket_;
    std::string unread_;
    bool was_reset_ = false;
};

class scripted_server {
public:
    explicit scripted_server(std::function<void(scripted_connection&)> script);
    ~scripted_server();
    scripted_server(const scripted_server&) = delete;
    scripted_server& operator=(const scripted_server&) = delete;

    [[nodiscard]] std::string url(const std::string& more = {}) const;
    // All that were ever accepted.
    [[nodiscard]] std::size_t connections() const noexcept { return connections_; }

private:
    void accept_all();
    void run_script(int socket);

    std::function<void(scripted_connection&)> script_;
    std::uint16_t port_ = 0;
    int listener_;
    std::atomic<std::size_t> connections_ = 0;
    std::mutex mutex_;
    std::set<int> open_sockets_;
    std::vector<std::jthread> connection_threads_;
    std::jthread accept_thread_;
};

}  // namespace support
