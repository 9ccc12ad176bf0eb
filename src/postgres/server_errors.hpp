// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The errors of a PostgreSQL server, as users read them.
#pragma once

#include <pawl/error.hpp>

#include <string>
#include <string_view>

#include <libpq-fe.h>

namespace pawl::postgres {

// An error message of the server. An empty `sqlstate`: libpq made the message.
struct server_error {
    std::string sqlstate;
    std::string message;  // one line, without a full stop at its end
};

// Where the error occurred, for sentences.
struct error_place {
    std::string server;  // "PostgreSQL at db.example:5432"
    std::string schema;
    std::string table{};  // ShedLock's, in place of a schema of Pawl's

    [[nodiscard]] std::string locks() const {
        return table.empty() ? "schema " + schema : "table " + table;
    }
};

[[nodiscard]] server_error error_in(const PGresult* result);
// Of a connection that failed; it has PQERRORS_VERBOSE.
[[nodiscard]] server_error error_in(const PGconn* connection);
// The first line, without the severity and a full stop.
[[nodiscard]] std::string first_line(std::string_view message);

// True: the session is of no use any more, though the server may not close it.
[[nodiscard]] bool ends_session(const server_error& failure) noexcept;
// True: the server ends the connection, and says nothing about the call that runs.
[[nodiscard]] bool is_shutdown(const server_error& failure) noexcept;

// For a call that changed nothing.
[[nodiscard]] error call_error(const server_error& failure, const error_place& place);
// For a new connection. `needs_password`: there was none for the server.
[[nodiscard]] error connect_error(const server_error& failure, const error_place& place,
                                  bool needs_password);
// The schema or a function of it is missing, and the client may not make it.
[[nodiscard]] error missing_schema_error(const error_place& place, const std::string& reason);

}  // namespace pawl::postgres
