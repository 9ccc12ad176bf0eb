// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A real redis-server with a wall clock that the test moves, and a blocking connection to it.
#pragma once

#include <redis/transport/link.hpp>
#include <support/moved_clock.hpp>

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace pawl::simulation {

// The server runs in a temporary folder on a unix socket. The destructor kills the
// server and removes the folder.
class real_redis {
public:
    real_redis();
    real_redis(const real_redis&) = delete;
    real_redis& operator=(const real_redis&) = delete;
    ~real_redis();

    void set_clock(std::int64_t us) { clock_.freeze_at(us); }
    [[nodiscard]] std::string socket_path() const { return folder_ / "redis.sock"; }

private:
    void start();
    [[noreturn]] void become_server(int output) const;

    std::filesystem::path folder_;
    support::moved_clock clock_;
    pid_t server_ = -1;
};

// Pipelines: send any number of commands, then read as many replies. Throws std::runtime_error,
// also if no reply arrives within ten seconds.
class real_connection {
public:
    explicit real_connection(const std::string& socket_path);
    real_connection(const real_connection&) = delete;
    real_connection& operator=(const real_connection&) = delete;
    ~real_connection();

    void queue(std::span<const std::string> words);
    void flush();
    redis::reply read();
    redis::reply execute(std::span<const std::string> words);

private:
    std::string_view read_line();
    std::string_view read_bytes(std::size_t count);
    void read_more();

    int socket_ = -1;
    std::string output_;
    std::string input_;
    std::size_t consumed_ = 0;
};

}  // namespace pawl::simulation
