// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The statements of the protocol, prepared once per connection.
#pragma once

#include "database.hpp"

#include <pawl/types.hpp>

#include <algorithm>
#include <limits>

namespace pawl::sqlite {

inline std::int64_t to_stored(time_point when) { return when.time_since_epoch().count(); }

inline time_point from_stored(std::int64_t stored) { return time_point(duration(stored)); }

// The time within which a waiter that was granted the lock must confirm that it is alive.
inline constexpr duration claim_window = std::chrono::milliseconds(1800);
// How long a waiter's row outlives its last refresh.
inline constexpr duration waiter_lease = std::chrono::seconds(4);

inline std::int64_t microseconds(std::chrono::system_clock::time_point when) {
    return std::chrono::duration_cast<std::chrono::microseconds>(when.time_since_epoch()).count();
}

// Any program that may write the file may write any number into it. A value out of range counts as
// the nearest valid one, and an unknown mode as the one that excludes all others.
inline lock_mode read_mode(const statement& row, int column) {
    switch (row.number(column)) {
    case static_cast<int>(lock_mode::shared): return lock_mode::shared;
    case static_cast<int>(lock_mode::permits): return lock_mode::permits;
    default: return lock_mode::exclusive;
    }
}

inline std::uint32_t read_count(const statement& row, int column) {
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(row.number(column), 0, std::numeric_limits<std::uint32_t>::max()));
}

inline std::chrono::system_clock::time_point read_wall_time(const statement& row, int column) {
    using std::chrono::system_clock;
    constexpr auto limit =
        std::chrono::duration_cast<std::chrono::microseconds>(system_clock::duration::max())
            .count();
    const std::chrono::microseconds since_1970(std::clamp(row.number(column), -limit, limit));
    return system_clock::time_point(since_1970);
}

// Whether a row has expired (docs/backends/sqlite.md, "Another boot"): ?1 is this boot, ?2 the
// time.
#define PAWL_ROW_EXPIRED "(expires <= ?2 OR (boot <> ?1 AND set_at > ?2))"

struct statements {
    explicit statements(database& connection)
        : holders(connection,
                  "SELECT owner, client, host, pid, command, since, boot, expires, token, mode, "
                  "permits, set_at FROM holders WHERE ns = ? AND name = ?"),
          holder(connection,
                 "SELECT owner, client, host, pid, command, since, boot, expires, token, mode, "
                 "permits, set_at FROM holders WHERE ns = ? AND name = ? AND owner = ?"),
          insert_holder(
              connection,
              "INSERT INTO holders (ns, name, owner, client, host, pid, command, since, boot, "
              "expires, token, mode, permits, set_at) "
              "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
          delete_holder(connection, "DELETE FROM holders WHERE ns = ? AND name = ? AND owner = ?"),
          delete_expired_holders(connection, "DELETE FROM holders WHERE " PAWL_ROW_EXPIRED
                                             " AND ns = ?3 AND name = ?4"),
          renew_holder(connection,
                       "UPDATE holders SET expires = ?3, set_at = ?2, boot = ?1 "
                       "WHERE NOT " PAWL_ROW_EXPIRED
                       " AND ns = ?4 AND name = ?5 AND owner = ?6 AND mode = ?7"),
          downgrade_holder(connection,
                           "UPDATE holders SET mode = 1, expires = ?, set_at = ?, boot = ? "
                           "WHERE ns = ? AND name = ? AND owner = ?"),
          names(connection,
                "SELECT DISTINCT name FROM holders WHERE ns = ?1 AND name >= ?2 ORDER BY name"),
          next_token(connection,
                     "UPDATE pawl SET last_token = max(last_token + 1, ?) RETURNING last_token"),
          permits(connection, "SELECT permits FROM semaphores WHERE ns = ? AND name = ?"),
          set_permits(connection,
                      "INSERT OR REPLACE INTO semaphores (ns, name, permits) VALUES (?, ?, ?)"),
          enqueue_waiter(
              connection,
              "INSERT INTO waiters (ns, name, owner, client, host, pid, command, boot, ttl, "
              "expires, mode, permits, set_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
              "ON CONFLICT (owner) DO UPDATE SET expires = excluded.expires, "
              "set_at = excluded.set_at, boot = excluded.boot, client = excluded.client"),
          first_waiter(
              connection,
              "SELECT owner, client, host, pid, command, boot, ttl, expires, mode, permits, "
              "set_at FROM waiters WHERE ns = ? AND name = ? ORDER BY seq LIMIT 1"),
          refresh_waiter(connection,
                         "UPDATE waiters SET expires = ?, set_at = ?, boot = ? WHERE owner = ?"),
          delete_waiter(connection, "DELETE FROM waiters WHERE owner = ?"),
          waiters(connection,
                  "SELECT client FROM waiters "
                  "WHERE NOT " PAWL_ROW_EXPIRED " AND ns = ?3 AND name = ?4 ORDER BY seq") {}

    statement holders, holder, insert_holder, delete_holder, delete_expired_holders, renew_holder,
        downgrade_holder, names, next_token;
    statement permits, set_permits;
    statement enqueue_waiter, first_waiter, refresh_waiter, delete_waiter, waiters;
};

}  // namespace pawl::sqlite
