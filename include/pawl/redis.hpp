// Locks in one Redis (6.2 or later) or Valkey server. docs/redis.md has the keys, scripts and
// protocol.
#pragma once

#include <pawl/service.hpp>
#include <pawl/types.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace pawl::redis {

struct tls_options {
    bool on = false;
    bool verify = true;       // the server's chain and host name
    std::string ca_file{};    // empty: the system's
    std::string cert_file{};  // a client certificate, where the server asks for one
    std::string key_file{};
};

// How a lock lies in the server.
enum class key_layout : std::uint8_t {
    native,   // Pawl's own; a lock's key is that of the plain SET NX PX libraries
    redisson  // exactly that of Redisson's objects: docs/redisson.md
};

// What a name is to Java services, in Redisson's layout.
enum class redisson_object : std::uint8_t {
    lock,       // RLock, FencedLock where a token is asked for, FairLock where `fair` is
    readwrite,  // ReadWriteLock
    semaphore   // as `lock`, but permits are those of Semaphore, which has no leases
};

struct options {
    std::string host = "127.0.0.1";
    std::uint16_t port = 6379;
    std::string unix_socket{};  // a path; host and port are then unused
    std::string user{};
    std::string password{};
    std::uint32_t database = 0;
    tls_options tls{};
    // The first part of every key and channel, so that tenants can be kept apart by ACL. Not
    // together with `key`.
    std::string name_space = "pawl";
    // The lock's key, with `{name}` for the name; empty: `NAMESPACE:{NAME}` with braces as the hash
    // tag. Set it to `{name}` (or `redlock:{name}` …) to share locks with the plain SET NX PX
    // libraries.
    std::string key{};
    // `redisson` shares locks with Java services. The key is then the plain name, or `key` as the
    // Java side's NameMapper makes it; `name_space` has no meaning and must stay as it is.
    key_layout layout = key_layout::native;
    // With `redisson` only. Permits are those of PermitExpirableSemaphore, but for `semaphore`.
    redisson_object object = redisson_object::lock;
    duration connect_timeout = std::chrono::seconds(5);
    // A request that has no answer by then means that the connection is dead.
    duration reply_timeout = std::chrono::seconds(5);
    // How long the server keeps a name's token counter after the last hold, 1 s to 365 days: about
    // 140 bytes a name. The native layout only. docs/redis.md says why a short one is safe.
    duration token_retention = std::chrono::hours(24);
};

// Throws errc::bad_option or errc::bad_url with one sentence.
[[nodiscard]] service at(options where);
// redis://[user[:password]@]host[:port][/database][?option=value&…]   rediss:// redis+unix:///path
[[nodiscard]] service at(std::string_view url);

}  // namespace pawl::redis
