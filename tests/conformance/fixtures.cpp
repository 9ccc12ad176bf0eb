// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "fixtures.hpp"

#include "coarse_service.hpp"

#include <support/cluster_group.hpp>
#include <support/redis_server.hpp>
#include <support/sentinel_group.hpp>
#include <support/temp_folder.hpp>

#include <pawl/memory.hpp>
#include <pawl/redis.hpp>
#include <pawl/spi/backend.hpp>
#include <pawl/sqlite.hpp>

#include <stdexcept>

namespace tested {

namespace {

using pawl::capabilities;
using pawl::conformance::test_service;

class fixture_of final : public pawl::conformance::fixture {
public:
    fixture_of(std::function<test_service()> make, const pawl::capabilities& supported)
        : make_(std::move(make)), supported_(supported) {}

    test_service make_test_service() override { return make_(); }
    const pawl::capabilities& capabilities() const override { return supported_; }

private:
    const std::function<test_service()> make_;
    const pawl::capabilities supported_;
};

test_service new_memory_service() {
    return {.target = pawl::memory::make(), .url = {}, .restart = {}, .owned = {}};
}

test_service new_coarse_service() {
    return {.target = coarse_service(pawl::memory::make()), .url = {}, .restart = {}, .owned = {}};
}

test_service new_sqlite_service() {
    auto folder = std::make_shared<support::temp_folder>();
    const std::string path = folder->file("locks.db");
    return {.target = pawl::sqlite::at({.path = path}),
            .url = "sqlite:" + path,
            .restart = {},
            .owned = folder};
}

// One server for each test, over TCP.
test_service new_redis_service(const std::string& options) {
    auto server = std::make_shared<support::redis_server>();
    return {.target = pawl::redis::at(server->url(options)),
            .url = server->url(options),
            .restart =
                [server] {
                    server->kill9();
                    server->start(false);
                },
            .owned = server};
}

// A master and three Sentinels for each test.
test_service new_sentinel_service() {
    auto group = std::make_shared<support::sentinel_group>();
    return {.target = pawl::redis::at(group->url()),
            .url = group->url(),
            .restart =
                [group] {
                    group->server(0).kill9();
                    group->server(0).start(false);
                },
            .owned = group};
}

// Three masters for each test. The tests do not know which of them has a name, so all restart.
test_service new_cluster_service() {
    auto group = std::make_shared<support::cluster_group>();
    return {.target = pawl::redis::at(group->url()),
            .url = group->url(),
            .restart =
                [group] {
                    for (std::size_t i = 0; i < group->node_count(); ++i)
                        group->node(i).kill9();
                    for (std::size_t i = 0; i < group->node_count(); ++i)
                        group->node(i).start(false);
                    if (!group->is_agreed())
                        throw std::runtime_error("the cluster does not start again");
                },
            .owned = group};
}

constexpr capabilities redis_capabilities() {
    capabilities all;
    all.loss_is_pushed = true;
    all.shared = all.permits = all.strictly_fair = all.downgrades = true;
    all.caller_values = all.acquire_batch = true;
    all.latches = all.barriers = true;
    return all;
}

constexpr capabilities cluster_capabilities() {
    auto all = redis_capabilities();
    all.acquire_batch = false;
    return all;
}

constexpr capabilities sqlite_capabilities() {
    auto all = redis_capabilities();
    all.across_hosts = all.caller_values = all.acquire_batch = false;
    return all;
}

constexpr capabilities memory_capabilities() {
    auto all = sqlite_capabilities();
    all.tokens_survive_data_loss = all.across_processes = false;
    return all;
}

constexpr capabilities coarse_memory_capabilities() {
    auto all = memory_capabilities();
    make_coarse(all);
    return all;
}

// Where Pawl and Java share a lock, Pawl has only the capabilities of the Java lock.
constexpr capabilities redisson_capabilities(bool readwrite) {
    capabilities all;
    all.tokens_survive_data_loss = all.names_holders = all.hands_over = all.modes_share_queue =
        false;
    all.order = pawl::fairness::none;
    all.permits = all.latches = true;
    all.shared = all.downgrades = readwrite;
    all.strictly_fair = !readwrite;
    return all;
}

backend redis_backend(const std::string& name, const std::string& options,
                      const capabilities& supported) {
    return {name, std::make_shared<fixture_of>([options] { return new_redis_service(options); },
                                               supported)};
}

}  // namespace

std::vector<backend> all_backends() {
    return {{"Memory", std::make_shared<fixture_of>(new_memory_service, memory_capabilities())},
            {"CoarseMemory",
             std::make_shared<fixture_of>(new_coarse_service, coarse_memory_capabilities())},
            {"Sqlite", std::make_shared<fixture_of>(new_sqlite_service, sqlite_capabilities())},
            redis_backend("Redis", "", redis_capabilities()),
            {"Sentinel", std::make_shared<fixture_of>(new_sentinel_service, redis_capabilities())},
            {"Cluster", std::make_shared<fixture_of>(new_cluster_service, cluster_capabilities())},
            redis_backend("Redisson", "?layout=redisson", redisson_capabilities(false)),
            redis_backend("RedissonReadWrite", "?layout=redisson&object=readwrite",
                          redisson_capabilities(true))};
}

}  // namespace tested
