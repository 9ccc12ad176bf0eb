// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "cluster_links.hpp"

#include "simulated_link.hpp"

#include <redis/cluster/cluster_topology.hpp>
#include <redis/common/backends.hpp>

#include <memory>
#include <string>
#include <utility>

namespace pawl::simulation {
namespace {

class clustered_definition final : public service::definition {
public:
    clustered_definition(simulated_cluster& cluster, simulated_process& process,
                         redis::options options, topology_bug bug, const redis::limits& limits,
                         const redis::cluster_limits& cluster_limits)
        : cluster_(cluster),
          process_(process),
          options_(std::move(options)),
          bug_(bug),
          limits_(limits),
          cluster_limits_(cluster_limits) {}

    std::unique_ptr<backend> open(backend_context context) const override {
        redis::cluster_settings settings;
        settings.subject = describe();
        if (const auto* named = std::get_if<redis::cluster>(&options_.where))
            for (const auto& [host, port] : named->nodes)
                settings.hosts.push_back({host, port});
        else
            for (std::size_t i = 0; i < cluster_.node_count(); i += 2)
                settings.hosts.push_back({"127.0.0.1", port_of(i)});
        settings.connect_timeout = options_.connect_timeout;
        settings.reply_timeout = options_.reply_timeout;
        settings.bounds = cluster_limits_;
        const redis::node_link_factory connect =
            [&nodes = cluster_, &process = process_, options = options_, bug = bug_, context](
                const net::endpoint& node, redis::link::listener& receiver,
                const std::string& channel) {
                auto& network = nodes.network(node.port - cluster_view::first_port);
                const auto make =
                    simulated_link_factory(network, process, context, options, injected_bug::none);
                return inject_link_bug(bug, make(receiver, channel));
            };
        const auto topology = inject_topology_bug(
            bug_, redis::cluster_topology_factory(std::move(settings), connect, context));
        if (!options_.scripts)
            return redis::scriptless::make_backend(options_, context, topology, limits_);
        return redis::native::make_backend(options_, context, topology, limits_);
    }
    std::string describe() const override { return "simulated cluster"; }

private:
    static std::uint16_t port_of(std::size_t node) {
        return static_cast<std::uint16_t>(cluster_view::first_port + node);
    }

    simulated_cluster& cluster_;
    simulated_process& process_;
    const redis::options options_;
    const topology_bug bug_;
    const redis::limits limits_;
    const redis::cluster_limits cluster_limits_;
};

}  // namespace

service clustered_service(simulated_cluster& cluster, simulated_process& process,
                          const redis::options& options, topology_bug bug,
                          const redis::limits& limits,
                          const redis::cluster_limits& cluster_limits) {
    return service(std::make_shared<clustered_definition>(cluster, process, options, bug, limits,
                                                          cluster_limits));
}

}  // namespace pawl::simulation
