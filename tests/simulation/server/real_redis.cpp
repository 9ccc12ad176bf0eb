// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "real_redis.hpp"

#include "replies.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <system_error>

namespace pawl::simulation {
namespace {

int check_system_call(int result, const char* call_name) {
    if (result < 0) throw std::system_error(errno, std::system_category(), call_name);
    return result;
}

}  // namespace

real_redis::real_redis() {
    auto name = (std::filesystem::temp_directory_path() / "pawl-cross-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::system_error(errno, std::system_category(), "mkdtemp");
    folder_ = name;
    clock_.freeze_at(1'900'000'000'000'000);
    start();
}

real_redis::~real_redis() {
    if (server_ > 0) {
        ::kill(server_, SIGKILL);
        ::waitpid(server_, nullptr, 0);
    }
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

void real_redis::become_server(int output) const {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(output, STDOUT_FILENO);
    for (const auto& [name, value] : clock_.environment())
        ::setenv(name.c_str(), value.c_str(), 1);
    ::execlp("redis-server", "redis-server", "--port", "0", "--unixsocket", socket_path().c_str(),
             "--save", "", "--appendonly", "no", "--dir", folder_.c_str(), nullptr);
    ::_exit(127);
}

void real_redis::start() {
    int output[2];
    check_system_call(::pipe2(output, O_CLOEXEC), "pipe2");
    server_ = check_system_call(::fork(), "fork");
    if (server_ == 0) become_server(output[1]);
    ::close(output[1]);
    std::string log;
    char part[512];
    while (log.find("ready to accept connections at") == log.npos) {
        const auto got = ::read(output[0], part, sizeof part);
        if (got <= 0) {
            ::close(output[0]);
            throw std::runtime_error("redis-server did not start. Is it installed? It said:\n" +
                                     log);
        }
        log.append(part, static_cast<std::size_t>(got));
    }
    // The server ignores SIGPIPE, so a log line that it cannot write does no harm.
    ::close(output[0]);
}

real_connection::real_connection(const std::string& socket_path) {
    socket_ = check_system_call(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket_path.copy(address.sun_path, sizeof address.sun_path - 1);
    check_system_call(
        ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), "connect");
    const timeval patience{10, 0};
    check_system_call(::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience),
                      "setsockopt");
}

real_connection::~real_connection() { ::close(socket_); }

void real_connection::queue(std::span<const std::string> words) {
    output_ += '*' + std::to_string(words.size()) + "\r\n";
    for (const auto& word : words)
        output_ += '$' + std::to_string(word.size()) + "\r\n" + word + "\r\n";
}

void real_connection::flush() {
    for (std::size_t sent = 0; sent < output_.size();) {
        const auto more =
            check_system_call(static_cast<int>(::send(socket_, output_.data() + sent,
                                                      output_.size() - sent, MSG_NOSIGNAL)),
                              "send");
        sent += static_cast<std::size_t>(more);
    }
    output_.clear();
}

void real_connection::read_more() {
    input_.erase(0, consumed_);
    consumed_ = 0;
    char part[65536];
    const auto got = ::recv(socket_, part, sizeof part, 0);
    if (got <= 0) throw std::runtime_error("the real server does not answer");
    input_.append(part, static_cast<std::size_t>(got));
}

std::string_view real_connection::read_line() {
    auto end = input_.find("\r\n", consumed_);
    while (end == input_.npos) {
        read_more();
        end = input_.find("\r\n", consumed_);
    }
    const std::string_view result = std::string_view(input_).substr(consumed_, end - consumed_);
    consumed_ = end + 2;
    return result;
}

std::string_view real_connection::read_bytes(std::size_t count) {
    while (input_.size() - consumed_ < count + 2)
        read_more();
    const std::string_view result = std::string_view(input_).substr(consumed_, count);
    consumed_ += count + 2;
    return result;
}

redis::reply real_connection::read() {
    const auto head = read_line();
    const char kind = head.at(0);
    const std::string rest(head.substr(1));
    switch (kind) {
    case '+': return string_reply(rest);
    case '-': return error_reply(rest);
    case ':': return integer_reply(std::stoll(rest));
    case '$':
        if (rest == "-1") return nil_reply();
        return string_reply(std::string(read_bytes(std::stoul(rest))));
    case '*': break;
    default: throw std::runtime_error("unexpected reply " + rest);
    }
    if (rest == "-1") return nil_reply();
    std::vector<redis::reply> items(std::stoul(rest));
    for (auto& item : items)
        item = read();
    return array_reply(std::move(items));
}

redis::reply real_connection::execute(std::span<const std::string> words) {
    queue(words);
    flush();
    return read();
}

}  // namespace pawl::simulation
