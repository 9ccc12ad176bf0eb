// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Where a server is, as a user or another server names it. Its addresses are in address.hpp.
#pragma once

#include <pawl/tls.hpp>

#include <cstdint>
#include <string>

namespace pawl::net {

struct endpoint {
    std::string host;           // a name or a numeric address
    std::uint16_t port = 0;     // of the server
    std::string unix_socket{};  // a path; host and port are then unused
    std::string tls_name{};     // the host's name in the server's certificate

    bool operator==(const endpoint&) const = default;
};

// Without a name for the certificate, it must have the host.
[[nodiscard]] inline endpoint make_endpoint(const std::string& host, std::uint16_t port,
                                            const tls_options& tls) {
    return {host, port, {}, tls.name.empty() ? host : tls.name};
}

// For users: "db1:6379", "[::1]:6379", or the socket's path; empty without a host.
[[nodiscard]] inline std::string text_of(const endpoint& server) {
    if (!server.unix_socket.empty() || server.host.empty()) return server.unix_socket;
    const bool is_v6 = server.host.find(':') != std::string::npos;
    return (is_v6 ? "[" + server.host + "]" : server.host) + ":" + std::to_string(server.port);
}

}  // namespace pawl::net
