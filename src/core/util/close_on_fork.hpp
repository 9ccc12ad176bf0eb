// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The effect of FD_CLOFORK, which Linux does not have.
#pragma once

#include <mutex>

namespace pawl::core {

// A descriptor that a fork of this process does not inherit: in the child, its number is a socket
// without a peer. So the child reads nothing that was sent to its parent, sends nothing in the
// parent's name, and does not keep the connection of a dead parent open. The number stays a socket,
// since Asio's notify_fork fails on a closed number.
class close_on_fork {
public:
    close_on_fork() noexcept = default;
    ~close_on_fork();
    close_on_fork(const close_on_fork&) = delete;
    close_on_fork& operator=(const close_on_fork&) = delete;

    // Prevents forks while it exists. Make and add a descriptor under one no_fork, and forget and
    // close it under one: after the close, the number may belong to another file.
    class no_fork {
    public:
        no_fork();

    private:
        std::unique_lock<std::mutex> lock_;
    };
    void add(int descriptor, const no_fork& guard) noexcept;
    void forget(const no_fork& guard) noexcept;

private:
    static void replace_all() noexcept;
    static const int fork_handlers;

    int descriptor_ = -1;
    close_on_fork* next_ = nullptr;
    close_on_fork* previous_ = nullptr;
};

}  // namespace pawl::core
