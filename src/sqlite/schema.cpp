// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "schema.hpp"

#include "core/util/clock_token.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <thread>

namespace pawl::sqlite {
namespace {

constexpr std::int64_t pawl_application_id = 0x5061776c;  // "Pawl"
constexpr std::int64_t schema_version = 3;

constexpr const char* counter_table = R"(
CREATE TABLE pawl (
    one        INTEGER PRIMARY KEY CHECK (one = 1),
    last_token INTEGER NOT NULL
);
PRAGMA application_id = 1348564844;
)";

// mode: 0 exclusive, 1 shared, 2 permits.
constexpr const char* holder_tables = R"(
CREATE TABLE holders (
    ns      TEXT    NOT NULL,
    name    TEXT    NOT NULL,
    owner   TEXT    NOT NULL,
    client  TEXT    NOT NULL,
    host    TEXT    NOT NULL,
    pid     INTEGER NOT NULL,
    command TEXT    NOT NULL,
    since   INTEGER NOT NULL,
    boot    TEXT    NOT NULL,
    expires INTEGER NOT NULL,
    token   INTEGER NOT NULL,
    mode    INTEGER NOT NULL,
    permits INTEGER NOT NULL,
    set_at  INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (ns, name, owner)
) WITHOUT ROWID;
CREATE TABLE semaphores (
    ns      TEXT    NOT NULL,
    name    TEXT    NOT NULL,
    permits INTEGER NOT NULL,
    PRIMARY KEY (ns, name)
) WITHOUT ROWID;
)";

constexpr const char* latch_tables = R"(
CREATE TABLE latches (
    ns         TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    count      INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    first      INTEGER NOT NULL,
    parties    INTEGER NOT NULL,
    ttl        INTEGER NOT NULL,
    boot       TEXT    NOT NULL,
    expires    INTEGER NOT NULL,
    set_at     INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (ns, name)
) WITHOUT ROWID;
CREATE TABLE latch_places (
    ns      TEXT    NOT NULL,
    name    TEXT    NOT NULL,
    id      TEXT    NOT NULL,
    client  TEXT    NOT NULL,
    boot    TEXT    NOT NULL,
    expires INTEGER NOT NULL,
    set_at  INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (ns, name, id)
) WITHOUT ROWID;
)";

constexpr const char* waiter_table = R"(
CREATE TABLE waiters (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    ns      TEXT    NOT NULL,
    name    TEXT    NOT NULL,
    owner   TEXT    NOT NULL UNIQUE,
    client  TEXT    NOT NULL,
    host    TEXT    NOT NULL,
    pid     INTEGER NOT NULL,
    command TEXT    NOT NULL,
    boot    TEXT    NOT NULL,
    ttl     INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    mode    INTEGER NOT NULL DEFAULT 0,
    permits INTEGER NOT NULL DEFAULT 0,
    set_at  INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX line ON waiters (ns, name, seq);
)";

// Version 1 had one row for each lock, in `locks`. A program of that version may still run, and
// would take the one holder that it sees for the only one; it does not find the rows in another
// table.
constexpr const char* from_version_1 = R"(
INSERT INTO holders SELECT ns, name, owner, client, host, pid, command, since, boot, expires, token,
    0, 0, 0 FROM locks;
DROP TABLE locks;
ALTER TABLE waiters ADD COLUMN mode INTEGER NOT NULL DEFAULT 0;
ALTER TABLE waiters ADD COLUMN permits INTEGER NOT NULL DEFAULT 0;
ALTER TABLE waiters ADD COLUMN set_at INTEGER NOT NULL DEFAULT 0;
)";

// Version 2 had no column for the time at which a lease was set. Programs of that version may
// continue to run: they leave set_at unchanged.
constexpr const char* from_version_2 = R"(
ALTER TABLE holders ADD COLUMN set_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE waiters ADD COLUMN set_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE latches ADD COLUMN set_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE latch_places ADD COLUMN set_at INTEGER NOT NULL DEFAULT 0;
)";

// The versions that wrote these rows ignored the rows of another boot.
constexpr std::array rows_of_other_boots{
    "DELETE FROM holders WHERE boot <> ?", "DELETE FROM waiters WHERE boot <> ?",
    "DELETE FROM latches WHERE boot <> ?", "DELETE FROM latch_places WHERE boot <> ?"};

// Another program chose the name, and it may be printed on a terminal.
[[noreturn]] void throw_foreign_definition(const database& connection, std::string definition) {
    definition.resize(std::min<std::size_t>(definition.size(), 80));
    std::ranges::replace_if(
        definition, [](char each) { return each < ' ' || each > '~'; }, '?');
    throw database_error(errc::refused,
                         connection.path() + " has the " + definition +
                             ", which Pawl did not make; remove it, or choose another path for the "
                             "locks.",
                         false);
}

