// Just enough of the Redis protocol to watch a connection and to ask a server in a test.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace support {

using command_words = std::vector<std::string>;

// One value of RESP2 or RESP3. `kind` is the byte that began it; text of strings, numbers and
// errors is in `text`, elements (of maps: key, value, key …) in `items`.
struct resp_value {
    char kind = '_';
    bool null = false;
    std::string text;
    std::vector<resp_value> items;

    [[nodiscard]] bool is_error() const noexcept { return kind == '-' || kind == '!'; }
    [[nodiscard]] std::int64_t number() const { return std::stoll(text); }
};

// How many bytes the first whole value in `bytes` takes; 0 when it is not yet whole. Throws
// std::runtime_error for what is no RESP.
[[nodiscard]] std::size_t resp_length(std::string_view bytes);
// The first value, which must be whole.
[[nodiscard]] resp_value parse_resp(std::string_view bytes);

[[nodiscard]] std::string encode_command(const command_words& words);

struct endpoint {
    std::uint16_t port = 0;
    std::string unix_socket;  // used instead of the port when given
};

// A connected socket to this host, close-on-exec; -1 when nobody listens.
[[nodiscard]] int connect_to(const endpoint& where);
// A listening socket on the loopback; with 0, on a free port, which it says in `port`.
[[nodiscard]] int listen_on(std::uint16_t& port);

// A blocking client. Not thread-safe.
class resp_client {
public:
    // Throws std::runtime_error when nobody listens.
    explicit resp_client(const endpoint& where,
                         std::chrono::milliseconds patience = std::chrono::seconds(10));
    resp_client(const resp_client&) = delete;
    resp_client& operator=(const resp_client&) = delete;
    ~resp_client();

    void send(const command_words& words);
    // The next value, a push or a reply; empty when there is none in time. Throws when the
    // connection ends.
    std::optional<resp_value> receive(std::chrono::milliseconds bound);
    // Throws std::runtime_error when no answer comes.
    resp_value ask(const command_words& words);

private:
    int socket_ = -1;
    std::chrono::milliseconds patience_;
    std::string pending_;
};

}  // namespace support
