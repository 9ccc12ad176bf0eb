// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "connected_link.hpp"

#include <pawl/error.hpp>

#include <array>

namespace pawl::redis {

boost::asio::awaitable<link*> connected_link_of(const topology& servers, std::string_view key,
                                                time_point give_up_at) {
    const std::array<std::string_view, 1> ping{"PING"};
    auto* server_link = &servers.link_of(key);
    while (!server_link->connected()) {
        co_await server_link->exec(ping, give_up_at);
        server_link = &servers.link_of(key);
    }
    co_return server_link;
}

boost::asio::awaitable<std::vector<link*>> known_links_of(const topology& servers,
                                                          time_point give_up_at) {
    try {
        if (servers.links().empty()) co_await connected_link_of(servers, "", give_up_at);
    } catch (const error&) {
        if (servers.links().empty()) throw;
    }
    co_return std::vector<link*>(servers.links().begin(), servers.links().end());
}

}  // namespace pawl::redis
