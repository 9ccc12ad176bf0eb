// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "resp.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace support {

namespace {

constexpr std::string_view line_end = "\r\n";

std::int64_t to_number(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc() || end != text.data() + text.size())
        throw std::runtime_error("not a number in RESP: " + std::string(text.substr(0, 40)));
    return value;
}

bool is_text(char kind) { return kind == '$' || kind == '!' || kind == '='; }

bool is_aggregate(char kind) {
    return kind == '*' || kind == '>' || kind == '~' || kind == '%' || kind == '|';
}

std::int64_t items_in(char kind, std::int64_t announced) {
    return kind == '%' || kind == '|' ? announced * 2 : announced;
}

// Parses the first value into `parsed` if given. Returns its number of bytes, 0 when it is
// incomplete.
std::size_t scan(std::string_view bytes, resp_value* parsed) {
    const auto end = bytes.find(line_end);
    if (end == std::string_view::npos) return 0;
    const char kind = bytes.front();
    const std::string_view head = bytes.substr(1, end - 1);
    std::size_t used = end + line_end.size();
    if (parsed != nullptr) parsed->kind = kind;
    if (is_text(kind)) {
        const std::int64_t length = to_number(head);
        if (parsed != nullptr) parsed->is_null = length < 0;
        if (length < 0) return used;
        const auto size = static_cast<std::size_t>(length);
        if (bytes.size() < used + size + line_end.size()) return 0;
        if (parsed != nullptr) parsed->text = bytes.substr(used, size);
        return used + size + line_end.size();
    }
    if (!is_aggregate(kind)) {
        if (std::string_view("+-:_#,(").find(kind) == std::string_view::npos)
            throw std::runtime_error("not RESP: " + std::string(bytes.substr(0, 40)));
        if (parsed != nullptr) {
            parsed->text = head;
            parsed->is_null = kind == '_';
        }
        return used;
    }
    const std::int64_t count = items_in(kind, to_number(head));
    if (parsed != nullptr) parsed->is_null = count < 0;
    for (std::int64_t i = 0; i < count; ++i) {
        resp_value* item = parsed != nullptr ? &parsed->items.emplace_back() : nullptr;
        const std::size_t item_length = scan(bytes.substr(used), item);
        if (item_length == 0) return 0;
        used += item_length;
    }
    return used;
}

}  // namespace

std::size_t resp_length(std::string_view bytes) { return bytes.empty() ? 0 : scan(bytes, nullptr); }

resp_value parse_resp(std::string_view bytes) {
    resp_value result;
    if (bytes.empty() || scan(bytes, &result) == 0)
        throw std::runtime_error("RESP value is cut short");
    return result;
}

std::string encode_command(const command_words& words) {
    std::string result = "*" + std::to_string(words.size()) + "\r\n";
    for (const std::string& each : words)
        result += "$" + std::to_string(each.size()) + "\r\n" + each + "\r\n";
    return result;
}

int connect_to(const endpoint& target) {
    const bool is_local = !target.unix_socket.empty();
    const int descriptor = ::socket(is_local ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int status = -1;
    if (is_local) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        target.unix_socket.copy(address.sun_path, sizeof address.sun_path - 1);
        status = ::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    } else {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(target.port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        status = ::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address);
        const int enabled = 1;
        ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &enabled, sizeof enabled);
    }
    if (status == 0) return descriptor;
    ::close(descriptor);
    return -1;
}

int listen_on(std::uint16_t& port) {
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int enabled = 1;
    ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &enabled, sizeof enabled);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
        ::listen(descriptor, 128) != 0 ||
        ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
        ::close(descriptor);
        throw std::runtime_error("cannot listen on port " + std::to_string(port));
    }
    port = ntohs(address.sin_port);
    return descriptor;
}

std::uint16_t free_port() {
    std::uint16_t port = 0;
    ::close(listen_on(port));
    return port;
}

resp_client::resp_client(const endpoint& target, std::chrono::milliseconds timeout)
    : socket_(connect_to(target)), timeout_(timeout) {
    if (socket_ < 0) throw std::runtime_error("nothing listens there");
}

resp_client::~resp_client() {
    if (socket_ >= 0) ::close(socket_);
}

void resp_client::send(const command_words& words) {
    const std::string bytes = encode_command(words);
    if (::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(bytes.size()))
        throw std::runtime_error("the server closed the connection");
}

std::optional<resp_value> resp_client::receive(std::chrono::milliseconds timeout) {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    for (;;) {
        if (const std::size_t length = resp_length(pending_); length != 0) {
            resp_value result = parse_resp(pending_);
            pending_.erase(0, length);
            return result;
        }
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(
            deadline - std::chrono::steady_clock::now());
        pollfd ready{socket_, POLLIN, 0};
        if (::poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0))) <= 0)
            return std::nullopt;
        char buffer[16384];
        const auto count = ::recv(socket_, buffer, sizeof buffer, 0);
        if (count <= 0) throw std::runtime_error("the server closed the connection");
        pending_.append(buffer, static_cast<std::size_t>(count));
    }
}

resp_value resp_client::execute(const command_words& words) {
    send(words);
    auto reply = receive(timeout_);
    if (!reply) throw std::runtime_error("no reply to " + words.front());
    return std::move(*reply);
}

}  // namespace support
