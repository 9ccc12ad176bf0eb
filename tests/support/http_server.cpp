// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "http_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <stdexcept>
#include <utility>

namespace support {

namespace {

// Appends what comes next; false at the end.
bool receive_more(int socket, std::string& buffer) {
    std::array<char, 4096> bytes;
    const auto size = ::recv(socket, bytes.data(), bytes.size(), 0);
    if (size <= 0) return false;
    buffer.append(bytes.data(), static_cast<std::size_t>(size));
    return true;
}

std::size_t content_length(std::string head) {
    for (auto& c : head)
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const auto position = head.find("content-length:");
    return position == std::string::npos ? 0 : std::stoul(head.substr(position + 15));
}

std::optional<http_request> receive_request(int socket, std::string& buffer) {
    std::size_t end = 0;
    while ((end = buffer.find("\r\n\r\n")) == std::string::npos)
        if (!receive_more(socket, buffer)) return std::nullopt;
    http_request received;
    received.head = buffer.substr(0, end);
    const auto size = content_length(received.head);
    while (buffer.size() < end + 4 + size)
        if (!receive_more(socket, buffer)) return std::nullopt;
    received.body = buffer.substr(end + 4, size);
    buffer.erase(0, end + 4 + size);
    const auto first_space = received.head.find(' ');
    const auto second_space = received.head.find(' ', first_space + 1);
    received.method = received.head.substr(0, first_space);
    received.target = received.head.substr(first_space + 1, second_space - first_space - 1);
    return received;
}

bool send_answer(int socket, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

}  // namespace

std::string http_answer(unsigned status, const std::string& body, const std::string& more_headers) {
    return "HTTP/1.1 " + std::to_string(status) + " Words\r\n" + more_headers +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

http_server::http_server(script answers)
    : script_(std::move(answers)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof place;
    auto* const generic = reinterpret_cast<sockaddr*>(&place);
    if (::bind(listener_, generic, size) != 0 || ::listen(listener_, 64) != 0 ||
        ::getsockname(listener_, generic, &size) != 0)
        throw std::runtime_error("no port for a scripted server");
    port_ = ntohs(place.sin_port);
    accept_thread_ = std::jthread([this] { accept_all(); });
}

http_server::~http_server() {
    ::shutdown(listener_, SHUT_RDWR);
    accept_thread_.join();
    end_connections();
    connection_threads_.clear();
    ::close(listener_);
}

void http_server::accept_all() {
    for (;;) {
        const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (socket < 0) return;
        ++connections_;
        const std::scoped_lock lock(mutex_);
        open_sockets_.insert(socket);
        connection_threads_.emplace_back([this, socket] { serve(socket); });
    }
}

void http_server::serve(int socket) {
    std::string buffer;
    while (const auto received = receive_request(socket, buffer)) {
        ++requests_;
        const auto answer = script_(*received);
        if (answer.empty() || !send_answer(socket, answer)) break;
    }
    const std::scoped_lock lock(mutex_);
    open_sockets_.erase(socket);
    ::close(socket);
}

std::size_t http_server::open_connections() {
    const std::scoped_lock lock(mutex_);
    return open_sockets_.size();
}

void http_server::end_connections() {
    const std::scoped_lock lock(mutex_);
    for (const int each : open_sockets_)
        ::shutdown(each, SHUT_RDWR);
}

}  // namespace support
