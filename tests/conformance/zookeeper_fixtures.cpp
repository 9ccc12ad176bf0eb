// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "zookeeper_fixtures.hpp"

#if PAWL_WITH_ZOOKEEPER
#include "service_fixture.hpp"

#include <support/zookeeper_server.hpp>

#include <pawl/zookeeper.hpp>
#endif

#include <memory>
#include <string>

namespace tested {

#if PAWL_WITH_ZOOKEEPER

namespace {

using namespace std::chrono_literals;

// A server for the program, and a root and a login for each test. The processes that a test starts
// use the same server.
pawl::conformance::test_service new_zookeeper_service(const std::string& options) {
    static const auto server = std::make_shared<support::zookeeper_server>();
    static int count = 0;
    auto url = server->url("/test" + std::to_string(++count), "&make_root=yes" + options);
    url.insert(url.find("//") + 2, "locks:PASSWORD@");
    return {.target = pawl::zookeeper::at(url),
            .url = url,
            .restart =
                [] {
                    server->kill9();
                    server->start();
                },
            .owned = server};
}

pawl::spi::capabilities capabilities_of_object(bool has_modes) {
    pawl::spi::capabilities all;
    all.loss_is_pushed = all.survives_failover = all.strictly_fair = true;
    all.knows_remaining_time = false;
    all.shared = all.permits = all.downgrades = has_modes;
    all.ttl_granularity = 100ms;
    all.least_ttl = 200ms;
    all.most_ttl = 2min - 400ms;
    return all;
}

backend zookeeper_backend(const std::string& name, const std::string& options, bool has_modes) {
    return {name, std::make_shared<service_fixture>(
                      [options] { return new_zookeeper_service(options); },
                      capabilities_of_object(has_modes),
                      // A lock that waits long enough has a second node, in another session.
                      service_limits{.servers_per_request = 2})};
}

}  // namespace

#endif

std::vector<backend> zookeeper_backends() {
    std::vector<backend> all;
#if PAWL_WITH_ZOOKEEPER
    all.push_back(zookeeper_backend("ZooKeeper", "", true));
    all.push_back(zookeeper_backend("ZooKeeperMutex", "&object=mutex", false));
#endif
    return all;
}

}  // namespace tested
