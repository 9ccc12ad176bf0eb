// What FD_CLOFORK would do, which Linux does not have.
#pragma once

#include <mutex>

namespace pawl::core {

// A descriptor that a fork of this process does not get: in the child its number is that of a
// socket without a peer. So whatever the child runs, it reads nothing that was meant for its
// parent, sends nothing in its name, and does not keep the connection of a dead parent open. It
// stays a socket, since Asio's notify_fork fails on a number that is closed.
class close_on_fork {
public:
    close_on_fork() noexcept = default;
    ~close_on_fork();
    close_on_fork(const close_on_fork&) = delete;
    close_on_fork& operator=(const close_on_fork&) = delete;

    // No fork comes while this lives. The descriptor is made and added, or forgotten and closed,
    // under one: its number is another file's soon.
    class no_fork {
    public:
        no_fork();

    private:
        std::unique_lock<std::mutex> lock_;
    };
    void add(int descriptor, const no_fork& now) noexcept;
    void forget(const no_fork& now) noexcept;

private:
    static void replace_all() noexcept;
    static const int watching_forks;

    int descriptor_ = -1;
    close_on_fork* next_ = nullptr;
    close_on_fork* previous_ = nullptr;
};

}  // namespace pawl::core
