// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The errors of a MariaDB or MySQL server, as users read them.
#pragma once

#include <pawl/error.hpp>

#include <string>

#include <errmsg.h>
#include <mysql.h>

namespace pawl::mysql {

// An error of the server, or of the library if the number is from 2000 to 2999, or from 5000.
struct server_error {
    unsigned number = 0;
    std::string message;  // one line, without a full stop at its end
};

// Where the error occurred, for sentences.
struct error_place {
    std::string server;  // "MySQL at db.example:3306"
    std::string schema;
    std::string table{};  // ShedLock's, in place of a schema of Pawl's

    [[nodiscard]] std::string locks() const {
        return table.empty() ? "database " + schema : "table " + table;
    }
};

[[nodiscard]] server_error error_in(MYSQL* connection);

// True: the connection is broken.
[[nodiscard]] bool is_network_failure(const server_error& failure) noexcept;
// True: somebody ended the statement, perhaps after its commit.
[[nodiscard]] bool is_interruption(const server_error& failure) noexcept;
// True: the server has rolled the transaction back for another one, on a cluster also for one of
// another node at its end. The call can be repeated at once.
[[nodiscard]] bool is_conflict(const server_error& failure) noexcept;
// True: the session is of no use any more, though the server may not close it.
[[nodiscard]] bool ends_session(const server_error& failure) noexcept;
// True: the schema or a procedure is not there, or this user cannot see it.
[[nodiscard]] bool is_missing_schema(const server_error& failure) noexcept;

// For a call that changed nothing.
[[nodiscard]] error call_error(const server_error& failure, const error_place& place);
// For a new connection.
[[nodiscard]] error connect_error(const server_error& failure, const error_place& place);
[[nodiscard]] error read_only_error(const error_place& place);
[[nodiscard]] error missing_schema_error(const error_place& place, const std::string& reason);

}  // namespace pawl::mysql
