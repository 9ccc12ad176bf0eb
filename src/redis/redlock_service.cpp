// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "quorum/backend.hpp"
#include "quorum/redlock_options.hpp"
#include "sentinel/monitored_master.hpp"
#include "topology/single_server.hpp"
#include "transport/reconnecting_link.hpp"

#include <pawl/redlock.hpp>

namespace pawl::redlock {
namespace {

// A replica must not vote for its master.
redis::topology_factory server_factory(const redis::options& node, const backend_context& context) {
    auto settings = redis::settings_of(node);
    settings.accepts_replica = false;
    const auto server = redis::endpoint_of(node);
    return redis::single_server_factory([settings, server, context](
                                            redis::link::listener& receiver,
                                            const std::string& channel) {
        return std::make_shared<redis::reconnecting_link>(
            std::make_shared<redis::fixed_locator>(server), settings,
            "the node " + redis::text_of(server), context, receiver, channel);
    });
}

class definition final : public service::definition {
public:
    explicit definition(options node_options) : options_(std::move(node_options)) {}

    std::unique_ptr<backend> open(backend_context context) const override {
        std::vector<redis::topology_factory> nodes;
        for (const auto& each : options_.nodes)
            nodes.push_back(each.sentinel.addresses.empty()
                                ? server_factory(each, context)
                                : redis::monitored_master_factory(each, context));
        return make_backend(options_, context, nodes);
    }
    std::string describe() const override { return redlock::describe(options_); }

private:
    options options_;
};

}  // namespace

service at(options settings) {
    check_options(settings);
    return service(std::make_shared<definition>(in_order(std::move(settings))));
}

service at(std::string_view url) { return at(parse_options(url)); }

}  // namespace pawl::redlock
