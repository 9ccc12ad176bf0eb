// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "process.hpp"

#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace support {

namespace {

using namespace std::chrono_literals;

[[noreturn]] void fail(const char* action) {
    throw std::system_error(errno, std::generic_category(), action);
}

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

bool answers(std::uint16_t port, std::string_view command) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = loopback(port);
    std::array<char, 16> reply{};
    const bool ok =
        ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
        ::write(fd, command.data(), command.size()) == static_cast<ssize_t>(command.size()) &&
        ::read(fd, reply.data(), reply.size()) > 0 && reply[0] == '+';
    ::close(fd);
    return ok;
}

}  // namespace

std::uint16_t unused_port() {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    const bool ok = fd >= 0 && ::bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                    ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
    if (!ok) {
        fail("looking for a free port");
    }
    ::close(fd);
    return ntohs(address.sin_port);
}

child::child(const std::string& program, std::vector<std::string> arguments) {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) {
        fail("making a pipe");
    }
    std::vector<char*> argv{const_cast<char*>(program.c_str())};
    for (std::string& each : arguments) {
        argv.push_back(each.data());
    }
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::dup2(in[0], STDIN_FILENO);
        ::dup2(out[1], STDOUT_FILENO);
        ::execvp(argv[0], argv.data());
        ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    in_ = in[1];
    out_ = out[0];
    if (pid_ < 0) {
        fail("starting a process");
    }
}

child::child(child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      in_(std::exchange(other.in_, -1)),
      out_(std::exchange(other.out_, -1)) {}

child& child::operator=(child&& other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(in_, other.in_);
    std::swap(out_, other.out_);
    return *this;
}

child::~child() {
    if (pid_ > 0) {
        ::kill(pid_, SIGKILL);
        wait();
    }
    if (in_ >= 0) {
        ::close(in_);
        ::close(out_);
    }
}

bool child::running() const noexcept {
    siginfo_t info{};
    return pid_ > 0 &&
           ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == 0;
}

void child::signal(int number) const noexcept {
    if (pid_ > 0) ::kill(pid_, number);
}

bool child::wait_stopped() const noexcept {
    siginfo_t info{};
    while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WSTOPPED | WNOWAIT) < 0 &&
           errno == EINTR) {}
    return info.si_code == CLD_STOPPED;
}

void child::write_line(const std::string& line) const {
    const std::string text = line + '\n';
    if (::write(in_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
        fail("writing to a process");
    }
}

int child::wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {}
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

temporary_folder::temporary_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "pawl-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
        fail("making a temporary folder");
    }
    path_ = name;
}

temporary_folder::~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

// Another program may take the port before the server does. Then the server ends at once, and
// another port is tried.
private_redis::private_redis(const std::filesystem::path& folder) {
    for (int attempt = 0; attempt < 5; ++attempt) {
        port_ = unused_port();
        server_ =
            child("redis-server", {"--port", std::to_string(port_), "--bind", "127.0.0.1", "--save",
                                   "", "--appendonly", "no", "--dir", folder.string(), "--logfile",
                                   (folder / "redis.log").string()});
        const auto give_up = std::chrono::steady_clock::now() + 10s;
        while (server_.running() && std::chrono::steady_clock::now() < give_up) {
            if (answers(port_, "PING\r\n")) {
                return;
            }
            std::this_thread::sleep_for(10ms);
        }
        if (!server_.running() && server_.wait() == 127) {
            throw std::runtime_error(
                "There is no redis-server here: install the package redis-server.");
        }
        server_ = child();
    }
    throw std::runtime_error("redis-server does not start: see what `redis-server --port 0` says.");
}

void private_redis::empty() const {
    if (!answers(port_, "FLUSHALL\r\n"))
        throw std::runtime_error("The Redis server at " + url() + " does not answer.");
}

}  // namespace support
