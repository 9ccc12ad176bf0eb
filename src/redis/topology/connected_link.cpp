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

boost::asio::awaitable<reply> exec_at(topology& servers, std::string_view key,
                                      std::span<const std::string_view> words,
                                      time_point give_up_at) {
    redirection progress;
    for (;;) {
        auto* asked = progress.asked_next != nullptr ? progress.asked_next : &servers.link_of(key);
        if (!asked->connected()) asked = co_await connected_link_of(servers, key, give_up_at);
        const auto before = asked == progress.asked_next ? prelude::ask : prelude::none;
        auto answer = co_await asked->exec(words, give_up_at, before);
        if (answer.type != reply::kind::error || !servers.may_follow(answer)) co_return answer;
        const bool is_moved = co_await servers.follow(progress, key, *asked, answer, give_up_at);
        if (!is_moved) co_return answer;
    }
}

}  // namespace pawl::redis
