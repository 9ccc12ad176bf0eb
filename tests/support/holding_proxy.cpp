// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "holding_proxy.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <vector>

namespace support {
namespace {

sockaddr_in local_address(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

bool send_all(int socket, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

}  // namespace

holding_proxy::holding_proxy(std::uint16_t upstream) : upstream_(upstream) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto address = local_address(0);
    socklen_t size = sizeof address;
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::listen(listener_, 64) != 0 ||
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
        throw std::runtime_error("a proxy cannot listen");
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { run(); });
}

holding_proxy::~holding_proxy() {
    is_stopped_ = true;
    thread_.join();
    kill_connections();
    ::close(listener_);
}

void holding_proxy::close_pair(pair& connection) noexcept {
    if (connection.client >= 0) ::close(connection.client);
    if (connection.server >= 0) ::close(connection.server);
    connection.client = connection.server = -1;
}

void holding_proxy::hold() {
    const std::lock_guard lock(mutex_);
    for (auto& each : pairs_)
        each.is_held = true;
}

void holding_proxy::deliver() {
    const std::lock_guard lock(mutex_);
    for (auto& each : pairs_) {
        if (!each.is_held) continue;
        send_all(each.server, each.kept);
        each.kept.clear();
        each.is_held = false;
    }
}

void holding_proxy::kill_connections() {
    const std::lock_guard lock(mutex_);
    for (auto& each : pairs_)
        close_pair(each);
    pairs_.clear();
}

std::size_t holding_proxy::kept_bytes() const {
    const std::lock_guard lock(mutex_);
    std::size_t size = 0;
    for (const auto& each : pairs_)
        size += each.kept.size();
    return size;
}

void holding_proxy::accept_one() {
    pair connection;
    connection.client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    connection.server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto address = local_address(upstream_);
    if (::connect(connection.server, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
        return close_pair(connection);
    ++accepted_;
    pairs_.push_back(connection);
}

// A client that has gone is remembered while its bytes are held.
bool holding_proxy::move_bytes(pair& connection, bool from_client) {
    std::array<char, 16384> buffer{};
    int& source = from_client ? connection.client : connection.server;
    const auto count = ::recv(source, buffer.data(), buffer.size(), 0);
    if (count <= 0) {
        if (!from_client || !connection.is_held) return false;
        ::close(source);
        source = -1;
        return true;
    }
    const std::string_view bytes(buffer.data(), static_cast<std::size_t>(count));
    if (connection.is_held) {
        if (from_client && !is_sealed_) connection.kept += bytes;
        return true;
    }
    const int target = from_client ? connection.server : connection.client;
    return target < 0 || send_all(target, bytes);
}

void holding_proxy::run() {
    while (!is_stopped_) {
        std::vector<pollfd> polled;
        if (!is_frozen_) polled.push_back({listener_, POLLIN, 0});
        {
            const std::lock_guard lock(mutex_);
            if (!is_frozen_)
                for (const auto& each : pairs_)
                    for (const int socket : {each.client, each.server})
                        if (socket >= 0) polled.push_back({socket, POLLIN, 0});
        }
        ::poll(polled.data(), polled.size(), 10);
        const std::lock_guard lock(mutex_);
        if (is_frozen_) continue;
        for (const auto& each : polled) {
            if (each.revents == 0) continue;
            if (each.fd == listener_) {
                accept_one();
                continue;
            }
            for (auto at = pairs_.begin(); at != pairs_.end(); ++at) {
                if (at->client != each.fd && at->server != each.fd) continue;
                if (!move_bytes(*at, at->client == each.fd)) {
                    close_pair(*at);
                    pairs_.erase(at);
                }
                break;
            }
        }
    }
}

}  // namespace support
