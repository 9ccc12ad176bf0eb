// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The tables of the layers behind the lock, in the program's own database. The functions are
// thread-safe for different connections, and block. Standard headers only.
#pragma once

#include <pawl/guard/connection.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace pawl::guard {

// The SQL that makes the tables that are missing, for an administrator or a migration tool:
// statements that each end with a semicolon. `pawl schema --guard --on URL` prints the same.
[[nodiscard]] std::string schema_text(dialect spoken);
// The kind of the database that a URL of Pawl's names, such as postgresql://host/shop; nothing for
// a service that is no database.
[[nodiscard]] std::optional<dialect> dialect_of(std::string_view url);
// Makes the tables that are missing, in the session's default schema or database. Several callers
// may do so at once. A user who may make no tables needs only `check_tables` to pass. Throws
// errc::unsupported in an open transaction, database_error, and then what check_tables throws.
void make_tables(connection& db);
// Checks all tables. Throws errc::refused, with what to do, if a table is missing, was made by a
// newer or older Pawl, or has other columns. `once`, `claim`, the listings and reconciliations do
// the same for their table at the first use of a view; so keep a view as long as its connection.
// `fence`, `finish` and `give_up` check nothing: a transaction is open, or a claim came before.
void check_tables(connection& db);

}  // namespace pawl::guard
