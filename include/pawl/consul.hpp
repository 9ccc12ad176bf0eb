// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Locks in the key/value store of Consul: docs/backends/consul.md.
#pragma once

#include <pawl/credentials.hpp>
#include <pawl/service.hpp>
#include <pawl/tls.hpp>
#include <pawl/types.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::consul {

// An agent of Consul: a server, or a client agent.
struct server {
    std::string host = "127.0.0.1";  // a name or a numeric address
    std::uint16_t port = 8500;       // of the HTTP API
};

// Where the locks are.
struct options {
    // Agents of one datacenter, in the order of preference. 1 to 16.
    std::vector<server> servers{server()};
    // The token of Consul's ACL. Empty: the anonymous token. Sent in the header X-Consul-Token.
    std::string token{};
    // A regular file whose first line is the token. Not readable by everybody, unless it is mounted
    // read-only. Read again for each new connection, so that a token can change.
    std::string token_file{};
    // Returns the token as `login::password`, for each new connection. Called in a thread that does
    // nothing else, so it may block; one call of a client at a time. A call may outlive the client.
    // Only one of `token`, `token_file` and `credentials` may be set.
    std::function<login()> credentials{};
    tls_options tls{};  // off by default
    // The beginning of every key: the lock NAME is at NAMESPACE/NAME/.lock, where `consul lock
    // NAMESPACE/NAME` has it, too. 1 to 64 characters of letters, digits, '_', '-', '.' and '/';
    // no part between slashes is empty, "." or "..".
    std::string name_space = "pawl";
    // How long Consul grants nobody the lock of a session that ended before its release: 0 to 60 s.
    duration lock_delay{};
    // For the look-up of the name, the connection and the TLS handshake together. 1 ms to 10 min.
    duration connect_timeout = std::chrono::seconds(5);
};

// Neither connects. They throw errc::bad_option for options that are out of range or do not fit
// together, and errc::bad_url for a URL that is not understood.
[[nodiscard]] service at(options settings);
// consul://[:token@]host[:port][,host…][?option=value&…], or consuls://… with TLS and the port
// 8501. docs/backends/consul.md lists the options.
[[nodiscard]] service at(std::string_view url);

// The options of such a URL. Throws as `at` does.
[[nodiscard]] options parse(std::string_view url);

}  // namespace pawl::consul
