// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "mariadb_fixture.hpp"

namespace chaos {

mariadb_fixture::mariadb_fixture(support::mariadb_settings settings)
    : server(std::move(settings)) {}

client mariadb_fixture::client_with(const std::string& suffix) {
    return client_at(server.url("pawl", suffix));
}

client mariadb_fixture::client_at(const std::string& url, pawl::duration try_limit) {
    pawl::client_options options;
    options.try_limit = try_limit;
    options.log = [this](std::string_view line) { client_log.write(line); };
    return client(pawl::from_url(url), options);
}

std::optional<failure> mariadb_fixture::failure_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const pawl::error& thrown) {
        client_log.write(thrown.what());
        return failure{thrown.reason(), thrown.what()};
    }
    return std::nullopt;
}

std::optional<failure> mariadb_fixture::failure_at(const std::string& url) {
    client locks = client_at(url);
    return failure_of([&] { (void)locks.acquire("it", {.ttl = 2s, .wait = patience}); });
}

bool mariadb_fixture::is_taken(client& locks, const std::string& name) {
    try {
        return !locks.try_acquire(name, {.ttl = 2s}).owns_lock();
    } catch (const pawl::error&) {
        return false;
    }
}

void mariadb_fixture::expect_pairs(client& locks, const std::string& name, int count) {
    pawl::fencing_token newest;
    for (int i = 0; i < count; ++i) {
        auto lock = locks.acquire(name, {.ttl = long_ttl, .wait = patience});
        EXPECT_GT(lock.token(), newest);
        newest = lock.token();
        EXPECT_EQ(lock.release(), release_result::released);
    }
}

std::int64_t mariadb_fixture::waiters(const std::string& name) const {
    return server.number("SELECT count(*) FROM pawl.waiter WHERE name = '" + name + "'");
}

// The names of user locks are known from the waiters and holders.
int mariadb_fixture::end_connections(const std::string& user_lock) const {
    const auto connections = server.execute(
        "SELECT DISTINCT is_used_lock(concat('" + user_lock +
        "', c.client)) FROM (SELECT client FROM pawl.lock UNION SELECT client FROM pawl.holder "
        "UNION SELECT client FROM pawl.waiter) c WHERE c.client IS NOT NULL");
    int count = 0;
    for (const auto& each : connections)
        if (each.front()) {
            try {
                server.execute("KILL " + *each.front());
                ++count;
            } catch (const support::mariadb_failure&) {}  // it has just ended
        }
    return count;
}

// The places of sessions that have ended stay until the lock's next change.
bool mariadb_fixture::becomes_clean() const {
    return eventually([this] {
        return server.number(
                   "SELECT (SELECT count(*) FROM pawl.lock WHERE owner IS NOT NULL AND expires > "
                   "utc_timestamp(6)) + (SELECT count(*) FROM pawl.holder WHERE expires > "
                   "utc_timestamp(6)) + (SELECT count(*) FROM pawl.waiter w WHERE "
                   "if(w.expires IS NULL, is_used_lock(concat('pawl.', w.client)) IS NOT NULL, "
                   "w.expires > utc_timestamp(6)))") == 0;
    });
}

}  // namespace chaos
