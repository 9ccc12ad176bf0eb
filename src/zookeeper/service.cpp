// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "locks.hpp"
#include "options.hpp"

#include <pawl/zookeeper.hpp>

#include <utility>

namespace pawl::zookeeper {
namespace {

class definition final : public service::definition {
public:
    explicit definition(options given) : options_(std::move(given)) {}

    std::unique_ptr<backend> open(backend_context context) const override {
        return make_backend(std::make_shared<client_settings>(options_), context);
    }
    std::string describe() const override { return zookeeper::describe(options_); }

private:
    const options options_;
};

}  // namespace

client_settings::client_settings(const options& given)
    : credentials(std::make_shared<net::credential_source>(net::credential_options{
          {given.user, given.password}, given.password_file, "password_file", {}})),
      has_login(!given.user.empty()),
      tick(given.tick),
      connect_timeout(given.connect_timeout),
      root(given.root),
      makes_root(given.make_root || given.root == options().root),
      object(given.object),
      supported(capabilities_of(given)),
      description("ZooKeeper at ") {
    tls_settings used{given.tls, std::make_shared<net::tls_contexts>(given.tls)};
    tls = std::make_shared<const tls_settings>(std::move(used));
    for (const auto& each : given.servers) {
        servers.push_back(net::make_endpoint(each.host, each.port, given.tls));
        if (servers.size() > 1) description += ", ";
        description += net::text_of(servers.back());
    }
}

service at(options settings) {
    check_options(settings);
    return service(std::make_shared<definition>(std::move(settings)));
}

options parse(std::string_view url) { return parse_options(url); }

service at(std::string_view url) { return at(parse(url)); }

}  // namespace pawl::zookeeper
