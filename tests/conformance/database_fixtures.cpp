// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "database_fixtures.hpp"

#include "service_fixture.hpp"

#if PAWL_WITH_POSTGRES
#include <support/postgres_server.hpp>

#include <pawl/postgres.hpp>
#endif
#if PAWL_WITH_MYSQL
#include <support/mariadb_server.hpp>

#include <pawl/mysql.hpp>
#endif

#include <memory>
#include <string>

namespace tested {

#if PAWL_WITH_POSTGRES || PAWL_WITH_MYSQL

namespace {

using pawl::conformance::test_service;
using pawl::spi::capabilities;
using namespace std::chrono_literals;

const std::string shedlock_layout = "?layout=shedlock&others=database_time";
const std::string session_mode = "?mode=session";

template <class Server>
test_service service_on(const std::shared_ptr<Server>& server, pawl::service target,
                        std::string url) {
    return {.target = std::move(target),
            .url = std::move(url),
            .restart =
                [server] {
                    server->kill9();
                    server->start();
                },
            .owned = server};
}

constexpr capabilities lease_capabilities() {
    capabilities all;
    all.shared = all.permits = all.strictly_fair = all.downgrades = true;
    all.caller_values = all.acquire_batch = all.disk_durability = true;
    all.latches = all.barriers = true;
    all.least_ttl = 100ms;
    return all;
}

constexpr capabilities shedlock_capabilities() {
    capabilities all;
    all.hands_over = all.modes_share_queue = false;
    all.order = pawl::spi::fairness::none;
    all.least_ttl = 100ms;
    return all;
}

constexpr capabilities session_capabilities() {
    capabilities all;
    all.fencing = all.tokens_survive_data_loss = false;
    all.names_holders = all.knows_remaining_time = false;
    all.strictly_fair = true;
    all.least_ttl = 1s;
    return all;
}

// The table has texts of 64 characters.
bool fits_shedlock(std::string_view name) { return is_utf8(name) && name.size() <= 64; }

constexpr service_limits shedlock_limits{.shows_waiters = false, .accepts_name = fits_shedlock};

// Each hold of a session needs a connection.
constexpr int most_connections = 60;

#if PAWL_WITH_POSTGRES

// A server for the program, and a database for each test. The user has the least rights. The
// processes that a test starts use the same server.
test_service new_postgres_service(const std::string& options) {
    static const auto server = [] {
        auto made = std::make_shared<support::postgres_server>();
        made->execute("CREATE ROLE locks LOGIN");
        return made;
    }();
    const auto database = server->create_database();
    const auto url =
        "postgresql://locks@127.0.0.1:" + std::to_string(server->port()) + "/" + database + options;
    const auto target = pawl::postgres::at(url);
    if (options != session_mode) server->execute(target.setup_text("locks"), database);
    return service_on(server, target, url);
}

constexpr capabilities postgres_capabilities() {
    auto all = lease_capabilities();
    all.replica_durability = true;
    return all;
}

constexpr capabilities advisory_capabilities() {
    auto all = session_capabilities();
    all.loss_is_pushed = all.shared = true;
    return all;
}

#endif

#if PAWL_WITH_MYSQL

// As for PostgreSQL. User locks are those of the server: the tests have the same names, one after
// the other.
template <support::database_product Product>
test_service new_mysql_service(const std::string& options) {
    static const auto server = [] {
        auto made = std::make_shared<support::mariadb_server>(
            support::mariadb_settings{.product = Product});
        made->execute("CREATE USER locks");
        return made;
    }();
    static int count = 0;
    const bool has_database = options != session_mode;
    const auto database = has_database ? "test" + std::to_string(++count) : std::string();
    const auto url = server->url(database, options, "locks");
    const auto target = pawl::mysql::at(url);
    if (has_database) {
        server->execute("CREATE DATABASE " + database);
        support::mariadb_client(server->port()).execute_script(target.setup_text("locks"));
    }
    return service_on(server, target, url);
}

constexpr capabilities user_lock_capabilities() {
    auto all = session_capabilities();
    all.ttl_granularity = 1s;
    return all;
}

// Up to U+FFFF, without capitals beyond ASCII.
bool fits_user_lock(std::string_view name) {
    return is_utf8(name) && name.find('\xF0') == std::string_view::npos;
}

constexpr capabilities row_capabilities() {
    capabilities all;
    all.hands_over = all.knows_remaining_time = false;
    all.order = pawl::spi::fairness::none;
    all.least_ttl = all.ttl_granularity = 1s;
    return all;
}

template <support::database_product Product>
backend mysql_backend(const std::string& name, const std::string& options,
                      const capabilities& supported, const service_limits& limits = {}) {
    return {name,
            std::make_shared<service_fixture>(
                [options] { return new_mysql_service<Product>(options); }, supported, limits)};
}

template <support::database_product Product>
void add_session_backends(std::vector<backend>& all, const std::string& product) {
    all.push_back(mysql_backend<Product>(
        product + "Session", session_mode, user_lock_capabilities(),
        {.lists_locks = false, .accepts_name = fits_user_lock, .most_holds = most_connections}));
    all.push_back(mysql_backend<Product>(product + "Row", "?mode=row", row_capabilities(),
                                         {.most_holds = most_connections}));
}

#endif

}  // namespace

#endif

std::vector<backend> lease_databases() {
    std::vector<backend> all;
#if PAWL_WITH_POSTGRES
    all.push_back(
        {"Postgres", std::make_shared<service_fixture>([] { return new_postgres_service(""); },
                                                       postgres_capabilities())});
#endif
#if PAWL_WITH_MYSQL
    using support::database_product;
    all.push_back(mysql_backend<database_product::mariadb>("MariaDb", "", lease_capabilities()));
    all.push_back(mysql_backend<database_product::mysql>("MySql", "", lease_capabilities()));
#endif
    return all;
}

std::vector<backend> limited_databases() {
    std::vector<backend> all;
#if PAWL_WITH_POSTGRES
    all.push_back({"PostgresShedLock", std::make_shared<service_fixture>(
                                           [] { return new_postgres_service(shedlock_layout); },
                                           shedlock_capabilities(), shedlock_limits)});
    all.push_back({"PostgresSession",
                   std::make_shared<service_fixture>(
                       [] { return new_postgres_service(session_mode); }, advisory_capabilities(),
                       service_limits{.lists_locks = false, .most_holds = most_connections})});
#endif
#if PAWL_WITH_MYSQL
    using support::database_product;
    all.push_back(mysql_backend<database_product::mariadb>(
        "MariaDbShedLock", shedlock_layout, shedlock_capabilities(), shedlock_limits));
    add_session_backends<database_product::mariadb>(all, "MariaDb");
    add_session_backends<database_product::mysql>(all, "MySql");
#endif
    return all;
}

}  // namespace tested
