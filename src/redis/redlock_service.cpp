// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "redlock/locks.hpp"
#include "redlock/redlock_options.hpp"
#include "sentinel/monitored_master.hpp"
#include "topology/single_server.hpp"
#include "transport/reconnecting_link.hpp"
#include "transport/sentinel_options.hpp"
#include "transport/where.hpp"

#include <pawl/error.hpp>
#include <pawl/redlock.hpp>

#include <utility>
#include <vector>

namespace pawl::redlock {
namespace {

// A replica must not vote for its master.
redis::topology_factory node_factory(const redis::options& node, const std::string& name,
                                     const backend_context& context) {
    auto settings = redis::settings_of(node);
    settings.accepts_replica = false;
    settings.min_wait_before_failure = {};  // the others may answer
    settings.without_tls = "redlock";
    settings.with_tls = "redlocks";
    settings.cluster_node_message =
        "is a node of a cluster, and cannot be a node of Redlock; give a server of its own";
    settings.sentinel_message =
        "is a Sentinel; write MASTER-NAME=HOST:PORT for the master that it names";
    auto subject = "the node " + name;
    if (std::holds_alternative<redis::sentinels>(node.where))
        return redis::monitored_master_factory(node, settings, subject, context);
    settings.replica_message = "is a replica; each node must be a server of its own";
    const auto server = redis::endpoint_of(node);
    return redis::single_server_factory(
        [settings, server, subject, context](redis::link::listener& receiver,
                                             const std::string& channel) {
            return std::make_shared<redis::reconnecting_link>(
                std::make_shared<redis::fixed_locator>(server), settings, subject, context,
                receiver, channel);
        });
}

std::vector<redis::topology_factory> factories_of(const options& node_options,
                                                  const backend_context& context) {
    const auto names = node_names(node_options);
    std::vector<redis::topology_factory> nodes;
    for (std::size_t i = 0; i < names.size(); ++i)
        nodes.push_back(node_factory(options_of_node(node_options, i), names[i], context));
    return nodes;
}

class definition final : public service::definition {
public:
    explicit definition(options node_options) : options_(std::move(node_options)) {}

    std::unique_ptr<backend> open(backend_context context) const override {
        return make_backend(options_, context, factories_of(options_, context));
    }
    std::string describe() const override { return redlock::describe(options_); }

private:
    options options_;
};

}  // namespace

service at(options settings) {
    check_options(settings);
    for (std::size_t i = 0; i < settings.nodes.size(); ++i)
        redis::check_sentinel_password(options_of_node(settings, i));
    return service(std::make_shared<definition>(in_order(std::move(settings))));
}

service at(std::string_view url) { return at(parse(url)); }

}  // namespace pawl::redlock
