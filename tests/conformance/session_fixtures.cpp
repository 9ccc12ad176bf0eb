// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Databases in which a lock belongs to a session, as fixtures of the conformance suite. A server
// for the program; the processes that a test starts use it, too.
#include "fixtures.hpp"

#include <pawl/spi/backend.hpp>

#if PAWL_WITH_POSTGRES
#include <support/postgres_server.hpp>

#include <pawl/postgres.hpp>
#endif
#if PAWL_WITH_MYSQL
#include <support/mariadb_server.hpp>

#include <pawl/mysql.hpp>
#endif

#include <functional>

namespace tested {
namespace {

using pawl::conformance::test_service;
using pawl::spi::capabilities;
using namespace std::chrono_literals;

class session_fixture final : public pawl::conformance::fixture {
public:
    struct properties {
        bool lists_locks = true;
        bool accepts_every_name = true;
    };
    session_fixture(std::function<test_service()> make, const pawl::spi::capabilities& supported,
                    properties limits)
        : make_(std::move(make)), supported_(supported), limits_(limits) {}

    test_service make_test_service() override { return make_(); }
    const pawl::spi::capabilities& capabilities() const override { return supported_; }
    bool lists_locks() const override { return limits_.lists_locks; }
    // UTF-8 up to U+FFFF, without capitals beyond ASCII.
    bool accepts_name(std::string_view name) const override {
        return limits_.accepts_every_name || name == "ä" ||
               name.find_first_of("\xC3\xF0\xFF") == std::string_view::npos;
    }
    int most_holds() const override { return 60; }

private:
    const std::function<test_service()> make_;
    const pawl::spi::capabilities supported_;
    const properties limits_;
};

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
test_service new_connection_service(pawl::mysql::lock_kind kind) {
    static const auto server = [] {
        auto made = std::make_shared<support::mariadb_server>();
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

constexpr capabilities row_capabilities() {
    capabilities all;
    all.hands_over = all.knows_remaining_time = false;
    all.order = pawl::spi::fairness::none;
    all.least_ttl = all.ttl_granularity = 1s;
    return all;
}

#endif

}  // namespace

std::vector<backend> session_backends() {
    std::vector<backend> all;
#if PAWL_WITH_POSTGRES
    all.push_back({"PostgresSession", std::make_shared<session_fixture>(
                                          new_advisory_service, advisory_capabilities(),
                                          session_fixture::properties{.lists_locks = false})});
#endif
#if PAWL_WITH_MYSQL
    using pawl::mysql::lock_kind;
    all.push_back(
        {"MariaDbSession",
         std::make_shared<session_fixture>(
             [] { return new_connection_service(lock_kind::session); }, user_lock_capabilities(),
             session_fixture::properties{.lists_locks = false, .accepts_every_name = false})});
    all.push_back({"MariaDbRow", std::make_shared<session_fixture>(
                                     [] { return new_connection_service(lock_kind::row); },
                                     row_capabilities(), session_fixture::properties{})});
#endif
    return all;
}

}  // namespace tested
