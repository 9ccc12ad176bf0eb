// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Databases in which a lock belongs to a session, as fixtures of the conformance suite. A server
// for the program; the processes that a test starts use it, too.
#include "fixtures.hpp"
#include "service_fixture.hpp"

#if PAWL_WITH_POSTGRES
#include <support/postgres_server.hpp>

#include <pawl/postgres.hpp>
#endif
#if PAWL_WITH_MYSQL
#include <support/mariadb_server.hpp>

#include <pawl/mysql.hpp>
#endif

namespace tested {
namespace {

using pawl::conformance::test_service;
using pawl::spi::capabilities;
using namespace std::chrono_literals;

// Each hold needs a connection.
[[maybe_unused]] constexpr int most_test_holds = 60;

#if PAWL_WITH_POSTGRES

test_service new_advisory_service() {
    static const auto server = [] {
        auto made = std::make_shared<support::postgres_server>();
        made->execute("CREATE ROLE locks LOGIN");
        return made;
    }();
    const auto url = "postgresql://locks@127.0.0.1:" + std::to_string(server->port()) + "/" +
                     server->create_database() + "?mode=session";
    return {.target = pawl::postgres::at(url),
            .url = url,
            .restart =
                [] {
                    server->kill9();
                    server->start();
                },
            .owned = server};
}

constexpr capabilities advisory_capabilities() {
    capabilities all;
    all.fencing = all.tokens_survive_data_loss = false;
    all.names_holders = all.knows_remaining_time = false;
    all.loss_is_pushed = all.shared = all.strictly_fair = true;
    all.least_ttl = 1s;
    return all;
}

#endif

#if PAWL_WITH_MYSQL

// User locks are those of the server: the tests have the same names, one after the other.
template <support::database_product Product>
test_service new_connection_service(pawl::mysql::lock_kind kind) {
    static const auto server = [] {
        auto made = std::make_shared<support::mariadb_server>(
            support::mariadb_settings{.product = Product});
        made->execute("CREATE USER locks");
        return made;
    }();
    static int count = 0;
    auto url = server->url("", "?mode=session", "locks");
    if (kind == pawl::mysql::lock_kind::row) {
        pawl::mysql::options settings;
        settings.kind = kind;
        settings.schema = "test" + std::to_string(++count);
        support::mariadb_client(server->port())
            .execute_script(pawl::mysql::schema_of(settings, "locks"));
        url = server->url(settings.schema, "?mode=row", "locks");
    }
    return {.target = pawl::mysql::at(url),
            .url = url,
            .restart =
                [] {
                    server->kill9();
                    server->start();
                },
            .owned = server};
}

constexpr capabilities user_lock_capabilities() {
    capabilities all;
    all.fencing = all.tokens_survive_data_loss = false;
    all.names_holders = all.knows_remaining_time = false;
    all.strictly_fair = true;
    all.least_ttl = all.ttl_granularity = 1s;
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
void add_connection_backends(std::vector<backend>& all, const std::string& product) {
    using pawl::mysql::lock_kind;
    all.push_back({product + "Session",
                   std::make_shared<service_fixture>(
                       [] { return new_connection_service<Product>(lock_kind::session); },
                       user_lock_capabilities(),
                       service_limits{.lists_locks = false,
                                      .accepts_name = fits_user_lock,
                                      .most_holds = most_test_holds})});
    all.push_back(
        {product + "Row", std::make_shared<service_fixture>(
                              [] { return new_connection_service<Product>(lock_kind::row); },
                              row_capabilities(), service_limits{.most_holds = most_test_holds})});
}

#endif

}  // namespace

std::vector<backend> session_backends() {
    std::vector<backend> all;
#if PAWL_WITH_POSTGRES
    all.push_back({"PostgresSession",
                   std::make_shared<service_fixture>(
                       new_advisory_service, advisory_capabilities(),
                       service_limits{.lists_locks = false, .most_holds = most_test_holds})});
#endif
#if PAWL_WITH_MYSQL
    using support::database_product;
    add_connection_backends<database_product::mariadb>(all, "MariaDb");
    add_connection_backends<database_product::mysql>(all, "MySql");
#endif
    return all;
}

}  // namespace tested
