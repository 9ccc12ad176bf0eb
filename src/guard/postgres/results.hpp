// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What libpq answers, as rows and errors.
#pragma once

#include <pawl/guard/connection.hpp>

#include <libpq-fe.h>

#include <memory>
#include <string_view>

namespace pawl::guard {

struct clear_result {
    void operator()(PGresult* result) const noexcept { ::PQclear(result); }
};
using postgres_result = std::unique_ptr<PGresult, clear_result>;

// The rows of the result of this statement. Throws `conflict` or another database_error.
[[nodiscard]] rows rows_of(PGconn* connection, const PGresult* result, std::string_view text);
// Also behind a statement whose answer was not read, which may be in a transaction.
[[nodiscard]] bool is_in_postgres_transaction(const PGconn* connection) noexcept;
// For a call of libpq that failed.
[[noreturn]] void throw_postgres_failure(PGconn* connection);

}  // namespace pawl::guard
