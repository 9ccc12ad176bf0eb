// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Child processes with pipes, temporary folders, and a private Redis server.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace support {

// A child process with pipes to its standard input and output. The destructor kills it and waits.
class child {
public:
    child() = default;
    child(const std::string& program, std::vector<std::string> arguments);
    child(child&& other) noexcept;
    child& operator=(child&& other) noexcept;
    ~child();

    [[nodiscard]] int output() const noexcept { return out_; }
    [[nodiscard]] bool running() const noexcept;
    void signal(int number) const noexcept;
    // Waits until the child has stopped itself with SIGSTOP. False: it has ended instead.
    [[nodiscard]] bool wait_stopped() const noexcept;
    void write_line(const std::string& line) const;
    // Waits for the end. Returns the exit status, or 128 + the signal that killed the child.
    int wait();

private:
    pid_t pid_ = -1;
    int in_ = -1;
    int out_ = -1;
};

// A port of 127.0.0.1 on which nobody listens now.
[[nodiscard]] std::uint16_t unused_port();

// A folder in the system's folder for temporary files. The destructor removes it.
class temporary_folder {
public:
    temporary_folder();
    ~temporary_folder();
    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
};

// redis-server on a free loopback port, without persistence. Throws std::runtime_error if it does
// not start. The destructor kills it.
class private_redis {
public:
    explicit private_redis(const std::filesystem::path& folder);
    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }
    // FLUSHALL: the server forgets all locks.
    void empty() const;

private:
    std::uint16_t port_ = 0;
    child server_;
};

}  // namespace support
