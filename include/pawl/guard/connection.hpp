// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A program's own connection to its database, as pawl::guard uses it. pawl/guard/postgres.hpp,
// mysql.hpp and sqlite.hpp have views of the usual client libraries; for another library, derive a
// class of some 20 lines. Standard headers only.
#pragma once

#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 202002L
#error "Pawl needs C++20: compile with -std=c++20"
#endif

#include <cstdint>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace pawl::guard {

class table_checks;

// Whose SQL a connection speaks.
enum class dialect : std::uint8_t {
    postgres,  // PostgreSQL
    mysql,     // MySQL and MariaDB
    sqlite     // SQLite
};

// A parameter, or a value of a row: NULL, an integer or a string. Results of other types, such as
// decimal numbers and times, are strings in the form of the database. A Boolean is 0 or 1.
using value = std::variant<std::monostate, std::int64_t, std::string>;

// Throw std::invalid_argument if the value is not, or does not contain, what the name says. An
// integer may also be a string of decimal digits, as some databases return it.
[[nodiscard]] std::int64_t as_number(const value& field);
// NULL is an empty string, and an integer its decimal digits.
[[nodiscard]] std::string as_string(const value& field);

// One statement of SQL. Data are parameters, and never a part of the text: $1, $2 … for
// PostgreSQL, ? for MySQL, ?1, ?2 … for SQLite.
struct statement {
    std::string text{};               // with a place for each parameter
    std::vector<value> parameters{};  // in the order of their places
    // True: the string parameters are bytes, for columns such as bytea, VARBINARY and BLOB. False:
    // they are text in the encoding of the connection. PostgreSQL sends both in its binary format,
    // so a string for a column of another type than text or bytea needs a cast: $1::text::date.
    bool is_binary = false;
};

// The answer to a statement.
struct rows {
    std::vector<std::vector<value>> values{};  // a list of columns for each row
    // The rows that an UPDATE or DELETE found, whether or not they had the new values already; the
    // rows that an INSERT made or changed; the rows of a SELECT.
    std::uint64_t matched = 0;
};

// A database refused a statement, or could not be reached.
class database_error : public std::runtime_error {
public:
    // `code` is the SQLSTATE of PostgreSQL, or the number of another database's error.
    explicit database_error(const std::string& sentence, std::string code = {},
                            bool is_connection_lost = false)
        : std::runtime_error(sentence), code_(std::move(code)), is_lost_(is_connection_lost) {}

    // The database's own code; empty if there is none.
    [[nodiscard]] const std::string& code() const noexcept { return code_; }
    // True: the connection is broken. It is not known whether the statement was carried out.
    [[nodiscard]] bool is_connection_lost() const noexcept { return is_lost_; }

private:
    std::string code_;
    bool is_lost_;
};

// The statement lost against another transaction: a deadlock, a failed serialization, or the end
// of a wait for a row. Repeat the whole transaction. Do not continue it: MySQL has then rolled it
// back, and carries out further statements by themselves. The codes are 40001, 40P01 and 55P03 of
// PostgreSQL; 1020, 1205, 1213 and 3572 of MySQL; SQLITE_BUSY and SQLITE_LOCKED.
class conflict : public database_error {
public:
    using database_error::database_error;
};

// A view of the program's connection, which it neither opens nor closes, and which must outlive the
// view. Not thread-safe, as the connection is not.
class connection {
public:
    virtual ~connection() = default;

    // Runs the statement, and waits for its end. Throws `conflict`, or another database_error.
    virtual rows execute(const statement& to_run) = 0;
    // The same for every call.
    [[nodiscard]] virtual guard::dialect dialect() const noexcept = 0;
    // True between the begin and the end of a transaction, also after an error in it; and if the
    // session begins transactions by itself (autocommit is off).
    [[nodiscard]] virtual bool in_transaction() const noexcept = 0;

private:
    friend class table_checks;
    std::uint32_t checked_tables_ = 0;  // Pawl's tables, a bit each
};

}  // namespace pawl::guard
