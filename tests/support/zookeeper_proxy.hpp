// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A proxy before a port of ZooKeeper. For clients, it reads their requests and injects faults; for
// the servers of an ensemble, it passes or holds all bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace support {

enum class zookeeper_fault_kind {
    lose_request,  // it never arrives; the connection is cut
    lose_reply,    // it is carried out; the connection is cut before a byte of the reply
    swallow        // from then on nothing passes either way; the connection stays open
};

struct zookeeper_fault {
    int operation = 0;  // of the next request to which it happens: 15 create, 2 delete, 9 sync …
    zookeeper_fault_kind kind = zookeeper_fault_kind::lose_reply;
};

// Runs in a thread of its own. Thread-safe.
class zookeeper_proxy {
public:
    // `reads_requests`: false between servers.
    explicit zookeeper_proxy(std::uint16_t server_port, bool reads_requests = true);
    ~zookeeper_proxy();
    zookeeper_proxy(const zookeeper_proxy&) = delete;
    zookeeper_proxy& operator=(const zookeeper_proxy&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept;

    void inject(zookeeper_fault injected);
    // The number of faults so far.
    [[nodiscard]] std::size_t strike_count() const;
    // The requests of this operation so far.
    [[nodiscard]] std::size_t count(int operation) const;
    void kill_connections();
    // Nothing passes in either direction, everything stays open; new connections wait.
    void freeze(bool frozen);

private:
    class engine;
    std::shared_ptr<engine> engine_;
};

}  // namespace support
