// The statements of the protocol, prepared once per connection, and what every step of it runs in.
#pragma once

#include "store.hpp"

namespace pawl::sqlite {

struct store::statements {
    explicit statements(database& on)
        : find(on,
               "SELECT owner, client, host, pid, command, since, boot, expires, token "
               "FROM locks WHERE ns = ? AND name = ?"),
          put(on,
              "INSERT OR REPLACE INTO locks (ns, name, owner, client, host, pid, command, since, "
              "boot, expires, token) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
          drop(on, "DELETE FROM locks WHERE ns = ? AND name = ?"),
          renew(on,
                "UPDATE locks SET expires = ? "
                "WHERE ns = ? AND name = ? AND owner = ? AND boot = ? AND expires > ?"),
          names(on, "SELECT name FROM locks WHERE ns = ?1 AND name >= ?2 ORDER BY name"),
          next_token(on, "UPDATE pawl SET last_token = last_token + 1 RETURNING last_token"),
          enqueue(on,
                  "INSERT INTO waiters (ns, name, owner, client, host, pid, command, boot, ttl, "
                  "expires) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
                  "ON CONFLICT (owner) DO UPDATE SET expires = excluded.expires"),
          first(on,
                "SELECT owner, client, host, pid, command, boot, ttl, expires "
                "FROM waiters WHERE ns = ? AND name = ? ORDER BY seq LIMIT 1"),
          refresh(on, "UPDATE waiters SET expires = ? WHERE owner = ?"),
          leave(on, "DELETE FROM waiters WHERE owner = ?"),
          line(on,
               "SELECT client FROM waiters "
               "WHERE ns = ? AND name = ? AND boot = ? AND expires > ? ORDER BY seq") {}

    statement find, put, drop, renew, names, next_token;
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
