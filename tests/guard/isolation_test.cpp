// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Ways to check a token, in each isolation level of each database. The right ways let no late write
// through. A wrong way must do its damage where the page says so: otherwise the interleaving proves
// nothing about the right ones.
#include "test_database.hpp"
#include "waiting.hpp"

#include <pawl/guard/fence.hpp>
#include <pawl/guard/schema.hpp>
#include <pawl/guard/transaction.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <iostream>
#include <iterator>
#include <set>

namespace guard_tests {
namespace {

using pawl::fencing_token;

// A writer within its transaction. The price is always set to the token of its writer.
struct price_writer {
    open_connection& db;
    guard::dialect spoken;
    std::int64_t token;
    std::int64_t seen = 0;  // the fence, as it was at the beginning

    [[nodiscard]] std::uint64_t change(const std::string& text,
                                       std::vector<guard::value> parameters) const {
        return db.view().execute({with_places(text, spoken), std::move(parameters)}).matched;
    }
    // True.
    [[nodiscard]] bool set_price() const {
        return change("UPDATE price SET cents = {}, fence = {} WHERE id = 7", {token, token}) == 1;
    }
};

struct check_variant {
    std::string name;
    std::function<bool(price_writer&)> write;  // false: the token was refused
    std::string trigger{};                     // of PostgreSQL; MySQL has the same in its words
    // PRODUCT LEVEL of the damage. A right way has none.
    std::set<std::string> damage{};
};

bool by_guard_row(price_writer& writer) {
    const fencing_token token(static_cast<std::uint64_t>(writer.token));
    return guard::fence(writer.db.view(), "price/7", token) && writer.set_price();
}
bool by_column(price_writer& writer) {
    return writer.change("UPDATE price SET cents = {}, fence = {} WHERE id = 7 AND fence <= {}",
                         {writer.token, writer.token, writer.token}) == 1;
}
bool by_locking_read(price_writer& writer) {
    const auto newest = writer.db.number("SELECT fence FROM price WHERE id = 7 FOR UPDATE");
    return newest <= writer.token && writer.set_price();
}
bool by_trigger(price_writer& writer) {
    try {
        return writer.set_price();
    } catch (const guard::conflict&) {
        throw;
    } catch (const guard::database_error& refused) {
        EXPECT_THAT(refused.what(), testing::HasSubstr("stale"));
        return false;
    }
}
// Wrong: the comparison is of what was read, and the write is of what is there now.
bool by_comparing(price_writer& writer) {
    return writer.seen <= writer.token && writer.set_price();
}
// Wrong: the row is raised, but the verdict is that of a snapshot.
bool by_plain_select(price_writer& writer) {
    (void)writer.change(writer.spoken == guard::dialect::postgres
                            ? "INSERT INTO pawl_fence AS f VALUES('price/7', {}) ON CONFLICT "
                              "(resource) DO UPDATE SET token = greatest(f.token, excluded.token)"
                            : "INSERT INTO pawl_fence VALUES('price/7', {}) ON DUPLICATE KEY "
                              "UPDATE token = GREATEST(token, VALUES(token))",
                        {writer.token});
    const auto newest = writer.db.number("SELECT token FROM pawl_fence");
    return newest <= writer.token && writer.set_price();
}

const std::string postgres_trigger =
    "CREATE FUNCTION refuse_stale() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF new.fence < "
    "old.fence THEN RAISE 'stale token %, the newest is %', new.fence, old.fence; END IF; RETURN "
    "new; END $$; CREATE TRIGGER refuse_stale BEFORE UPDATE ON price FOR EACH ROW EXECUTE FUNCTION "
    "refuse_stale()";
const std::string mysql_trigger =
    "CREATE TRIGGER refuse_stale BEFORE UPDATE ON price FOR EACH ROW IF new.fence < old.fence THEN "
    "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'stale token'; END IF";

// A SELECT locks in no level but MySQL's SERIALIZABLE, which PostgreSQL's detects afterwards.
const std::vector<check_variant> variants{
    {"guard row", &by_guard_row},
    {"fence column", &by_column},
    {"SELECT FOR UPDATE", &by_locking_read},
    {"trigger", &by_trigger, postgres_trigger},
    {"SELECT, compare, UPDATE",
     &by_comparing,
     {},
     {"Postgres READ COMMITTED", "MariaDb READ COMMITTED", "MariaDb REPEATABLE READ",
      "MySql READ COMMITTED", "MySql REPEATABLE READ"}},
    {"guard row, plain SELECT",
     &by_plain_select,
     {},
     {"MariaDb REPEATABLE READ", "MySql REPEATABLE READ"}}};

enum class write_end { accepted, refused, conflict };
std::ostream& operator<<(std::ostream& out, write_end end) {
    return out << (end == write_end::accepted  ? "accepted"
                   : end == write_end::refused ? "refused"
                                               : "conflict");
}

class GuardIsolation : public database_test {
protected:
    void prepare(const check_variant& tested) const {
        const bool is_postgres = database->dialect() == guard::dialect::postgres;
        const auto admin = database->connect();
        admin->run("DROP TABLE IF EXISTS price");
        if (is_postgres) admin->run("DROP FUNCTION IF EXISTS refuse_stale");
        admin->run("DROP TABLE IF EXISTS pawl_fence");
        guard::make_tables(admin->view());
        admin->run(
            "CREATE TABLE price(id INTEGER PRIMARY KEY, cents BIGINT NOT NULL, fence BIGINT "
            "NOT NULL)");
        admin->run("INSERT INTO price VALUES(7, 0, 0)");
        // A row that is not there yet has another kind of lock.
        admin->run("INSERT INTO pawl_fence VALUES('price/7', 0)");
        if (tested.trigger.empty()) return;
        if (!is_postgres) {
            admin->run(mysql_trigger);
            return;
        }
        const auto end_of_function = tested.trigger.find("; CREATE TRIGGER");
        admin->run(tested.trigger.substr(0, end_of_function));
        admin->run(tested.trigger.substr(end_of_function + 2));
    }
    std::unique_ptr<open_connection> connect(const std::string& level) const {
        auto made = database->connect(level);
        // Off, the default before MariaDB 11.6, is the level that can do damage.
        if (has_snapshot_isolation(*made))
            made->run(isolates_snapshots ? "SET innodb_snapshot_isolation = ON"
                                         : "SET innodb_snapshot_isolation = OFF");
        return made;
    }
    static bool has_snapshot_isolation(open_connection& db) {
        return GetParam().name == "MariaDb" &&
               db.number(
                   "SELECT count(*) FROM information_schema.system_variables WHERE "
                   "variable_name = 'innodb_snapshot_isolation'") == 1;
    }
    bool isolates_snapshots = false;

