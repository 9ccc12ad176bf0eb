// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "postgres_fixture.hpp"

namespace chaos {

postgres_fixture::postgres_fixture(support::postgres_options options)
    : served_database(std::move(options)),
      database(server.create_database()),
      proxy(server.port()) {}

std::string postgres_fixture::url_for(const std::string& user) const {
    return "postgresql://" + user + "@127.0.0.1:" + std::to_string(server.port()) + "/" + database;
}

std::vector<support::sql_row> postgres_fixture::execute(const std::string& sql) const {
    return server.execute(sql, database);
}

std::int64_t postgres_fixture::number(const std::string& sql) const {
    return std::stoll(server.value(sql, database));
}

std::int64_t postgres_fixture::end_sessions() {
    return number(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = "
        "current_database() AND pid <> pg_backend_pid()");
}

bool postgres_fixture::is_held(const std::string& name) const {
    return number(
               "SELECT (SELECT count(*) FROM pawl.lock WHERE owner IS NOT NULL AND expires > "
               "clock_timestamp() AND name = '" +
               name +
               "') + (SELECT count(*) FROM pawl.holder WHERE expires > clock_timestamp() AND "
               "name = '" +
               name + "')") > 0;
}

// The places of sessions that have ended stay until the lock's next change.
bool postgres_fixture::becomes_clean() const {
    return eventually([this] {
        return number(
                   "SELECT (SELECT count(*) FROM pawl.lock WHERE owner IS NOT NULL AND expires "
                   "> clock_timestamp() AND name <> 'warm') + (SELECT count(*) FROM "
                   "pawl.holder WHERE expires > clock_timestamp()) + (SELECT count(*) FROM "
                   "pawl.waiter w WHERE CASE WHEN w.expires IS NULL THEN "
                   "pawl.is_alive(w.client, '') ELSE w.expires > clock_timestamp() END)") == 0;
    });
}

}  // namespace chaos
