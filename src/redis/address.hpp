// Where a server listens: an address of its host and a port, or a Unix socket.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace pawl::redis {

using address = boost::asio::generic::stream_protocol::endpoint;
using addresses = std::vector<address>;

[[nodiscard]] inline bool contains(const addresses& all, const address& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
}

// Of an address of the internet: "127.0.0.1", without the port.
[[nodiscard]] inline std::string host_of(const address& of) {
    boost::asio::ip::tcp::endpoint same;
    same.resize(of.size());
    std::memcpy(same.data(), of.data(), of.size());
    return same.address().to_string();
}

}  // namespace pawl::redis