    // The late holder of token 1 has begun, and has read. The holder of token 2 writes, or waits
    // for the late one. Then the late holder writes.
    struct interleaving {
        write_end late, next;
        std::int64_t price;
        [[nodiscard]] bool is_stale() const { return next == write_end::accepted && price == 1; }
    };
    static void look(price_writer& writer) {
        writer.seen = writer.db.number("SELECT fence FROM price WHERE id = 7");
    }
    static write_end write_and_commit(const check_variant& tested, price_writer& writer,
                                      guard::transaction& open) {
        try {
            if (!tested.write(writer)) return write_end::refused;
            open.commit();
            return write_end::accepted;
        } catch (const guard::conflict&) {
            return write_end::conflict;
        }
    }
    interleaving play(const check_variant& tested, const std::string& level) const {
        prepare(tested);
        const auto late_db = connect(level), next_db = connect(level);
        const lock_waits waits(*database);
        price_writer late{*late_db, database->dialect(), 1};
        price_writer next{*next_db, database->dialect(), 2};
        interleaving result{};
        std::future<write_end> next_end;
        {
            guard::transaction open(late_db->view());
            look(late);
            next_end = std::async(std::launch::async, [&] {
                guard::transaction of_next(next_db->view());
                look(next);
                return write_and_commit(tested, next, of_next);
            });
            (void)waits.becomes_waiting(next_end);
            result.late = write_and_commit(tested, late, open);
        }
        result.next = next_end.get();
        result.price = database->connect()->number("SELECT cents FROM price");
        return result;
    }
};

TEST_P(GuardIsolation, DecidesWhichChecksAreSafe) {
    for (const auto& tested : variants)
        for (const auto& level : GetParam().isolations) {
            const auto result = play(tested, level);
            const auto place = GetParam().name + " " + level;
            std::cout << place << ", " << tested.name << ": late " << result.late << ", next "
                      << result.next << (result.is_stale() ? ": STALE WRITE\n" : "\n");
            EXPECT_EQ(result.is_stale(), tested.damage.contains(place));
        }
}

// The holder of token 2 has asked and not committed when the late holder asks, which has read
// before. It must be refused, or repeat; and if the other one rolls back, it is the newest.
TEST_P(GuardIsolation, LetsALateWriterWaitForTheNewOne) {
    for (const bool commits : {true, false})
        for (const auto& level : GetParam().isolations) {
            prepare(variants.front());
            const auto late_db = connect(level), next_db = connect(level);
            const lock_waits waits(*database);
            price_writer late{*late_db, database->dialect(), 1};
            price_writer next{*next_db, database->dialect(), 2};
            std::future<write_end> late_end;
            {
                guard::transaction open(next_db->view());
                EXPECT_TRUE(by_guard_row(next));
                late_end = std::async(std::launch::async, [&] {
                    guard::transaction of_late(late_db->view());
                    (void)late_db->number("SELECT count(*) FROM pawl_fence WHERE resource = 'x'");
                    return write_and_commit(variants.front(), late, of_late);
                });
                EXPECT_TRUE(waits.becomes_waiting(late_end));
                if (commits) open.commit();
            }
            const auto end = late_end.get();
            if (commits)
                EXPECT_NE(end, write_end::accepted) << level;
            else
                EXPECT_EQ(end, write_end::accepted) << level;
            EXPECT_EQ(database->connect()->number("SELECT cents FROM price"), commits ? 2 : 1);
        }
}

// MySQL counts the rows whose values change. The second write of a holder, with the same token,
// changes none: a verdict by that number refuses it.
TEST_P(GuardIsolation, CountsNoAffectedRows) {
    prepare(variants.front());
    const auto db = database->connect();
    const bool is_postgres = database->dialect() == guard::dialect::postgres;
    const auto affected_rows = [&] {
        (void)db->run("UPDATE price SET fence = 5 WHERE id = 7 AND fence <= 5");
        return is_postgres ? 1 : db->number("SELECT ROW_COUNT()");
    };
    EXPECT_EQ(affected_rows(), 1);
    EXPECT_EQ(affected_rows(), is_postgres ? 1 : 0) << "then this verdict would be right";
    price_writer again{*db, database->dialect(), 5};
    guard::transaction open(db->view());
    EXPECT_TRUE(by_guard_row(again));
    EXPECT_TRUE(by_column(again));
    EXPECT_TRUE(by_column(again));
}

// Four writers at the same time, each with a token from one counter, which it sometimes keeps for a
// while. The versions of the row are the order of the writes.
class price_stress {
public:
    explicit price_stress(test_database& database, std::string level)
        : database_(database), level_(std::move(level)) {}

