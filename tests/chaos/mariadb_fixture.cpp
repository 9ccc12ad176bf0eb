// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "mariadb_fixture.hpp"

namespace chaos {

mariadb_fixture::mariadb_fixture(support::mariadb_settings settings)
    : served_database(std::move(settings)) {}

// The names of user locks are known from the waiters and holders.
std::int64_t mariadb_fixture::end_holders_of(const std::string& user_lock) const {
    const auto connections = server.execute(
        "SELECT DISTINCT is_used_lock(concat('" + user_lock +
        "', c.client)) FROM (SELECT client FROM pawl.lock UNION SELECT client FROM pawl.holder "
        "UNION SELECT client FROM pawl.waiter) c WHERE c.client IS NOT NULL");
    std::int64_t count = 0;
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
