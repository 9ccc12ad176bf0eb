#include "scripted_server.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace support {
namespace {

std::string answer_to(const command_words& words) {
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

}  // namespace

std::optional<command_words> conversation::receive() {
    std::size_t size = resp_length(unread_);
    while (size == 0) {
        std::array<char, 4096> some;
        const auto got = ::recv(socket_, some.data(), some.size(), 0);
        was_reset_ = got < 0 && errno == ECONNRESET;
        if (got <= 0) return std::nullopt;
        unread_.append(some.data(), static_cast<std::size_t>(got));
        size = resp_length(unread_);
    }
    command_words words;
    for (auto& each : parse_resp(unread_.substr(0, size)).items)
        words.push_back(std::move(each.text));
    unread_.erase(0, size);
    return words;
}

bool conversation::send(std::string_view bytes) {
    while (!bytes.empty()) {
        const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

bool conversation::flood(std::string_view unit, std::size_t most) {
    std::string block;
    while (block.size() < 64 << 10)
        block += unit;
    for (std::size_t sent = 0; sent < most; sent += block.size()) {
        if (!send(block)) return false;
    }
    return true;
}

std::optional<command_words> conversation::greet() {
    for (auto words = receive(); words; words = receive()) {
        const auto answer = answer_to(*words);
        if (answer.empty()) return words;
        if (!send(answer)) return std::nullopt;
    }
    return std::nullopt;
}

scripted_server::scripted_server(std::function<void(conversation&)> script)
    : script_(std::move(script)),
      listener_(listen_on(port_)),
      accepting_([this] { accept_all(); }) {}

scripted_server::~scripted_server() {
    ::shutdown(listener_, SHUT_RDWR);
    accepting_.join();
    {
        const std::lock_guard lock(guard_);
        for (const int each : open_)
            ::shutdown(each, SHUT_RDWR);
    }
    serving_.clear();
    ::close(listener_);
}

std::string scripted_server::url(const std::string& more) const {
    return "redis://127.0.0.1:" + std::to_string(port_) + more;
}

void scripted_server::accept_all() {
    for (int one = ::accept(listener_, nullptr, nullptr); one >= 0;
         one = ::accept(listener_, nullptr, nullptr)) {
        ++connections_;
        const std::lock_guard lock(guard_);
        open_.insert(one);
        serving_.emplace_back([this, one] { serve(one); });
    }
}

void scripted_server::serve(int socket) {
    conversation with(socket);
    script_(with);
    const std::lock_guard lock(guard_);
    open_.erase(socket);
    ::close(socket);
}

}  // namespace support