    void run(int writers, int rounds) {
        std::vector<std::future<void>> threads;
        for (int writer = 0; writer < writers; ++writer)
            threads.push_back(
                std::async(std::launch::async, [this, writer, rounds] { write(writer, rounds); }));
        for (auto& each : threads)
            each.get();
    }
    std::atomic<int> accepted = 0, refused = 0, conflicts = 0;

private:
    void write(int writer, int rounds) {
        const auto db = database_.connect(level_);
        auto token = ++counter_;
        for (int round = 0; round < rounds; ++round) {
            for (bool is_done = false; !is_done;) {
                try {
                    is_done = true;
                    write_once(*db, token);
                } catch (const guard::conflict&) {
                    ++conflicts;
                    is_done = false;
                }
            }
            if ((round + writer) % 3 != 0) token = ++counter_;  // otherwise it writes again, late
        }
    }
    void write_once(open_connection& db, std::int64_t token) {
        guard::transaction open(db.view());
        price_writer writer{db, database_.dialect(), token};
        if (!by_guard_row(writer)) {
            ++refused;
            return;
        }
        (void)writer.change("INSERT INTO audit(token) VALUES({})", {token});
        open.commit();
        ++accepted;
    }

    test_database& database_;
    std::string level_;
    std::atomic<std::int64_t> counter_ = 0;
};

TEST_P(GuardIsolation, AcceptsTokensInTheirOrder) {
    for (const auto& level : GetParam().isolations) {
        prepare(variants.front());
        const auto admin = database->connect();
        admin->run("DROP TABLE IF EXISTS audit");
        admin->run(database->dialect() == guard::dialect::postgres
                       ? "CREATE TABLE audit(version serial PRIMARY KEY, token BIGINT)"
                       : "CREATE TABLE audit(version INTEGER PRIMARY KEY AUTO_INCREMENT, token "
                         "BIGINT)");
        price_stress stress(*database, level);
        stress.run(4, 25);
        // Versions are given while the fence is locked, so their order is that of the writes.
        std::vector<std::int64_t> tokens;
        for (const auto& row : admin->run("SELECT token FROM audit ORDER BY version").values)
            tokens.push_back(guard::as_number(row.at(0)));
        EXPECT_TRUE(std::is_sorted(tokens.begin(), tokens.end())) << level;
        EXPECT_EQ(tokens.size(), static_cast<std::size_t>(stress.accepted));
        EXPECT_EQ(stress.accepted + stress.refused, 100);
        EXPECT_EQ(admin->number("SELECT cents FROM price"), tokens.back());
        std::cout << GetParam().name << ' ' << level << ": " << stress.accepted << " accepted, "
                  << stress.refused << " refused, " << stress.conflicts << " conflicts\n";
    }
}

// The same without isolation levels: a transaction of SQLite that has read may not write over
// another one, and BEGIN IMMEDIATE lets none begin. Without a transaction there is the damage.
enum class sqlite_begin { immediate, deferred, none };
bool goes_back_in_sqlite(test_database& database, sqlite_begin begin, bool& has_conflict) {
    const auto late_db = database.connect(), next_db = database.connect();
    late_db->run("CREATE TABLE IF NOT EXISTS price(id INTEGER PRIMARY KEY, cents, fence INTEGER)");
    late_db->run("REPLACE INTO price VALUES(7, 0, 0)");
    next_db->run("PRAGMA busy_timeout = 1");
    price_writer late{*late_db, guard::dialect::sqlite, 1};
    price_writer next{*next_db, guard::dialect::sqlite, 2};
    if (begin == sqlite_begin::immediate) late_db->run("BEGIN IMMEDIATE");
    if (begin == sqlite_begin::deferred) late_db->run("BEGIN");
    late.seen = late_db->number("SELECT fence FROM price");
    bool has_written = false;
    try {
        guard::transaction open(next_db->view());
        has_written = by_column(next);
        open.commit();
    } catch (const guard::conflict&) {
        has_conflict = true;
    }
    try {
        (void)by_comparing(late);
        if (begin != sqlite_begin::none) late_db->run("COMMIT");
    } catch (const guard::conflict&) {
        has_conflict = true;
        late_db->run("ROLLBACK");
    }
    return has_written && next_db->number("SELECT cents FROM price") == 1;
}

class SqliteIsolation : public database_test {};

TEST_P(SqliteIsolation, NeedsATransaction) {
    for (const auto begin : {sqlite_begin::immediate, sqlite_begin::deferred}) {
        bool has_conflict = false;
        EXPECT_FALSE(goes_back_in_sqlite(*database, begin, has_conflict));
        EXPECT_TRUE(has_conflict);
    }
    bool has_conflict = false;
    EXPECT_TRUE(goes_back_in_sqlite(*database, sqlite_begin::none, has_conflict))
        << "the interleaving does no damage";
    EXPECT_FALSE(has_conflict);
}

// MariaDB 11.6 has this by default: a wrong verdict of a snapshot is error 1020, a conflict.
class SnapshotIsolation : public GuardIsolation {};

TEST_P(SnapshotIsolation, TurnsAWrongVerdictIntoAConflict) {
    ASSERT_TRUE(has_snapshot_isolation(*database->connect()));
    isolates_snapshots = true;
    for (const auto& tested : variants) {
        const auto result = play(tested, "REPEATABLE READ");
        EXPECT_EQ(result.late, write_end::conflict) << tested.name;
        EXPECT_EQ(result.price, 2) << tested.name;
    }
}

std::vector<product> products_where(const std::function<bool(const product&)>& condition) {
    std::vector<product> result;
    std::ranges::copy_if(products(), std::back_inserter(result), condition);
    return result;
}
const auto products_with_levels =
    products_where([](const product& each) { return each.isolations.size() > 1; });
const auto products_without_levels =
    products_where([](const product& each) { return each.isolations.size() == 1; });
const auto products_of_mariadb =
    products_where([](const product& each) { return each.name == "MariaDb"; });

INSTANTIATE_TEST_SUITE_P(On, GuardIsolation, testing::ValuesIn(products_with_levels), name_of);
INSTANTIATE_TEST_SUITE_P(On, SqliteIsolation, testing::ValuesIn(products_without_levels), name_of);
INSTANTIATE_TEST_SUITE_P(On, SnapshotIsolation, testing::ValuesIn(products_of_mariadb), name_of);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GuardIsolation);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SqliteIsolation);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SnapshotIsolation);

}  // namespace
}  // namespace guard_tests
