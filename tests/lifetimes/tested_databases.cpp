// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "tested_servers.hpp"

#if PAWL_WITH_POSTGRES
#include <support/postgres_server.hpp>

#include <pawl/postgres.hpp>
#endif
#if PAWL_WITH_MYSQL
#include <support/mariadb_server.hpp>

#include <pawl/mysql.hpp>
#endif

namespace lifetimes {
namespace {

[[maybe_unused]] constexpr const char* shedlock = "?layout=shedlock&others=database_time";

#if PAWL_WITH_POSTGRES

class postgres final : public servers<support::postgres_server> {
public:
    explicit postgres(const std::string& url_options) {
        server_.execute(pawl::postgres::schema_of(
            {.shedlock = pawl::shedlock_table{.others_use_database_time = true}}));
        add(server_);
        use(server_.url("postgres", url_options));
    }

private:
    support::postgres_server server_;
};

#endif
#if PAWL_WITH_MYSQL

class mariadb final : public servers<support::mariadb_server> {
public:
    explicit mariadb(const std::string& url_options) {
        pawl::mysql::options settings;
        settings.schema = "shared";
        settings.shedlock = {.others_use_database_time = true};
        server_.execute("CREATE DATABASE " + settings.schema);
        support::mariadb_client(server_.port()).execute_script(pawl::mysql::schema_of(settings));
        add(server_);
        const auto database = url_options == shedlock ? settings.schema : "pawl";
        use(server_.url(url_options == "?mode=session" ? "" : database, url_options));
    }

private:
    support::mariadb_server server_;
};

#endif

}  // namespace

std::vector<service_kind> database_kinds() {
    return {
#if PAWL_WITH_POSTGRES
        kind<postgres>("Postgres", std::string()),
            kind<postgres>("PostgresSession", std::string("?mode=session")),
            kind<postgres>("PostgresShedLock", std::string(shedlock)),
#endif
#if PAWL_WITH_MYSQL
            kind<mariadb>("MariaDb", std::string()),
            kind<mariadb>("MariaDbSession", std::string("?mode=session")),
            kind<mariadb>("MariaDbRow", std::string("?mode=row")),
            kind<mariadb>("MariaDbShedLock", std::string(shedlock)),
#endif
    };
}

}  // namespace lifetimes
