// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The settings of a client, in the sync and the async API.
#pragma once

#include <pawl/types.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace pawl::spi {
class runtime;
}

namespace pawl {

// The settings of one client. Each has a default.
struct client_options {
    // The holder's command in `lock_info` and `pawl status`. Empty: the program's name, from
    // /proc/self/comm.
    std::string command{};
    // The holder's process in `lock_info` and `pawl status`. 0: this process.
    std::int64_t pid = 0;
    // How long closing the client waits for releases, and for the undo of cancelled acquires. Less
    // than the service's reply timeout, 5 s on Redis, can leave a lock to its ttl.
    duration drain = std::chrono::seconds(5);
    // How long an attempt may take that does not wait: each try, and an acquire with a `wait` of 0.
    // Afterwards it fails with errc::unreachable; on Redlock, errc::no_quorum. 10 ms to 10 minutes.
    // On Redis it is no longer than the reply timeout, after which the connection counts as dead.
    duration try_limit = std::chrono::seconds(1);
    // Receives one line for each reconnect, retry and loss, never with a password. Called from any
    // thread; it must not throw or block.
    std::function<void(std::string_view)> log{};
    // For tests: the source of time and random numbers, which must outlive the client and its
    // handles. Null: the real one.
    spi::runtime* time = nullptr;
};

}  // namespace pawl
