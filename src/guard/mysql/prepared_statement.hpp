// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A statement of libmariadb: its parameters and its rows. The caller lets it run, in a way that
// blocks or in another one.
#pragma once

#include <pawl/guard/connection.hpp>

#include <mysql.h>

#include <memory>
#include <vector>

namespace pawl::guard {

// Throw `conflict` or another database_error.
[[noreturn]] void throw_mysql_failure(MYSQL* connection);
// The rows of the result that was stored, or those that the statement matched.
[[nodiscard]] rows text_rows_of(MYSQL* connection, MYSQL_RES* stored, std::string_view text);
// True: the error of the connection is one that repeats the transaction.
[[nodiscard]] bool is_mysql_conflict(unsigned number) noexcept;
[[nodiscard]] bool is_in_mysql_transaction(MYSQL* connection) noexcept;

// The statement and the connection must outlive it.
class mysql_prepared {
public:
    // Sends nothing.
    mysql_prepared(MYSQL* connection, const statement& to_run);

    [[nodiscard]] MYSQL_STMT* get() const noexcept { return statement_.get(); }
    // True if the text has as many places as there are parameters: then it need not be prepared
    // before they are bound. False also for a question mark behind the begin of a literal or a
    // comment, since it may be no place.
    [[nodiscard]] bool has_a_place_for_each() const;
    // Between prepare and execute; or before both.
    void bind_parameters();
    void bind_unprepared();
    // After execute: whether there is a result to store.
    [[nodiscard]] bool has_rows() const noexcept;
    // After the result was stored, or after execute.
    [[nodiscard]] rows read();
    [[noreturn]] void throw_failure() const;

private:
    struct close_statement {
        void operator()(MYSQL_STMT* open) const noexcept { ::mysql_stmt_close(open); }
    };
    struct field;

    [[nodiscard]] std::vector<value> read_row(std::vector<field>& fields);

    MYSQL* connection_;
    const statement& to_run_;
    std::unique_ptr<MYSQL_STMT, close_statement> statement_;
    std::vector<MYSQL_BIND> parameters_;
};

}  // namespace pawl::guard
