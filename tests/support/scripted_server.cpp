// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "scripted_server.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace support {

std::string handshake_reply(const command_words& words) {
    static const std::string info =
        "# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\nrun_id:0123456789abcdef\r\n";
    const auto& name = words.front();
    if (name == "HELLO") return "%1\r\n+proto\r\n:3\r\n";
    if (name == "SELECT" || name == "CLIENT") return "+OK\r\n";
    if (name == "INFO") return "$" + std::to_string(info.size()) + "\r\n" + info + "\r\n";
    if (name == "TIME") return "*2\r\n$10\r\n1800000000\r\n$1\r\n0\r\n";
    if (name == "SUBSCRIBE")
        return ">3\r\n+subscribe\r\n$" + std::to_string(words[1].size()) + "\r\n" + words[1] +
               "\r\n:1\r\n";
    if (name == "PING") return "+PONG\r\n";
    return {};
}

std::optional<command_words> scripted_connection::receive() {
    std::size_t size = resp_length(unread_);
    while (size == 0) {
        std::array<char, 4096> buffer;
        const auto count = ::recv(socket_, buffer.data(), buffer.size(), 0);
        was_reset_ = count < 0 && errno == ECONNRESET;
        if (count <= 0) return std::nullopt;
        unread_.append(buffer.data(), static_cast<std::size_t>(count));
        size = resp_length(unread_);
    }
    command_words words;
    for (auto& each : parse_resp(unread_.substr(0, size)).items)
        words.push_back(std::move(each.text));
    unread_.erase(0, size);
    return words;
}

bool scripted_connection::send(std::string_view bytes) {
    while (!bytes.empty()) {
        const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

void scripted_connection::send_last(std::string_view bytes) {
    (void)::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_MORE);
}

bool scripted_connection::flood(std::string_view chunk, std::size_t limit) {
    std::string block;
    while (block.size() < 64 << 10)
        block += chunk;
    for (std::size_t sent = 0; sent < limit; sent += block.size()) {
        if (!send(block)) return false;
    }
    return true;
}

std::optional<command_words> scripted_connection::complete_handshake() {
    for (auto words = receive(); words; words = receive()) {
        const auto reply = handshake_reply(*words);
        if (reply.empty()) return words;
        if (!send(reply)) return std::nullopt;
    }
    return std::nullopt;
}

scripted_server::scripted_server(std::function<void(scripted_connection&)> script)
    : script_(std::move(script)),
      listener_(listen_on(port_)),
      accept_thread_([this] { accept_all(); }) {}

scripted_server::~scripted_server() {
    ::shutdown(listener_, SHUT_RDWR);
    accept_thread_.join();
    {
        const std::lock_guard lock(mutex_);
        for (const int each : open_sockets_)
            ::shutdown(each, SHUT_RDWR);
    }
    connection_threads_.clear();
    ::close(listener_);
}

std::string scripted_server::url(const std::string& more) const {
    return "redis://127.0.0.1:" + std::to_string(port_) + more;
}

void scripted_server::accept_all() {
    for (int socket = ::accept(listener_, nullptr, nullptr); socket >= 0;
         socket = ::accept(listener_, nullptr, nullptr)) {
        ++connections_;
        const std::lock_guard lock(mutex_);
        open_sockets_.insert(socket);
        connection_threads_.emplace_back([this, socket] { run_script(socket); });
    }
}

void scripted_server::run_script(int socket) {
    scripted_connection connection(socket);
    script_(connection);
    const std::lock_guard lock(mutex_);
    open_sockets_.erase(socket);
    ::close(socket);
}

}  // namespace support
