// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "tables.hpp"

#include "dialect_text.hpp"

#include <pawl/error.hpp>
#include <pawl/guard/schema.hpp>
#include <pawl/guard/transaction.hpp>

#include <pawl_database_schemes.hpp>

#include <array>

namespace pawl::guard {
namespace {

constexpr std::array tables{&once_table, &fence_table, &reconcile_table};

std::size_t index_of(dialect spoken) { return static_cast<std::size_t>(spoken); }

constexpr std::string_view versions[3]{
    R"(CREATE TABLE IF NOT EXISTS pawl_schema (
    part    text    PRIMARY KEY,
    version integer NOT NULL
);
)",
    R"(CREATE TABLE IF NOT EXISTS pawl_schema (
    part    VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY,
    version INTEGER NOT NULL
) ENGINE = InnoDB;
)",
    R"(CREATE TABLE IF NOT EXISTS pawl_schema (
    part    TEXT    PRIMARY KEY,
    version INTEGER NOT NULL
) WITHOUT ROWID;
)"};

// An existing table keeps the version with which it was made.
std::string version_statement(dialect spoken, const table& made) {
    const auto row = "('" + std::string(made.name) + "', " + std::to_string(made.version) + ")";
    if (spoken == dialect::mysql)
        return "INSERT INTO pawl_schema (part, version) VALUES " + row +
               " ON DUPLICATE KEY UPDATE part = part;\n";
    return "INSERT INTO pawl_schema (part, version) VALUES " + row +
           " ON CONFLICT (part) DO NOTHING;\n";
}

// The columns of a table in one value, and what it is if its rows are not those of an ordinary
// table; NULL if there is no such table.
statement columns_statement(dialect spoken, const table& needed) {
    const std::string name(needed.name);
    if (spoken == dialect::postgres)
        return {
            "SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' "
            "ORDER BY attname) || CASE max(relpersistence::text) WHEN 't' THEN ', temporary' "
            "WHEN 'u' THEN ', unlogged' ELSE '' END FROM pg_catalog.pg_attribute "
            "JOIN pg_catalog.pg_class c ON c.oid = attrelid WHERE attrelid = to_regclass($1) "
            "AND attnum > 0 AND NOT attisdropped",
            {name}};
    // MariaDB adds a display width to integers.
    if (spoken == dialect::mysql)
        return {
            "SELECT CONCAT(GROUP_CONCAT(CONCAT(column_name, ' ', IF(column_type LIKE '%int(%', "
            "data_type, column_type), IF(column_key = 'PRI', ' key', '')) "
            "ORDER BY column_name SEPARATOR ', '), (SELECT IF(engine = 'InnoDB', '', "
            "CONCAT(', ', engine)) FROM information_schema.tables "
            "WHERE table_schema = DATABASE() AND table_name = ?)) "
            "FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ?",
            {name, name}};
    return {
        "SELECT group_concat(name || ' ' || type || CASE WHEN pk > 0 THEN ' key' ELSE '' END, "
        "', ') FROM (SELECT name, type, pk FROM pragma_table_info(?1) ORDER BY name)",
        {name}};
}

statement version_query(dialect spoken, const table& needed) {
    return {std::string("SELECT version FROM pawl_schema WHERE part = ") +
                (spoken == dialect::postgres ? "$1" : "?"),
            {std::string(needed.name)}};
}

error refusal(const table& needed, const std::string& reason) {
    return {errc::refused, "The table " + std::string(needed.name) + " " + reason};
}

// The codes of PostgreSQL and MySQL. Reading the catalogue needs no rights, but pawl_schema does.
bool is_denied(const database_error& problem) {
    return problem.code() == "42501" || problem.code() == "1142";
}

database_error denial(const database_error& problem, const table& needed) {
    return database_error(std::string(problem.what()) +
                              "; let an administrator grant this user SELECT on pawl_schema, and "
                              "SELECT, INSERT, UPDATE and DELETE on " +
                              std::string(needed.name) + ".",
                          problem.code());
}

