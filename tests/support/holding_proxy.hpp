// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A TCP proxy that knows no protocol, and can hold back what clients have sent: also until after
// they have gone.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <thread>

namespace support {

// Runs in a thread of its own. Thread-safe.
class holding_proxy {
public:
    // To 127.0.0.1:`upstream`.
    explicit holding_proxy(std::uint16_t upstream);
    ~holding_proxy();
    holding_proxy(const holding_proxy&) = delete;
    holding_proxy& operator=(const holding_proxy&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    // From now on nothing passes on the connections that are open now, in either direction. What
    // clients send is kept.
    void hold();
    // What those clients send from now on is lost, such as the word that a request is cancelled.
    void seal() { is_sealed_ = true; }
    // The server gets what was kept, also if the client has gone.
    void deliver();
    // New connections wait, too.
    void freeze(bool is_frozen) { is_frozen_ = is_frozen; }
    void kill_connections();
    [[nodiscard]] std::size_t kept_bytes() const;
    [[nodiscard]] std::size_t connections_ever() const noexcept { return accepted_; }

private:
    struct pair {
        int client = -1, server = -1;
        bool is_held = false;
        std::string kept{};
    };

    void run();
    void accept_one();
    // False: the connection is over.
    bool move_bytes(pair& connection, bool from_client);
    static void close_pair(pair& connection) noexcept;

    const std::uint16_t upstream_;
    int listener_ = -1;
    std::uint16_t port_ = 0;
    std::atomic<bool> is_stopped_ = false, is_frozen_ = false, is_sealed_ = false;
    std::atomic<std::size_t> accepted_ = 0;
    mutable std::mutex mutex_;
    std::list<pair> pairs_;
    std::thread thread_;
};

}  // namespace support
