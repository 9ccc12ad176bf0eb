// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "cluster/cluster_service.hpp"
#include "common/backends.hpp"
#include "common/keys.hpp"
#include "sentinel/monitored_master.hpp"
#include "topology/single_server.hpp"
#include "transport/options.hpp"
#include "transport/reconnecting_link.hpp"
#include "transport/sentinel_options.hpp"

#include <pawl/redis.hpp>

namespace pawl::redis {
namespace {

class definition final : public service::definition {
public:
    explicit definition(options server_options) : options_(std::move(server_options)) {}

    std::unique_ptr<backend> open(backend_context context) const override {
        const auto connect = topology_of(context);
        if (options_.layout == key_layout::redisson)
            return redisson::make_backend(options_, context, connect);
        if (!options_.scripts) return scriptless::make_backend(options_, context, connect);
        return native::make_backend(options_, context, connect);
    }
    std::string describe() const override { return redis::describe(options_); }

private:
    topology_factory topology_of(const backend_context& context) const {
        if (std::holds_alternative<cluster>(options_.where))
            return cluster_factory(options_, context);
        if (std::holds_alternative<sentinels>(options_.where))
            return monitored_master_factory(options_, settings_of(options_),
                                            redis::describe(options_), context);
        return single_server_factory(reconnecting_link_factory(options_, context));
    }

    options options_;
};

}  // namespace

service at(options server_options) {
    const key_scheme keys(server_options.name_space,
                          server_options.key);  // throws for a wrong key template
    check_options(server_options);
    check_sentinel_password(server_options);
    return service(std::make_shared<definition>(std::move(server_options)));
}

service at(std::string_view url) { return at(parse_options(url)); }

}  // namespace pawl::redis
