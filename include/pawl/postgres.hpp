// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Locks in a PostgreSQL database: docs/backends/postgres.md.
#pragma once

#include <pawl/postgres_keys.hpp>
#include <pawl/service.hpp>
#include <pawl/shedlock.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::postgres {

// What happens after a failover to a server that may not know all holds.
enum class after_failover : std::uint8_t {
    wait,  // nothing is granted for the longest ttl that anybody requested, unless the server names
           // synchronous standbys
    go     // locks are granted at once
};

// What a lock is.
enum class lock_kind : std::uint8_t {
    lease,   // a row of Pawl's tables, with every mode of locks and with fencing tokens
    session  // an advisory lock of a session, which other programs can share; without tokens
};

// Where the locks are.
struct options {
    // A connection string of libpq, or a URI, with any of libpq's parameters. Of several hosts, the
    // first one that accepts writes is used. What it lacks comes from libpq's environment variables
    // (PGHOST, PGPASSWORD …) and from the password file, as in psql.
    std::string connection{};
    // The schema with Pawl's tables and functions: a lower-case letter or '_', then up to 62
    // lower-case letters, digits and '_'.
    std::string schema = "pawl";
    // Locks in different namespaces of a schema are different. 1 to 64 bytes.
    std::string name_space = "pawl";
    // True: the first use makes a missing schema, if the role may. False: it fails with
    // errc::refused.
    bool make_schema = true;
    postgres::after_failover after_failover = postgres::after_failover::wait;
    // ShedLock's table in place of Pawl's own, for exclusive locks shared with Java services. The
    // options of the schema, and `kind` and `keys`, then keep their defaults.
    std::optional<shedlock_table> shedlock{};
    // With lock_kind::session, the options above, except for the connection, keep their defaults.
    lock_kind kind = lock_kind::lease;
    advisory_keys keys = advisory_keys::distributed_lock;  // of lock_kind::session
};

// Neither connects. They throw errc::bad_option for options that cannot be used, and errc::bad_url
// for a URL that is not understood.
[[nodiscard]] service at(options settings);
// postgresql://[user[:password]@]host[:port][,host…][/database][?option=value&…] with libpq's
// options, and with schema, namespace, make_schema and after_failover, or mode=session and keys, or
// layout=shedlock, table, others and lock_at_least. postgres:// is the same.
[[nodiscard]] service at(std::string_view url);

// The options of such a URL. `connection` is then a URI for libpq, without Pawl's own options.
// Throws as `at` does.
[[nodiscard]] options parse(std::string_view url);

// The SQL that makes the schema, or ShedLock's table, for an administrator. With the name of an
// application's role, the SQL also makes a role without login that owns the schema, and grants the
// application's role what locks need and no more. Throws errc::bad_option.
[[nodiscard]] std::string schema_of(const options& settings, std::string_view role = {});

}  // namespace pawl::postgres
