#include "schema.hpp"

#include <thread>

namespace pawl::sqlite {
namespace {

constexpr std::int64_t ours = 0x5061776c;  // "Pawl"
constexpr std::int64_t version = 1;

constexpr const char* tables = R"(
CREATE TABLE pawl (
    one        INTEGER PRIMARY KEY CHECK (one = 1),
    last_token INTEGER NOT NULL
);
CREATE TABLE locks (
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
    PRIMARY KEY (ns, name)
) WITHOUT ROWID;
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
    expires INTEGER NOT NULL
);
CREATE INDEX line ON waiters (ns, name, seq);
PRAGMA application_id = 1348564844;
PRAGMA user_version = 1;
)";

// True when the file has our tables; false when it has none at all.
bool is_ours(database& on) {
    // In this order: another process may make the tables between two of these questions.
    const auto count = on.number("SELECT count(*) FROM sqlite_schema");
    const auto id = on.number("PRAGMA application_id");
    if (id == 0 && count == 0) return false;
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
    return true;
}

// Above all that was issued from a file that was at this path before, unless the clock went back or
// more than 65536 a second were issued: 1/65536 s since 2024.
std::int64_t first_token(runtime& time) {
    using namespace std::chrono;
    constexpr sys_days since = 2024y / January / 1;
    const auto passed = duration_cast<microseconds>(time.wall() - since).count();
    return std::max<std::int64_t>(0, passed * 1024 / 15625);
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

void make_tables(database& on, runtime& time) {
    transaction making(on, durability::full);
    if (is_ours(on)) return;  // another process was quicker
    on.execute(tables);
    statement seed(on, "INSERT INTO pawl VALUES (1, ?)");
    seed.with(first_token(time)).run();
    making.commit();
}

}  // namespace

void prepare_schema(database& on, runtime& time) {
    // SQLite reports a conflict over the journal mode at once, without asking the busy handler.
    const auto give_up_at = time.now() + std::chrono::seconds(3);
    for (;;) {
        try {
            const bool made = is_ours(on);
            use_wal(on);
            if (!made) make_tables(on, time);
            return;
        } catch (const database_error& failed) {
            if (!failed.passing || time.now() > give_up_at) throw;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

}  // namespace pawl::sqlite