void judge_columns(dialect spoken, const table& needed, const rows& answer) {
    const auto columns = as_string(answer.values.at(0).at(0));
    // The catalogues of MariaDB and MySQL hide what a user may not use.
    const std::string or_denied =
        spoken == dialect::mysql ? ", or this user has no right to use it" : "";
    if (columns.empty())
        throw refusal(needed, "is missing in this database" + or_denied +
                                  "; let an administrator run the output of "
                                  "`pawl schema --guard --on URL`, or call make_tables.");
    if (columns != needed.columns[index_of(spoken)])
        throw refusal(needed,
                      "has another form than Pawl makes (" + columns +
                          "); rename it, and run the output of `pawl schema --guard --on URL`.");
}

void judge_version(const table& needed, const rows& answer) {
    const auto version = answer.values.empty() ? 0 : as_number(answer.values[0].at(0));
    if (version > needed.version)
        throw refusal(needed, "was made by a newer Pawl; update this program.");
    if (version < needed.version)
        throw refusal(needed,
                      "has no row, or an older one, in pawl_schema; let an administrator "
                      "run the output of `pawl schema --guard --on URL`.");
}

// One statement after the other: not every library runs several.
void run_each(connection& db, std::string_view text) {
    while (!text.empty()) {
        const auto end = text.find(";\n");
        db.execute({std::string(text.substr(0, end))});
        text.remove_prefix(end + 2);
    }
}

void make_missing(connection& db) {
    const auto text = schema_text(db.dialect());
    // MySQL commits each of them by itself.
    if (db.dialect() == dialect::mysql) return run_each(db, text);
    transaction made(db);
    // In PostgreSQL, IF NOT EXISTS does not keep two callers apart.
    if (db.dialect() == dialect::postgres)
        db.execute({"SELECT pg_advisory_xact_lock(hashtext('pawl_schema'), 0)"});
    run_each(db, text);
    made.commit();
}

}  // namespace

std::span<const table* const> all_tables() noexcept { return tables; }

std::uint32_t table_checks::bit_of(const table& needed) noexcept {
    for (std::size_t i = 0; i < tables.size(); ++i)
        if (tables[i] == &needed) return std::uint32_t{1} << i;
    return 0;
}

void table_checks::require(connection& db, const table& needed) {
    if ((db.checked_tables_ & bit_of(needed)) != 0) return;
    const auto spoken = db.dialect();
    judge_columns(spoken, needed, db.execute(columns_statement(spoken, needed)));
    try {
        judge_version(needed, db.execute(version_query(spoken, needed)));
    } catch (const database_error& problem) {
        if (!is_denied(problem)) throw;
        throw denial(problem, needed);
    }
    db.checked_tables_ |= bit_of(needed);
}

boost::asio::awaitable<void> table_checks::require(async_connection& db, const table& needed) {
    if ((db.checked_tables_ & bit_of(needed)) != 0) co_return;
    const auto spoken = db.dialect();
    const auto columns = columns_statement(spoken, needed);
    const rows told = co_await db.execute(columns);
    judge_columns(spoken, needed, told);
    const auto version = version_query(spoken, needed);
    try {
        const rows stored = co_await db.execute(version);
        judge_version(needed, stored);
    } catch (const database_error& problem) {
        if (!is_denied(problem)) throw;
        throw denial(problem, needed);
    }
    db.checked_tables_ |= bit_of(needed);
}

std::optional<dialect> dialect_of(std::string_view url) {
    for (const auto& each : database_schemes)
        if (url.substr(0, url.find(':')) == each.scheme) return each.dialect;
    return std::nullopt;
}

std::string schema_text(dialect spoken) {
    std::string text(versions[index_of(spoken)]);
    for (const auto* each : tables) {
        text += each->statements[index_of(spoken)];
        text += version_statement(spoken, *each);
    }
    return text;
}

void make_tables(connection& db) {
    if (db.in_transaction())
        throw error(errc::unsupported, "Tables are not made inside an open transaction.");
    try {
        make_missing(db);
    } catch (const database_error& problem) {
        if (!is_denied(problem)) throw;
        check_tables(db);  // nothing is to be made if an administrator has made all of them
    }
}

void check_tables(connection& db) {
    for (const auto* each : tables)
        table_checks::require(db, *each);
}

}  // namespace pawl::guard
