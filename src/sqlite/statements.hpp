// The statements of the protocol, prepared once per connection, and what every step of it runs in.
#pragma once

#include "store.hpp"

namespace pawl::sqlite {

inline std::int64_t stored(time_point when) { return when.time_since_epoch().count(); }

inline time_point instant(std::int64_t stored) { return time_point(duration(stored)); }

inline time_point after(time_point now, duration more) {
    return more > time_point::max() - now ? time_point::max() : now + more;
}

// Who of a table's rows is over (docs/sqlite.md, "Another boot"): ?1 is our boot, ?2 the time.
#define PAWL_ROW_ENDED "(expires <= ?2 OR (boot <> ?1 AND set_at > ?2))"

struct store::statements {
    explicit statements(database& on)
        : holders(on,
                  "SELECT owner, client, host, pid, command, since, boot, expires, token, mode, "
                  "permits, set_at FROM holders WHERE ns = ? AND name = ?"),
          holder(on,
                 "SELECT owner, client, host, pid, command, since, boot, expires, token, mode, "
                 "permits, set_at FROM holders WHERE ns = ? AND name = ? AND owner = ?"),
          put(on,
              "INSERT INTO holders (ns, name, owner, client, host, pid, command, since, boot, "
              "expires, token, mode, permits, set_at) "
              "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
          drop(on, "DELETE FROM holders WHERE ns = ? AND name = ? AND owner = ?"),
          drop_all(on, "DELETE FROM holders WHERE ns = ? AND name = ?"),
          drop_ended(on, "DELETE FROM holders WHERE " PAWL_ROW_ENDED " AND ns = ?3 AND name = ?4"),
          renew(on,
                "UPDATE holders SET expires = ?3, set_at = ?2, boot = ?1 "
                "WHERE NOT " PAWL_ROW_ENDED " AND ns = ?4 AND name = ?5 AND owner = ?6"),
          share(on,
                "UPDATE holders SET mode = 1, expires = ?, set_at = ?, boot = ? "
                "WHERE ns = ? AND name = ? AND owner = ?"),
          names(on, "SELECT DISTINCT name FROM holders WHERE ns = ?1 AND name >= ?2 ORDER BY name"),
          next_token(on,
                     "UPDATE pawl SET last_token = max(last_token + 1, ?) RETURNING last_token"),
          permits(on, "SELECT permits FROM semaphores WHERE ns = ? AND name = ?"),
          set_permits(on, "INSERT OR REPLACE INTO semaphores (ns, name, permits) VALUES (?, ?, ?)"),
          enqueue(on,
                  "INSERT INTO waiters (ns, name, owner, client, host, pid, command, boot, ttl, "
                  "expires, mode, permits, set_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
                  "ON CONFLICT (owner) DO UPDATE SET expires = excluded.expires, "
                  "set_at = excluded.set_at, boot = excluded.boot, client = excluded.client"),
          first(on,
                "SELECT owner, client, host, pid, command, boot, ttl, expires, mode, permits, "
                "set_at FROM waiters WHERE ns = ? AND name = ? ORDER BY seq LIMIT 1"),
          refresh(on, "UPDATE waiters SET expires = ?, set_at = ?, boot = ? WHERE owner = ?"),
          leave(on, "DELETE FROM waiters WHERE owner = ?"),
          line(on,
               "SELECT client FROM waiters "
               "WHERE NOT " PAWL_ROW_ENDED " AND ns = ?3 AND name = ?4 ORDER BY seq") {}

    statement holders, holder, put, drop, drop_all, drop_ended, renew, share, names, next_token;
    statement permits, set_permits;
    statement enqueue, first, refresh, leave, line;
};

template <class Step>
auto store::transact(durability how, Step step) {
    try {
        open();
        rings_.clear();
        transaction one(*database_, how);
        // Read after all waiting for the file, and before anybody else can see what is written.
        auto result = step(time_.now());
        one.commit();
        expect_same_file();
        for (const auto& [client, news] : rings_)
            bell_->send(client, news);
        return result;
    } catch (const database_error& failed) {
        if (!failed.passing) disconnect();
        throw;
    }
}

template <class Step>
auto store::read(Step step) {
    try {
        open();
        return step(time_.now());
    } catch (const database_error& failed) {
        if (!failed.passing) disconnect();
        throw;
    }
}

}  // namespace pawl::sqlite
