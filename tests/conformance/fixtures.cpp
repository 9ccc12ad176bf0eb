// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "fixtures.hpp"

#include "coarse_service.hpp"
#include "consul_fixture.hpp"
#include "database_fixtures.hpp"
#include "service_fixture.hpp"
#include "zookeeper_fixtures.hpp"

#include <support/cluster_group.hpp>
#if PAWL_WITH_ETCD
#include <support/etcd_server.hpp>

#include <pawl/etcd.hpp>
#endif
#include <support/redis_server.hpp>
#include <support/sentinel_group.hpp>
#include <support/temp_folder.hpp>

#include <pawl/blocking/redlock_administration.hpp>
#include <pawl/both.hpp>
#include <pawl/memory.hpp>
#include <pawl/redis.hpp>
#include <pawl/redis_rights.hpp>
#include <pawl/redlock.hpp>
#include <pawl/sqlite.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

namespace tested {

namespace {

using pawl::conformance::test_service;
using pawl::spi::capabilities;

test_service new_memory_service() {
    return {.target = pawl::memory::at(), .url = {}, .restart = {}, .owned = {}};
}

test_service new_both_service() {
    return {.target = pawl::both(pawl::memory::at(), pawl::memory::at()),
            .url = {},
            .restart = {},
            .owned = {}};
}

test_service new_coarse_service() {
    return {.target = coarse_service(pawl::memory::at()), .url = {}, .restart = {}, .owned = {}};
}

test_service new_sqlite_service() {
    auto folder = std::make_shared<support::temp_folder>();
    const std::string path = folder->file("locks.db");
    return {.target = pawl::sqlite::at({.path = path}),
            .url = "sqlite:" + path,
            .restart = {},
            .owned = folder};
}

// Fails the test if a server has refused a command, also one that Pawl could do without.
void expect_nothing_refused(support::redis_server& server) {
    if (!server.is_running()) return;
    const auto log = server.connect()->execute({"ACL", "LOG"});
    for (const auto& entry : log.items) {
        std::string words;
        for (const auto& each : entry.items)
            words += each.text + " ";
        ADD_FAILURE() << "refused: " << words;
    }
}

// The lines for the configuration of a server and of a Sentinel: a user `locks` that has the least
// rights, and no others.
std::vector<std::string> user_lines(const std::string& url) {
    std::vector<std::string> lines;
    for (const auto& each : pawl::redis::least_rights(url, {.replicas = true}))
        lines.push_back(each.line("locks", "PASSWORD"));
    return lines;
}

std::string with_user(std::string url) { return url.insert(url.find("//") + 2, "locks:PASSWORD@"); }

std::string program_for(const std::string& options) {
    const bool has_scripts = options.find("scripts=no") == std::string::npos;
    return has_scripts ? "" : support::conditional_set_program();
}

// Of one test; its end looks for refused commands.
struct restricted_server {
    explicit restricted_server(const std::string& options)
        : server({.config = user_lines("redis://h" + options), .program = program_for(options)}) {}
    ~restricted_server() { expect_nothing_refused(server); }
    restricted_server(const restricted_server&) = delete;
    restricted_server& operator=(const restricted_server&) = delete;
    support::redis_server server;
};

// One server for each test, over TCP.
test_service new_redis_service(const std::string& options) {
    auto owned = std::make_shared<restricted_server>(options);
    const auto url = with_user(owned->server.url(options));
    return {.target = pawl::redis::at(url),
            .url = url,
            .restart =
                [owned] {
                    owned->server.kill9();
                    owned->server.start(false);
                },
            .owned = owned};
}

// A user with the least rights at the master, and another one at the Sentinels.
support::sentinel_group_options restricted_group_options() {
    const auto lines = user_lines("redis+sentinel://h/" + support::master_name);
    return {.server_config = {lines.at(0)}, .sentinel_config = {lines.at(1)}};
}

struct restricted_group {
    ~restricted_group() {
        expect_nothing_refused(group.server(0));
        for (std::size_t i = 0; i < group.sentinel_count(); ++i)
            expect_nothing_refused(group.sentinel(i));
    }
    support::sentinel_group group{restricted_group_options()};
};

// A master and three Sentinels for each test. The processes that a test starts need the
// environment variable, too.
test_service new_sentinel_service() {
    ::setenv("PAWL_TEST_SENTINEL_PASSWORD", "PASSWORD", 1);
    auto owned = std::make_shared<restricted_group>();
    const auto url = with_user(
        owned->group.url("?sentinel_user=locks&sentinel_password_env=PAWL_TEST_SENTINEL_PASSWORD"));
    return {.target = pawl::redis::at(url),
            .url = url,
            .restart =
                [owned] {
                    owned->group.server(0).kill9();
                    owned->group.server(0).start(false);
                },
            .owned = owned};
}

struct restricted_cluster {
    ~restricted_cluster() {
        for (std::size_t i = 0; i < group.node_count(); ++i)
            expect_nothing_refused(group.node(i));
    }
    support::cluster_group group{{.server_config = user_lines("redis+cluster://h")}};
};

// Three masters for each test. The tests do not know which of them has a name, so all restart.
test_service new_cluster_service() {
    auto owned = std::make_shared<restricted_cluster>();
    const auto url = with_user(owned->group.url());
    return {.target = pawl::redis::at(url),
            .url = url,
            .restart =
                [owned] {
                    auto& group = owned->group;
                    for (std::size_t i = 0; i < group.node_count(); ++i)
                        group.node(i).kill9();
                    for (std::size_t i = 0; i < group.node_count(); ++i)
                        group.node(i).start(false);
                    if (!group.is_agreed())
                        throw std::runtime_error("the cluster does not start again");
                },
            .owned = owned};
}

struct restricted_nodes {
    explicit restricted_nodes(std::string url_options)
        : options(std::move(url_options)),
          node_options{.config = user_lines("redlock://a,b,c" + options)} {
        const auto settings = pawl::redlock::parse(url());
        if (settings.fenced) pawl::blocking::redlock_administration(settings).begin_set();
    }
    ~restricted_nodes() {
        for (auto& each : nodes)
            expect_nothing_refused(each);
    }
    restricted_nodes(const restricted_nodes&) = delete;
    restricted_nodes& operator=(const restricted_nodes&) = delete;
    [[nodiscard]] std::string url() {
        std::string hosts;
        for (const auto& each : nodes)
            hosts += (hosts.empty() ? "" : ",") + each.host() + ":" + std::to_string(each.port());
        return with_user("redlock://" + hosts + options);
    }

