// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "postgres_fixture.hpp"

namespace chaos {

postgres_fixture::postgres_fixture(support::postgres_options options)
    : server(std::move(options)), database(server.create_database()), proxy(server.port()) {}

client postgres_fixture::direct_client(const std::string& suffix) {
    return client_at(server.url(database, suffix));
}

client postgres_fixture::proxied_client(const std::string& suffix) {
    return client_at(proxy.url(database, suffix));
}

client postgres_fixture::client_at(const std::string& url, pawl::duration try_limit) {
    pawl::client_options options;
    options.try_limit = try_limit;
    options.log = [this](std::string_view line) { client_log.write(line); };
    return client(pawl::from_url(url), options);
}

std::string postgres_fixture::url_for(const std::string& user) const {
    return "postgresql://" + user + "@127.0.0.1:" + std::to_string(server.port()) + "/" + database;
}

std::optional<failure> postgres_fixture::failure_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const pawl::error& thrown) {
        client_log.write(thrown.what());
        return failure{thrown.reason(), thrown.what()};
    }
    return std::nullopt;
}

try_result postgres_fixture::result_of_try(client& locks, const std::string& name) {
    try {
        const bool is_granted = locks.try_acquire(name, {.ttl = 2s}).owns_lock();
        return is_granted ? try_result::granted : try_result::busy;
    } catch (const pawl::error&) {
        return try_result::failed;
    }
}

void postgres_fixture::expect_pairs(client& locks, const std::string& name, int count) {
    pawl::fencing_token newest;
    for (int i = 0; i < count; ++i) {
        auto lock = locks.acquire(name, {.ttl = long_ttl, .wait = patience});
        EXPECT_GT(lock.token(), newest);
        newest = lock.token();
        EXPECT_EQ(lock.release(), release_result::released);
    }
}

std::vector<support::sql_row> postgres_fixture::execute(const std::string& sql) const {
    return server.execute(sql, database);
}

std::int64_t postgres_fixture::number(const std::string& sql) const {
    return std::stoll(server.value(sql, database));
}

std::int64_t postgres_fixture::end_sessions() const {
    return number(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = "
        "current_database() AND pid <> pg_backend_pid()");
}

std::int64_t postgres_fixture::waiters(const std::string& name) const {
    return number("SELECT count(*) FROM pawl.waiter WHERE name = '" + name + "'");
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
