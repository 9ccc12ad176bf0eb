// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "cluster_links.hpp"

#include "service_from.hpp"
#include "simulated_link.hpp"

#include <redis/cluster/cluster_topology.hpp>

#include <string>
#include <utility>

namespace pawl::simulation {
namespace {

redis::cluster_settings settings_of(const simulated_cluster& cluster, const redis::options& options,
                                    const redis::cluster_limits& cluster_limits) {
    redis::cluster_settings settings;
    settings.subject = "simulated cluster";
    if (const auto* named = std::get_if<redis::cluster>(&options.where))
        for (const auto& [host, port] : named->nodes)
            settings.hosts.push_back({host, port});
    else
        for (std::size_t i = 0; i < cluster.node_count(); i += 2)
            settings.hosts.push_back(
                {"127.0.0.1", static_cast<std::uint16_t>(cluster_view::first_port + i)});
    settings.connect_timeout = options.connect_timeout;
    settings.reply_timeout = options.reply_timeout;
    settings.bounds = cluster_limits;
    return settings;
}

}  // namespace

service clustered_service(simulated_cluster& cluster, simulated_process& process,
                          const redis::options& options, topology_bug bug,
                          const redis::limits& limits,
                          const redis::cluster_limits& cluster_limits) {
    return service_from("simulated cluster", [=, &cluster, &process](backend_context context) {
        const redis::node_link_factory connect =
            [=, &cluster, &process](const net::endpoint& node, redis::link::listener& receiver,
                                    const std::string& channel) {
                auto& network = cluster.network(node.port - cluster_view::first_port);
                const auto make =
                    simulated_link_factory(network, process, context, options, injected_bug::none);
                return inject_link_bug(bug, make(receiver, channel));
            };
        const auto topology = redis::cluster_topology_factory(
            settings_of(cluster, options, cluster_limits), connect, context);
        return make_redis_backend(options, context, inject_topology_bug(bug, topology), limits);
    });
}

}  // namespace pawl::simulation
