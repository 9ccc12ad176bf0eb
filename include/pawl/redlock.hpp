// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Redlock with fencing tokens: locks over 3, 5 or 7 independent Redis or Valkey servers, of which a
// majority must grant each lock. docs/backends/redlock.md has the protocol, its proof, and what the
// nodes keep; docs/guide/guarantees.md what holds when servers fail.
#pragma once

#include <pawl/redis.hpp>
#include <pawl/service.hpp>
#include <pawl/types.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pawl::redlock {

// Where a node is: an independent server, which is no replica, or the master that Sentinels name. A
// failover of such a master is a loss of the node's data.
using where = std::variant<redis::server, redis::sentinels>;

// All clients of a set must name the same nodes, in any order, with the same `ttl_max`: otherwise
// the nodes refuse them. Without fencing nothing refuses them, and exclusion breaks.
struct options {
    std::vector<where> nodes{};  // 3, 5 or 7
    // The longest ttl of a lease: 100 ms to 1 h. A node that has lost its data grants nothing for a
    // little longer than this.
    duration ttl_max = std::chrono::seconds(60);
    // False: classic Redlock, which other libraries share. Holds have no token, nodes form no set,
    // a node that restarts without its data votes again at once, and `ttl_max` must have its
    // default. Only then `layout` may be redis::key_layout::redisson, for locks of RedissonRedLock.
    bool fenced = true;
    // The others are for every node, as those of redis::options.
    std::string user{};           // empty: the servers' default user
    std::string password{};       // empty: none
    std::string password_file{};  // its first line is the password
    // Returns user and password for a new connection. One call for a node at a time, so several
    // threads may call it at the same time.
    std::function<login()> credentials{};
    std::uint32_t database = 0;       // selected after connecting
    tls_options tls{};                // off by default
    std::string name_space = "pawl";  // the first part of every key and channel
    std::string key{};                // the lock's key, with `{name}` once in place of the name
    redis::key_layout layout = redis::key_layout::native;  // the form of a lock's data
    duration connect_timeout = std::chrono::seconds(5);    // above 0, at most 24 h
    duration reply_timeout = std::chrono::seconds(5);      // above 0, at most 24 h
    duration token_retention = std::chrono::hours(24);     // 1 s to 365 days
};

// Neither connects. They throw errc::bad_option for options that are out of range or do not fit
// together, and errc::bad_url for a URL that is not understood. All functions of this header are
// thread-safe.
[[nodiscard]] service at(options settings);
// redlock://[user[:password]@]host1[:port],host2[:port],host3[:port][/database][?option=value&…],
// with TLS redlocks://…. In place of a host, MASTER=SENTINEL1[:port]+SENTINEL2[:port] is the master
// that these Sentinels know by this name. The options are those of redis:// and rediss://, with
// Sentinels those of redis+sentinel://; ttl_max, such as 60s; and fenced=no.
[[nodiscard]] service at(std::string_view url);

// The options of a URL. Throws as `at`.
[[nodiscard]] options parse(std::string_view url);

// What a node says of its membership of the set. `administration` asks for it, in
// pawl/redlock_administration.hpp, and in pawl/blocking/redlock_administration.hpp for threads.
struct node_status {
    std::string name;       // "HOST:PORT", or "MASTER=SENTINEL:PORT+…"
    bool votes = false;     // the node takes part in the next acquire
    std::string objection;  // why it does not; empty if it does
    // How often the node has become a member: 1 since the set began, and one more for each loss of
    // its data. 0: unknown.
    std::uint64_t incarnation = 0;
    std::string warning{};  // what an operator should know, also if the node votes; may be empty
};

}  // namespace pawl::redlock
