// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Locks in ZooKeeper (3.5 or later), which Curator's recipes can share:
// docs/backends/zookeeper.md.
#pragma once

#include <pawl/service.hpp>
#include <pawl/tls.hpp>
#include <pawl/types.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::zookeeper {

// One server.
struct server {
    std::string host = "127.0.0.1";  // a name or a numeric address
    std::uint16_t port = 2181;       // clientPort, or secureClientPort with TLS
};

// What the nodes of a lock are, for programs that share it with other libraries. All programs that
// use a lock must agree on it.
enum class lock_object : std::uint8_t {
    read_write_lock,  // as Curator's InterProcessReadWriteLock; with permits of Pawl beside it
    mutex,            // as Curator's InterProcessMutex and LeaderSelector; exclusive only
    leader_latch      // as Curator's LeaderLatch; exclusive only
};

// Where the locks are, and how to reach them.
struct options {
    // Servers of one ensemble. A client uses one of them at a time. 1 to 16.
    std::vector<server> servers{server()};
    // The node below which the locks are, such as "/app/locks": a lock NAME is at ROOT/NAME. It
    // must exist, except for "/pawl", which the first use makes.
    std::string root = "/pawl";
    // True: the first use makes a missing root, with the nodes above it.
    bool make_root = false;
    // A login of ZooKeeper's scheme "digest". New nodes then belong to it, and nobody else may
    // read or change them: all users of a lock need the same login. Empty: everybody may.
    std::string user{};
    std::string password{};
    // A regular file whose first line is the password. Not readable by everybody, unless it is
    // mounted read-only. Read again for each new connection.
    std::string password_file{};
    tls_options tls{};  // off by default
    // The nodes of the locks.
    lock_object object = lock_object::read_write_lock;
    // The setting tickTime of the servers, or more: 10 ms to 1 min. The least ttl is one tick. A
    // value that is too small can end a session earlier than its client believes; `pawl doctor`
    // compares them.
    duration tick = std::chrono::seconds(2);
    // The setting maxSessionTimeout of the servers; 0: 20 ticks, the server's default. The longest
    // ttl is two ticks below it. At most 24 h.
    duration longest_session{};
    // For one server: the look-up of the name, the connection, and the handshakes. 1 ms to 10 min.
    duration connect_timeout = std::chrono::seconds(5);
};

// Neither connects. They throw errc::bad_option for options that are out of range or do not fit
// together, and errc::bad_url for a URL that is not understood.
[[nodiscard]] service at(options settings);
// zookeeper://[user[:password]@]host[:port][,host…][/root][?option=value&…], or zookeepers://…
// with TLS. docs/backends/zookeeper.md lists the options.
[[nodiscard]] service at(std::string_view url);

// The options of such a URL. Throws as `at` does.
[[nodiscard]] options parse(std::string_view url);

}  // namespace pawl::zookeeper
