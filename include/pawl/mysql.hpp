// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Locks in a MariaDB (10.6 or later) or MySQL (8.0 or later) database: docs/backends/mysql.md.
#pragma once

#include <pawl/service.hpp>
#include <pawl/shedlock.hpp>
#include <pawl/tls.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::mysql {

// One server.
struct server {
    std::string host = "127.0.0.1";  // a name or a numeric address
    std::uint16_t port = 3306;       // of the server
};

// What happens after a failover to a server that may not know all holds.
enum class after_failover : std::uint8_t {
    wait,  // nothing is granted for the longest ttl that anybody requested
    go     // locks are granted at once
};

// What a lock is.
enum class lock_kind : std::uint8_t {
    lease,    // rows of Pawl's tables, with every mode of locks and with fencing tokens
    session,  // a user lock (GET_LOCK), as of DistributedLock.MySql (.NET); without tokens
    row       // a row that an open transaction locks (SELECT … FOR UPDATE)
};

// Where the locks are.
struct options {
    // The first one that accepts writes is used. 1 to 16.
    std::vector<server> servers{server()};
    std::string user{};      // empty: the server's anonymous user
    std::string password{};  // empty: none
    // A regular file whose first line is the password. Not readable by everybody, unless it is
    // mounted read-only. Read again for each new connection, so that a password can change.
    std::string password_file{};
    tls_options tls{};  // off by default
    // The database with Pawl's tables and procedures: a lower-case letter or '_', then up to 62
    // lower-case letters, digits and '_'.
    std::string schema = "pawl";
    // Locks in different namespaces of a database are different. 1 to 64 bytes.
    std::string name_space = "pawl";
    // True: the first use makes a missing database, if the user may. False: it fails with
    // errc::refused.
    bool make_schema = true;
    // False: waiters poll, and the client needs no second connection while it waits.
    bool push = true;
    mysql::after_failover after_failover = mysql::after_failover::wait;
    // ShedLock's table in place of Pawl's own, for exclusive locks shared with Java services.
    // `schema` is then their database, which may have other letters. `name_space`, `make_schema`,
    // `push`, `after_failover`, `kind` and `one_node` keep their defaults.
    std::optional<shedlock_table> shedlock{};
    // lock_kind::session has no schema and no namespace, and neither push nor after_failover are
    // for other kinds than `lease`: such options keep their defaults.
    lock_kind kind = lock_kind::lease;
    // All clients use the same node of a cluster. Else a cluster is refused, unless the kind is
    // `lease`: its nodes do not know each other's user locks and locked rows.
    bool one_node = false;
};

// Neither connects. They throw errc::bad_option for options that cannot be used, and errc::bad_url
// for a URL that is not understood.
[[nodiscard]] service at(options settings);
// mysql://[user[:password]@]host[:port][,host…][/database][?option=value&…], with the options tls,
// ca, cert, cert_key, verify, tls_name, password_env, password_file, namespace, make_schema, push,
// after_failover, mode (lease, session or row) and one_node, or with layout=shedlock, table, others
// and lock_at_least. mariadb:// is the same.
[[nodiscard]] service at(std::string_view url);

// The options of such a URL. Throws errc::bad_url for a URL that is not understood.
[[nodiscard]] options parse(std::string_view url);

// The SQL that makes the database's tables and procedures, or ShedLock's table, for an
// administrator with the command mariadb or mysql. With the name of an application's account, USER
// or USER@HOST, the SQL also makes an owner that cannot log in, and grants the account the
// procedures and no more. Carried out again, it breaks calls that are under way. Throws
// errc::bad_option.
[[nodiscard]] std::string schema_of(const options& settings, std::string_view account = {});

}  // namespace pawl::mysql
