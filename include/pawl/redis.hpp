// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Locks in one Redis (6.2 or later) or Valkey server, in the master that Sentinels name, or in a
// Redis Cluster. docs/backends/redis.md has the keys, the scripts and the protocol,
// docs/backends/sentinel.md and cluster.md the rules of a failover.
#pragma once

#include <pawl/credentials.hpp>
#include <pawl/service.hpp>
#include <pawl/tls.hpp>
#include <pawl/types.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pawl::redis {

// One server.
struct server {
    std::string host = "127.0.0.1";  // a name or a numeric address
    std::uint16_t port = 6379;       // of the server
};

// One server on this host.
struct unix_socket {
    std::string path{};  // at most 107 bytes
};

// Where a Sentinel is.
struct sentinel_address {
    std::string host;            // a name or a numeric address
    std::uint16_t port = 26379;  // of the Sentinel
};

// The master that Sentinels name.
struct sentinels {
    // Some of the Sentinels, or one name for all of them; the client asks them for the others. 1 to
    // 16.
    std::vector<sentinel_address> addresses{};
    std::string master_name{};  // as in the Sentinels' configuration
    std::string user{};         // of the Sentinels; empty: the default user
    std::string password{};     // of the Sentinels; empty: none
    tls_options tls{};          // to the Sentinels; off by default
    // As those of `options`, for the Sentinels.
    std::string password_file{};
    std::function<login()> credentials{};
};

// A Redis Cluster.
struct cluster {
    std::vector<server> nodes{};  // some of them; the client asks them for the others. 1 to 16.
};

// Where the locks are.
using where = std::variant<server, unix_socket, sentinels, cluster>;

// The form of a lock's data in the server.
enum class key_layout : std::uint8_t {
    native,   // Pawl's own; a lock's key is that of libraries that use a plain SET NX PX
    redisson  // that of Redisson's objects, for locks shared with Java: docs/backends/redisson.md
};

// The Redisson objects behind the names of a client. Java and Pawl must agree on them, so a program
// that needs plain locks and read/write locks uses two clients.
enum class redisson_object : std::uint8_t {
    lock,       // RLock; with a token FencedLock; with `fair` FairLock
    readwrite,  // ReadWriteLock
    semaphore   // as `lock`, but permits are those of Semaphore, which has no leases
};

// How to reach the locks. User, password and `tls` are those of the server, of the master that
// Sentinels name, or of every node of a cluster.
struct options {
    redis::where where = server();  // such as redis::server{.host = "db"}
    std::string user{};             // empty: the server's default user
    std::string password{};         // empty: none
    // A regular file whose first line is the password. Not readable by everybody, unless it is
    // mounted read-only. Read again for each new connection, so that a password can change.
    std::string password_file{};
    // Returns user and password for a new connection, for example a token that expires. Called in a
    // thread that does nothing else, so it may block; one call of a client at a time. If it throws,
    // or has not returned in half of `connect_timeout`, the client uses the last login again and
    // logs one line; the first connection waits for all of `connect_timeout`. A result that comes
    // too late is used for the next connection. A call may outlive the client, so own or share what
    // the function uses. Its exception's message appears in the log and in errors.
    //
    // Only one of `password`, `password_file` and `credentials` may be set. When the server refuses
    // a new password, the next attempt uses the last one that it accepted, and so on in turn.
    std::function<login()> credentials{};
    std::uint32_t database = 0;  // selected after connecting; a cluster has only database 0
    tls_options tls{};           // off by default; a unix socket has none
    // The first part of every key and channel, so that ACLs can separate tenants: 1 to 64
    // characters without spaces, braces and percent signs. Native layout only, and not together
    // with `key`.
    std::string name_space = "pawl";
    // The lock's key, with `{name}` once in place of the name. Empty: `NAMESPACE:{NAME}`, where the
    // braces are the hash tag. `{name}`, `redlock:{name}` and so on share locks with libraries that
    // use a plain SET NX PX.
    std::string key{};
    // With `redisson` the lock's key is the plain name, or `key`, as the NameMapper of the Java
    // side makes it.
    key_layout layout = key_layout::native;
    // With key_layout::redisson only. Permits are those of PermitExpirableSemaphore, except with
    // `semaphore`.
    redisson_object object = redisson_object::lock;
    // False: sends no Lua scripts, for servers that forbid them; native layout only. The server
    // must have SET with the option IFEQ: Valkey 8.1, Redis 8.4 or later. There are only exclusive
    // locks, and waiters poll. Clients with and without scripts share locks:
    // docs/backends/scriptless.md.
    bool scripts = true;
    // For the look-up of the name, the connection and the TLS handshake together. Above 0, at most
    // 24 h.
    duration connect_timeout = std::chrono::seconds(5);
    // If a request has no answer after this time, the connection is considered dead. Above 0, at
    // most 24 h.
    duration reply_timeout = std::chrono::seconds(5);
    // How long the server keeps a name's token counter after the last hold: 1 s to 365 days. It
    // takes about 130 bytes. Native layout only. A short time is safe: docs/backends/redis.md,
    // "Tokens".
    duration token_retention = std::chrono::hours(24);
};

// Neither connects. They throw errc::bad_option for options that are out of range or do not fit
// together, and errc::bad_url for a URL that is not understood.
[[nodiscard]] service at(options settings);
// redis://[user[:password]@]host[:port][/database][?option=value&…], rediss://… with TLS,
// redis+unix:///path, redis+sentinel://[user[:password]@]host[:port],…/master[/database], or
// redis+cluster://[user[:password]@]host[:port],…; with TLS rediss+sentinel://… and
// rediss+cluster://…. docs/backends/redis.md, sentinel.md and cluster.md list the options.
[[nodiscard]] service at(std::string_view url);

}  // namespace pawl::redis
