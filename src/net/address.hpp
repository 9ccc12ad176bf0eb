// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The address of a server: an IP address and a port, or a Unix socket.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace pawl::net {

using address = boost::asio::generic::stream_protocol::endpoint;
using addresses = std::vector<address>;

[[nodiscard]] inline bool contains(const addresses& all, const address& address_sought) {
    return std::find(all.begin(), all.end(), address_sought) != all.end();
}

// The host of an IP address as text, without the port: "127.0.0.1".
[[nodiscard]] inline std::string host_text(const address& server_address) {
    boost::asio::ip::tcp::endpoint ip_endpoint;
    ip_endpoint.resize(server_address.size());
    std::memcpy(ip_endpoint.data(), server_address.data(), server_address.size());
    return ip_endpoint.address().to_string();
}

}  // namespace pawl::net
