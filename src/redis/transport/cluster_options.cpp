// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "cluster_options.hpp"

#include "../../net/endpoint.hpp"

#include <pawl/error.hpp>

#include <utility>

namespace pawl::redis {
namespace {

constexpr std::size_t max_nodes = 16;

}  // namespace

bool is_cluster_scheme(std::string_view scheme) noexcept {
    return scheme == "redis+cluster" || scheme == "rediss+cluster";
}

void apply_cluster(options& server_options, const core::url& parsed) {
    if (parsed.hosts.empty())
        throw error(errc::bad_url,
                    "The URL names no node; write redis+cluster://HOST1,HOST2,HOST3.");
    for (const auto& each : parsed.hosts) {
        node_address address;
        address.host = each.host;
        if (each.port) address.port = *each.port;
        server_options.cluster_nodes.push_back(std::move(address));
    }
    if (parsed.path.size() > 1 && parsed.path != "/0")
        throw error(errc::bad_url, "A cluster has only database 0; leave out '" +
                                       parsed.path.substr(1) + "' behind the hosts.");
    server_options.tls.enabled = parsed.scheme == "rediss+cluster";
}

void check_cluster_options(const options& server_options) {
    const auto& nodes = server_options.cluster_nodes;
    if (nodes.empty()) return;
    const options defaults;
    if (server_options.host != defaults.host || server_options.port != defaults.port ||
        !server_options.unix_socket.empty())
        throw error(errc::bad_option,
                    "The nodes of a cluster stand in cluster_nodes; leave out host, port and "
                    "unix_socket.");
    if (!server_options.sentinel.addresses.empty())
        throw error(errc::bad_option,
                    "A cluster has no Sentinels; give nodes of a cluster, or Sentinels.");
    if (server_options.database != 0)
        throw error(errc::bad_option, "A cluster has only database 0; leave out the database.");
    if (nodes.size() > max_nodes)
        throw error(errc::bad_option,
                    "There are more than 16 nodes; give some of them, which know the others.");
    for (const auto& each : nodes)
        if (each.host.empty())
            throw error(errc::bad_option, "A node's address has no host; give a host for each.");
}

std::string describe_cluster(const options& server_options) {
    std::string text = server_options.tls.enabled ? "rediss+cluster://" : "redis+cluster://";
    bool is_first = true;
    for (const auto& each : server_options.cluster_nodes) {
        if (!std::exchange(is_first, false)) text += ",";
        text += text_of(net::endpoint{each.host, each.port});
    }
    return text;
}

}  // namespace pawl::redis
