// A real redis-server whose wall clock the test moves, and a blocking connection to it.
#pragma once

#include <redis/link.hpp>
#include <support/moved_clock.hpp>

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace pawl::simulation {

// Starts in its own temporary folder, on a unix socket; stopped and removed by the destructor.
class real_redis {
public:
    real_redis();
    real_redis(const real_redis&) = delete;
    real_redis& operator=(const real_redis&) = delete;
    ~real_redis();

    void set_clock(std::int64_t us) { clock_.stand_at(us); }
    [[nodiscard]] std::string socket_path() const { return folder_ / "redis.sock"; }

private:
    void start();
    [[noreturn]] void become_server(int output) const;

    std::filesystem::path folder_;
    support::moved_clock clock_;
    pid_t server_ = -1;
};

// Pipelines: send any number of commands, then read as many replies. Throws std::runtime_error,
// also when no answer comes for ten seconds.
class real_connection {
public:
    explicit real_connection(const std::string& socket_path);
    real_connection(const real_connection&) = delete;
    real_connection& operator=(const real_connection&) = delete;
    ~real_connection();

    void queue(std::span<const std::string> words);
    void flush();
    redis::reply read();
    redis::reply ask(std::span<const std::string> words);

private:
    std::string_view line();
    std::string_view bytes(std::size_t count);
    void more();

    int socket_ = -1;
    std::string out_;
    std::string in_;
    std::size_t read_ = 0;
};

}  // namespace pawl::simulation