    const std::string options;
    const support::redis_options node_options;
    std::array<support::redis_server, 3> nodes{support::redis_server(node_options),
                                               support::redis_server(node_options),
                                               support::redis_server(node_options)};
};

// Three servers for each test. One of them restarts: a majority must remember the locks.
test_service new_redlock_service(const std::string& options) {
    auto owned = std::make_shared<restricted_nodes>(options);
    const auto url = owned->url();
    return {.target = pawl::redlock::at(url),
            .url = url,
            .restart =
                [owned] {
                    owned->nodes[0].kill9();
                    owned->nodes[0].start(false);
                },
            .owned = owned};
}

#if PAWL_WITH_ETCD

// A cluster of three members for the program, and a namespace for each test.
test_service new_etcd_service() {
    static const auto cluster =
        std::make_shared<support::etcd_cluster>(support::etcd_options{.members = 3});
    static int count = 0;
    const auto url = cluster->url("?namespace=test" + std::to_string(++count));
    const auto restart = [] {
        for (std::size_t i = 0; i < cluster->size(); ++i)
            cluster->kill9(i);
        for (std::size_t i = 0; i < cluster->size(); ++i)
            cluster->start(i);
        for (std::size_t i = 0; i < cluster->size(); ++i)
            cluster->wait_until_ready(i);
    };
    return {.target = pawl::etcd::at(url), .url = url, .restart = restart, .owned = cluster};
}

constexpr capabilities etcd_capabilities() {
    capabilities all;
    all.loss_is_pushed = all.survives_failover = true;
    all.shared = all.permits = all.strictly_fair = all.downgrades = true;
    all.acquire_batch = true;
    all.least_ttl = std::chrono::seconds(2);
    all.ttl_granularity = std::chrono::seconds(1);
    return all;
}

#endif

constexpr capabilities redis_capabilities() {
    capabilities all;
    all.loss_is_pushed = true;
    all.shared = all.permits = all.strictly_fair = all.downgrades = true;
    all.caller_values = all.acquire_batch = true;
    all.replica_durability = all.disk_durability = true;
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
    all.replica_durability = all.disk_durability = false;
    return all;
}

constexpr capabilities memory_capabilities() {
    auto all = sqlite_capabilities();
    all.tokens_survive_data_loss = all.across_processes = false;
    return all;
}

constexpr capabilities both_capabilities() {
    auto all = memory_capabilities();
    all.hands_over = all.modes_share_queue = false;
    all.order = pawl::spi::fairness::none;
    all.permits = all.strictly_fair = all.downgrades = false;
    all.latches = all.barriers = false;
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
    all.order = pawl::spi::fairness::none;
    all.permits = all.latches = true;
    all.replica_durability = all.disk_durability = true;
    all.shared = all.downgrades = readwrite;
    all.strictly_fair = !readwrite;
    return all;
}

constexpr capabilities scriptless_capabilities() {
    capabilities all;
    all.hands_over = all.modes_share_queue = false;
    all.order = pawl::spi::fairness::none;
    all.replica_durability = all.disk_durability = true;
    return all;
}

constexpr capabilities redlock_capabilities() {
    capabilities all;
    all.loss_is_pushed = all.acquire_batch = true;
    all.shared = all.downgrades = true;
    all.hands_over = all.modes_share_queue = false;
    all.order = pawl::spi::fairness::none;
    all.most_ttl = std::chrono::minutes(5);
    return all;
}

constexpr capabilities classic_redlock_capabilities() {
    auto all = redlock_capabilities();
    all.fencing = all.tokens_survive_data_loss = false;
    all.shared = all.downgrades = false;
    all.most_ttl = capabilities().most_ttl;
    return all;
}

backend redlock_backend(const std::string& name, const std::string& options,
                        const capabilities& supported) {
    return {name,
            std::make_shared<service_fixture>([options] { return new_redlock_service(options); },
                                              supported, service_limits{.servers_per_request = 3})};
}

backend redis_backend(const std::string& name, const std::string& options,
                      const capabilities& supported) {
    return {name, std::make_shared<service_fixture>(
                      [options] { return new_redis_service(options); }, supported)};
}

}  // namespace

std::vector<backend> all_backends() {
    std::vector<backend> all{
        {"Memory", std::make_shared<service_fixture>(new_memory_service, memory_capabilities())},
        {"Both", std::make_shared<service_fixture>(new_both_service, both_capabilities(),
                                                   service_limits{.shows_waiters = false})},
        {"CoarseMemory",
         std::make_shared<service_fixture>(new_coarse_service, coarse_memory_capabilities())},
        {"Sqlite", std::make_shared<service_fixture>(new_sqlite_service, sqlite_capabilities())},
        redis_backend("Redis", "", redis_capabilities()),
        {"Sentinel", std::make_shared<service_fixture>(new_sentinel_service, redis_capabilities())},
        {"Cluster", std::make_shared<service_fixture>(new_cluster_service, cluster_capabilities())},
        redlock_backend("Redlock", "?ttl_max=300000", redlock_capabilities()),
        redlock_backend("RedlockClassic", "?fenced=no", classic_redlock_capabilities()),
        redis_backend("Redisson", "?layout=redisson", redisson_capabilities(false)),
        redis_backend("RedissonReadWrite", "?layout=redisson&object=readwrite",
                      redisson_capabilities(true))};
#if PAWL_WITH_ETCD
    all.push_back(
        {"Etcd", std::make_shared<service_fixture>(new_etcd_service, etcd_capabilities())});
#endif
    for (auto& each : lease_databases())
        all.push_back(std::move(each));
    for (auto& each : zookeeper_backends())
        all.push_back(std::move(each));
    return all;
}

std::vector<backend> limited_backends() {
    auto all = limited_databases();
    for (auto& each : consul_backends())
        all.push_back(std::move(each));
    all.push_back(
        {"Scriptless", std::make_shared<service_fixture>(
                           [] { return new_redis_service("?scripts=no"); },
                           scriptless_capabilities(), service_limits{.shows_waiters = false})});
    return all;
}

}  // namespace tested