// The version of Pawl's tables in the file; 0 if it has no tables at all.
std::int64_t version_of(database& connection) {
    // The order of these queries matters: another process may create the tables between two of
    // them.
    const auto count = connection.number("SELECT count(*) FROM sqlite_schema");
    const auto id = connection.number("PRAGMA application_id");
    if (id == 0 && count == 0) return 0;
    const auto version = connection.number("PRAGMA user_version");
    if (id != pawl_application_id)
        throw database_error(errc::bad_option,
                             connection.path() +
                                 " is the database of another program; choose another path "
                                 "for the locks.",
                             false);
    if (version > schema_version)
        throw database_error(errc::refused,
                             connection.path() + " was made by a newer Pawl; update this program.",
                             false);
    return version;
}

// The definitions that this version or an older one makes, and those that SQLite adds by itself.
// Triggers and views are disabled anyway; a file with one was not made by Pawl alone.
void refuse_foreign_definitions(database& connection) {
    const auto name = connection.text(
        "SELECT type || ' ' || name FROM sqlite_schema WHERE NOT coalesce("
        "(type = 'table' AND name IN ('pawl', 'holders', 'semaphores', 'latches', 'latch_places', "
        "'waiters', 'locks') AND upper(substr(sql, 1, 13)) = 'CREATE TABLE ') "
        "OR (type = 'index' AND (sql IS NULL OR name = 'line')) "
        "OR name IN ('sqlite_sequence', 'sqlite_stat1', 'sqlite_stat4'), 0) LIMIT 1");
    if (!name.empty()) throw_foreign_definition(connection, name);
}

// Constraints and computed columns would run expressions of another program.
void refuse_foreign_columns(database& connection) {
    const auto column = connection.text(
        "SELECT 'column ' || each.name || '.' || field.name FROM sqlite_schema AS each, "
        "pragma_table_xinfo(each.name) AS field WHERE each.type = 'table' "
        "AND each.name NOT LIKE 'sqlite%' AND (field.hidden <> 0 OR field.name NOT IN ("
        "'one', 'last_token', 'ns', 'name', 'owner', 'client', 'host', 'pid', 'command', 'since', "
        "'boot', 'expires', 'token', 'mode', 'permits', 'set_at', 'seq', 'ttl', 'count', "
        "'generation', 'first', 'parties', 'id')) LIMIT 1");
    if (!column.empty()) throw_foreign_definition(connection, column);
    const auto constraint = connection.text(
        "SELECT 'constraint of ' || name FROM sqlite_schema WHERE sql LIKE '%check%' "
        "AND name NOT LIKE 'sqlite%' AND replace(replace(replace(sql, ' ', ''), char(10), ''), "
        "'CHECK(one=1)', '') LIKE '%check%' LIMIT 1");
    if (!constraint.empty()) throw_foreign_definition(connection, constraint);
    const auto index = connection.text(
        "SELECT 'index ' || name FROM sqlite_schema WHERE name = 'line' "
        "AND sql <> 'CREATE INDEX line ON waiters (ns, name, seq)' LIMIT 1");
    if (!index.empty()) throw_foreign_definition(connection, index);
}

// With a write-ahead log, readers do not stop writers, and each transaction writes to the disk
// once.
void use_wal(database& connection) {
    if (connection.text("PRAGMA journal_mode = WAL") != "wal")
        throw database_error(errc::unavailable,
                             connection.path() +
                                 " cannot be used with a write-ahead log; choose a path on a "
                                 "local disk.",
                             false);
}

void make_tables(database& connection, runtime& time, const std::string& boot_id) {
    transaction creation(connection, sync_level::full);
    const auto version = version_of(connection);
    if (version == schema_version) return;  // another process was first
    if (version == 2) {
        connection.execute(from_version_2);
    } else {
        connection.execute(holder_tables);
        connection.execute(latch_tables);
        connection.execute(version == 1 ? from_version_1 : counter_table);
    }
    if (version == 0) {
        connection.execute(waiter_table);
        statement seed(connection, "INSERT INTO pawl VALUES (1, ?)");
        seed.with(core::clock_token(time.wall_clock())).run();
    }
    for (const auto* delete_rows : rows_of_other_boots)
        statement(connection, delete_rows).with(boot_id).run();
    connection.execute("PRAGMA user_version = 3");
    creation.commit();
}

}  // namespace

void prepare_schema(database& connection, runtime& time, const std::string& boot_id) {
    // SQLite reports a conflict over the journal mode at once, without calling the busy handler.
    const auto began = time.now();
    for (;;) {
        try {
            const auto version = version_of(connection);
            refuse_foreign_definitions(connection);
            use_wal(connection);
            if (version != schema_version) make_tables(connection, time, boot_id);
            refuse_foreign_columns(connection);
            return;
        } catch (const busy_error&) {
            if (!connection.may_wait(began)) throw;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

}  // namespace pawl::sqlite
