// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "consul_fixture.hpp"

#include "service_fixture.hpp"

#if PAWL_WITH_CONSUL
#include <support/consul_server.hpp>

#include <pawl/consul.hpp>
#endif

#include <memory>
#include <string>

namespace tested {

#if PAWL_WITH_CONSUL

namespace {

using pawl::conformance::test_service;
using pawl::spi::capabilities;
using namespace std::chrono_literals;

// A server for the program, and a namespace for each test.
test_service new_consul_service() {
    static const auto server = std::make_shared<support::consul_server>();
    static int count = 0;
    const auto url = server->url("?namespace=test" + std::to_string(++count));
    return {.target = pawl::consul::at(url),
            .url = url,
            .restart =
                [] {
                    server->kill9();
                    server->start();
                },
            .owned = server};
}

// Shared locks, permits and an order are absent.
constexpr capabilities consul_capabilities() {
    capabilities all;
    all.hands_over = all.modes_share_queue = all.knows_remaining_time = false;
    all.order = pawl::spi::fairness::none;
    all.survives_failover = all.acquire_batch = true;
    all.least_ttl = 10s;
    all.ttl_granularity = 1s;
    all.takeover_ttls = 2;
    all.takeover_delay = 1s;
    return all;
}

}  // namespace

std::vector<backend> consul_backends() {
    return {{"Consul", std::make_shared<service_fixture>(new_consul_service, consul_capabilities(),
                                                         service_limits{.shows_waiters = false})}};
}

#else

std::vector<backend> consul_backends() { return {}; }

#endif

}  // namespace tested
