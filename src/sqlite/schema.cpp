#include "schema.hpp"

#include "core/clock_token.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <thread>

namespace pawl::sqlite {
namespace {

constexpr std::int64_t ours = 0x5061776c;  // "Pawl"
constexpr std::int64_t version = 3;

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

// Version 1 had one row for each lock, in `locks`. Under another name the rows are out of reach of
// a program that still runs and would take the one holder that it sees for the only one.
constexpr const char* from_version_1 = R"(
INSERT INTO holders SELECT ns, name, owner, client, host, pid, command, since, boot, expires, token,
    0, 0, 0 FROM locks;
DROP TABLE locks;
ALTER TABLE waiters ADD COLUMN mode INTEGER NOT NULL DEFAULT 0;
ALTER TABLE waiters ADD COLUMN permits INTEGER NOT NULL DEFAULT 0;
ALTER TABLE waiters ADD COLUMN set_at INTEGER NOT NULL DEFAULT 0;
)";

// Version 2 did not say when a lease was set. Its programs may go on: they leave set_at as it is.
constexpr const char* from_version_2 = R"(
ALTER TABLE holders ADD COLUMN set_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE waiters ADD COLUMN set_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE latches ADD COLUMN set_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE latch_places ADD COLUMN set_at INTEGER NOT NULL DEFAULT 0;
)";

// What the rows of another boot were worth to the versions that wrote them: nothing.
constexpr std::array rows_of_other_boots{
    "DELETE FROM holders WHERE boot <> ?", "DELETE FROM waiters WHERE boot <> ?",
    "DELETE FROM latches WHERE boot <> ?", "DELETE FROM latch_places WHERE boot <> ?"};

// Its name is of the other program's choice, and may be meant for a terminal.
[[noreturn]] void refuse_definition(const database& on, std::string definition) {
    definition.resize(std::min<std::size_t>(definition.size(), 80));
    std::ranges::replace_if(
        definition, [](char each) { return each < ' ' || each > '~'; }, '?');
    throw database_error(errc::refused,
                         on.path() + " has the " + definition +
                             ", which Pawl did not make; remove it, or choose another path for the "
                             "locks.",
                         false);
}

// Of our tables in the file; 0 when it has none at all.
std::int64_t version_of(database& on) {
    // In this order: another process may make the tables between two of these questions.
    const auto count = on.number("SELECT count(*) FROM sqlite_schema");
    const auto id = on.number("PRAGMA application_id");
    if (id == 0 && count == 0) return 0;
    const auto found = on.number("PRAGMA user_version");
    if (id != ours)
        throw database_error(errc::bad_option,
                             on.path() +
                                 " is the database of another program; choose a path of its own "
                                 "for the locks.",
                             false);
    if (found > version)
        throw database_error(errc::refused,
                             on.path() + " was made by a newer Pawl; update this program.", false);
    return found;
}

// The definitions that this version or an older one makes, and those that SQLite adds by itself.
// Triggers and views are switched off anyway; a file that has one was not made by Pawl alone.
void refuse_foreign_definitions(database& on) {
    const auto name = on.text(
        "SELECT type || ' ' || name FROM sqlite_schema WHERE NOT coalesce("
        "(type = 'table' AND name IN ('pawl', 'holders', 'semaphores', 'latches', 'latch_places', "
        "'waiters', 'locks') AND upper(substr(sql, 1, 13)) = 'CREATE TABLE ') "
        "OR (type = 'index' AND (sql IS NULL OR name = 'line')) "
        "OR name IN ('sqlite_sequence', 'sqlite_stat1', 'sqlite_stat4'), 0) LIMIT 1");
    if (!name.empty()) refuse_definition(on, name);
}

// Constraints and computed columns would run expressions of another program.
void refuse_foreign_columns(database& on) {
    const auto column = on.text(
        "SELECT 'column ' || each.name || '.' || field.name FROM sqlite_schema AS each, "
        "pragma_table_xinfo(each.name) AS field WHERE each.type = 'table' "
        "AND each.name NOT LIKE 'sqlite%' AND (field.hidden <> 0 OR field.name NOT IN ("
        "'one', 'last_token', 'ns', 'name', 'owner', 'client', 'host', 'pid', 'command', 'since', "
        "'boot', 'expires', 'token', 'mode', 'permits', 'set_at', 'seq', 'ttl', 'count', "
        "'generation', 'first', 'parties', 'id')) LIMIT 1");
    if (!column.empty()) refuse_definition(on, column);
    const auto constraint = on.text(
        "SELECT 'constraint of ' || name FROM sqlite_schema WHERE sql LIKE '%check%' "
        "AND name NOT LIKE 'sqlite%' AND replace(replace(replace(sql, ' ', ''), char(10), ''), "
        "'CHECK(one=1)', '') LIKE '%check%' LIMIT 1");
    if (!constraint.empty()) refuse_definition(on, constraint);
    const auto index = on.text(
        "SELECT 'index ' || name FROM sqlite_schema WHERE name = 'line' "
        "AND sql <> 'CREATE INDEX line ON waiters (ns, name, seq)' LIMIT 1");
    if (!index.empty()) refuse_definition(on, index);
}

// Its readers do not stop writers, and it writes to the disk once per transaction.
void use_wal(database& on) {
    if (on.text("PRAGMA journal_mode = WAL") != "wal")
        throw database_error(errc::unavailable,
                             on.path() +
                                 " cannot be used with a write-ahead log; choose a path on a "
                                 "local disk.",
                             false);
}

void make_tables(database& on, runtime& time, const std::string& boot) {
    transaction making(on, durability::full);
    const auto kept = version_of(on);
    if (kept == version) return;  // another process was quicker
    if (kept == 2) {
        on.execute(from_version_2);
    } else {
        on.execute(holder_tables);
        on.execute(latch_tables);
        on.execute(kept == 1 ? from_version_1 : counter_table);
    }
    if (kept == 0) {
        on.execute(waiter_table);
        statement seed(on, "INSERT INTO pawl VALUES (1, ?)");
        seed.with(core::clock_token(time.wall())).run();
    }
    for (const auto* dead : rows_of_other_boots)
        statement(on, dead).with(boot).run();
    on.execute("PRAGMA user_version = 3");
    making.commit();
}

}  // namespace

void prepare_schema(database& on, runtime& time, const std::string& boot) {
    // SQLite reports a conflict over the journal mode at once, without asking the busy handler.
    const auto give_up_at = time.now() + std::chrono::seconds(3);
    for (;;) {
        try {
            const auto found = version_of(on);
            refuse_foreign_definitions(on);
            use_wal(on);
            if (found != version) make_tables(on, time, boot);
            refuse_foreign_columns(on);
            return;
        } catch (const busy_error&) {
            if (time.now() > give_up_at) throw;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

}  // namespace pawl::sqlite
