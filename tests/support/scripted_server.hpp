// A server that answers as a test says: for what a real one cannot be made to do.
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

// One connection, on a thread of its own.
class conversation {
public:
    explicit conversation(int socket) noexcept : socket_(socket) {}
    conversation(const conversation&) = delete;
    conversation& operator=(const conversation&) = delete;

    // The next command; empty when the client has gone.
    std::optional<command_words> receive();
    // Whether the client's end was a reset of the connection.
    [[nodiscard]] bool was_reset() const noexcept { return was_reset_; }
    // False when the client has gone.
    bool send(std::string_view bytes);
    // `unit` again and again, until the client goes, or that many bytes were sent.
    bool flood(std::string_view unit, std::size_t most);
    // Answers as Redis does until the first command that is not of a handshake, which it returns.
    std::optional<command_words> greet();

private:
    int socket_;
    std::string unread_;
    bool was_reset_ = false;
};

class scripted_server {
public:
    explicit scripted_server(std::function<void(conversation&)> script);
    ~scripted_server();
    scripted_server(const scripted_server&) = delete;
    scripted_server& operator=(const scripted_server&) = delete;

    [[nodiscard]] std::string url(const std::string& more = {}) const;
    [[nodiscard]] std::size_t connections() const noexcept { return connections_; }

private:
    void accept_all();
    void serve(int socket);

    std::function<void(conversation&)> script_;
    std::uint16_t port_ = 0;
    int listener_;
    std::atomic<std::size_t> connections_ = 0;
    std::mutex guard_;
    std::set<int> open_;
    std::vector<std::jthread> serving_;
    std::jthread accepting_;
};

}  // namespace support
