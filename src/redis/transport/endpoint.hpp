// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Where a server is, as a user or another server names it. Its addresses are in address.hpp.
#pragma once

#include <pawl/redis.hpp>

#include <cstdint>
#include <string>

namespace pawl::redis {

struct endpoint {
    std::string host;           // a name or a numeric address
    std::uint16_t port = 0;     // of the server
    std::string unix_socket{};  // a path; host and port are then unused
    std::string tls_name{};     // the host's name in the server's certificate

    bool operator==(const endpoint&) const = default;
};

// The endpoint that a user's options name.
[[nodiscard]] inline endpoint endpoint_of(const options& server_options) {
    const auto& name = server_options.tls.name;
    return {server_options.host, server_options.port, server_options.unix_socket,
            name.empty() ? server_options.host : name};
}

// For users: "db1:6379", "[::1]:6379", or the socket's path; empty without a host.
[[nodiscard]] inline std::string text_of(const endpoint& server) {
    if (!server.unix_socket.empty() || server.host.empty()) return server.unix_socket;
    const bool is_v6 = server.host.find(':') != std::string::npos;
    return (is_v6 ? "[" + server.host + "]" : server.host) + ":" + std::to_string(server.port);
}

}  // namespace pawl::redis
