// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Just enough of the Redis protocol to watch a connection and to send commands in a test.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace support {

using command_words = std::vector<std::string>;

// One value of RESP2 or RESP3. `kind` is its first byte; the text of strings, numbers and errors is
// in `text`, elements (of maps: key, value, key …) in `items`.
struct resp_value {
    char kind = '_';
    bool is_null = false;
    std::string text;
    std::vector<resp_value> items;

    [[nodiscard]] bool is_error() const noexcept { return kind == '-' || kind == '!'; }
    [[nodiscard]] std::int64_t number() const { return std::stoll(text); }
};

// The number of bytes of the first value in `bytes`; 0 when it is incomplete. Throws
// std::runtime_error if it is not RESP.
[[nodiscard]] std::size_t resp_length(std::string_view bytes);
// The first value, which must be complete.
[[nodiscard]] resp_value parse_resp(std::string_view bytes);

[[nodiscard]] std::string encode_command(const command_words& words);

struct endpoint {
    std::uint16_t port = 0;
    std::string unix_socket;  // used instead of the port if given
};

// A connected socket to this host, close-on-exec; -1 when nothing listens there.
[[nodiscard]] int connect_to(const endpoint& target);
// A listening socket on the loopback interface. With 0 it uses a free port, and sets `port`.
[[nodiscard]] int listen_on(std::uint16_t& port);
// A port of the loopback interface on which nothing listens now.
[[nodiscard]] std::uint16_t free_port();

// A blocking client. Not thread-safe.
class resp_client {
public:
    // Throws std::runtime_error when nothing listens there.
    explicit resp_client(const endpoint& target,
                         std::chrono::milliseconds timeout = std::chrono::seconds(10));
    resp_client(const resp_client&) = delete;
    resp_client& operator=(const resp_client&) = delete;
    ~resp_client();

    void send(const command_words& words);
    // The next value, a push or a reply; empty when none comes in time. Throws when the connection
    // ends.
    std::optional<resp_value> receive(std::chrono::milliseconds timeout);
    // Throws std::runtime_error when no reply comes.
    resp_value execute(const command_words& words);

private:
    int socket_ = -1;
    std::chrono::milliseconds timeout_;
    std::string pending_;
};

}  // namespace support
