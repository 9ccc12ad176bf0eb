// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "open_access.hpp"

#include "../transport/numbers.hpp"
#include "../transport/server_comparison.hpp"

#include "../../net/endpoint.hpp"
#include "../../net/name_look_up.hpp"

#include <boost/asio/this_coro.hpp>

namespace asio = boost::asio;

namespace pawl::redis {
namespace {

net::endpoint parse_name(const std::string& name, const tls_options& tls) {
    const auto colon = name.rfind(':');
    if (colon == std::string::npos || name.starts_with('/')) return {};
    auto host = name.substr(0, colon);
    if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
    return net::make_endpoint(host, parse_number<std::uint16_t>(name.substr(colon + 1)), tls);
}

}  // namespace

asio::awaitable<std::optional<bool>> is_open_to_all(const connection_settings& settings,
                                                    std::string name, runtime& time) {
    const auto server = parse_name(name, settings.tls);
    if (server.port == 0) co_return std::nullopt;
    const auto strand = co_await asio::this_coro::executor;
    net::name_look_up look_up(strand, server.host);
    net::addresses resolved;
    const auto failure = co_await look_up.wait(server.port, resolved);
    if (failure) co_return std::nullopt;
    login nobody;
    const auto deadline = time.now() + settings.connect_timeout / 2;
    const auto servers = co_await probe_servers(settings, std::move(nobody), server.tls_name,
                                                strand, time, resolved, deadline);
    bool was_answered = false;
    for (const auto& each : servers) {
        if (!each.run_id.empty()) co_return true;
        was_answered = was_answered || each.trouble.find("NOAUTH") != std::string::npos ||
                       each.trouble.find("NOPERM") != std::string::npos ||
                       each.trouble.find("DENIED") != std::string::npos;
    }
    if (!was_answered) co_return std::nullopt;
    co_return false;
}

}  // namespace pawl::redis
