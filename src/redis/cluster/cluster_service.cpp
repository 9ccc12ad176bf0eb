// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "cluster_service.hpp"

#include "../transport/options.hpp"
#include "../transport/reconnecting_link.hpp"

namespace pawl::redis {

topology_factory cluster_factory(const options& server_options, const backend_context& context) {
    auto link_settings = settings_of(server_options);
    link_settings.accepts_cluster_node = true;
    cluster_settings settings;
    settings.subject = describe(server_options);
    for (const auto& [host, port] : std::get<cluster>(server_options.where).nodes)
        settings.hosts.push_back(net::make_endpoint(host, port, server_options.tls));
    settings.connect_timeout = server_options.connect_timeout;
    settings.reply_timeout = server_options.reply_timeout;
    settings.uses_tls = server_options.tls.enabled;
    settings.tls_name = server_options.tls.name;
    auto uncounted = context;  // the topology counts what the client does
    uncounted.counts = std::make_shared<counters>();
    node_link_factory connect = [link_settings, uncounted](
                                    const net::endpoint& node, link::listener& receiver,
                                    const std::string& channel) -> std::shared_ptr<link> {
        return std::make_shared<reconnecting_link>(std::make_shared<fixed_locator>(node),
                                                   link_settings, "the node " + text_of(node),
                                                   uncounted, receiver, channel);
    };
    return cluster_topology_factory(std::move(settings), std::move(connect), context);
}

}  // namespace pawl::redis
