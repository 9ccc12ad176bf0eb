// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "async_fixture.hpp"

#include "consul_fixture.hpp"

#if PAWL_WITH_ETCD
#include <support/etcd_server.hpp>

#include <pawl/etcd.hpp>
#endif
#include <support/redis_server.hpp>
#include <support/temp_folder.hpp>

#include <pawl/memory.hpp>
#include <pawl/redis.hpp>
#include <pawl/sqlite.hpp>

namespace tested {
namespace {

// One server for all tests of the program, emptied for each.
pawl::service redis_service() {
    static const auto server = std::make_shared<support::redis_server>();
    (void)server->execute({"FLUSHALL"});
    return pawl::redis::at(server->url());
}

pawl::service sqlite_service() {
    static const support::temp_folder folder;
    static int number = 0;
    return pawl::sqlite::at({.path = folder.file(std::to_string(++number) + ".db")});
}

#if PAWL_WITH_ETCD

// One server for all tests of the program, and a namespace for each.
pawl::service etcd_service() {
    static const support::etcd_cluster cluster;
    static int number = 0;
    return pawl::etcd::at(cluster.url("?namespace=test" + std::to_string(++number)));
}

#endif

}  // namespace

std::vector<service_under_test> async_services() {
    return {{"Memory", [] { return pawl::memory::at(); }},
            {"Sqlite", sqlite_service},
            {"Redis", redis_service}};
}

std::vector<service_under_test> async_lock_services() {
    auto all = async_services();
#if PAWL_WITH_ETCD
    all.push_back({"Etcd", etcd_service});
#endif
    return all;
}

std::vector<service_under_test> all_async_services() {
    auto all = async_lock_services();
    for (const auto& each : consul_backends())
        all.push_back(
            {each.name, [fixture = each.fixture] { return fixture->make_test_service().target; }});
    return all;
}

}  // namespace tested
