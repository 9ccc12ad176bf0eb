// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The views of the client libraries: each promise of connection.hpp and transaction.hpp, on each
// database, for threads and for coroutines.
#include "test_database.hpp"

#include <pawl/error.hpp>
#include <pawl/guard/transaction.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

namespace guard_tests {
namespace {

using guard::value;
using namespace std::string_literals;

const std::string bytes{"a\0\xFF'\"`$1?", 10};

std::string table_of(guard::dialect spoken) {
    const std::string columns = "(id INTEGER PRIMARY KEY, number BIGINT, note VARCHAR(80), data ";
    if (spoken == guard::dialect::postgres) return "CREATE TABLE t " + columns + "bytea)";
    if (spoken == guard::dialect::mysql) return "CREATE TABLE t " + columns + "VARBINARY(80))";
    return "CREATE TABLE t " + columns + "BLOB)";
}

class GuardConnection : public database_test {
protected:
    GuardConnection() { first->run(table_of(database->dialect())); }

    guard::rows insert(int id, const value& number, const value& note, const value& data) {
        (void)first->run(places("INSERT INTO t(id, number, note) VALUES({}, {}, {})"),
                         {std::int64_t{id}, number, note});
        return first->view().execute(
            {places("UPDATE t SET data = {} WHERE id = {}"), {data, std::int64_t{id}}, true});
    }

    const std::unique_ptr<open_connection> first = database->connect();
    const std::unique_ptr<open_connection> other = database->connect();
};

TEST_P(GuardConnection, KeepsEveryValue) {
    EXPECT_EQ(insert(1, INT64_MAX, "it's 5 € ''; --", bytes).matched, 1U);
    EXPECT_EQ(insert(2, value{}, value{}, value{}).matched, 1U);
    EXPECT_EQ(insert(3, INT64_MIN, "", "").matched, 1U);
    const auto all = first->run("SELECT number, note, data FROM t ORDER BY id");
    ASSERT_EQ(all.values.size(), 3U);
    EXPECT_EQ(all.matched, 3U);
    EXPECT_EQ(all.values[0], (std::vector<value>{INT64_MAX, "it's 5 € ''; --", bytes}));
    EXPECT_EQ(all.values[1], (std::vector<value>(3)));
    EXPECT_EQ(all.values[2], (std::vector<value>{INT64_MIN, "", ""}));
    // With a parameter, for which MySQL has another protocol.
    const auto same = first->run(
        places("SELECT number, note, data FROM t WHERE id >= {} ORDER BY id"), {std::int64_t{1}});
    EXPECT_EQ(same.values, all.values);
    EXPECT_EQ(first->run(places("SELECT id FROM t WHERE note = {}"), {"it's 5 € ''; --"}).matched,
              1U)
        << "a text is compared as a text";
}

// An UPDATE that changes nothing has found its rows.
TEST_P(GuardConnection, CountsMatchedRows) {
    insert(1, std::int64_t{7}, "a", bytes);
    insert(2, std::int64_t{7}, "a", bytes);
    const auto update = places("UPDATE t SET number = {} WHERE note = {}");
    EXPECT_EQ(first->run(update, {std::int64_t{8}, "a"}).matched, 2U);
    EXPECT_EQ(first->run(update, {std::int64_t{8}, "a"}).matched, 2U)
        << "they had the value already";
    EXPECT_EQ(first->run(update, {std::int64_t{8}, "b"}).matched, 0U);
    EXPECT_EQ(first->run("UPDATE t SET number = 8").matched, 2U);
    EXPECT_EQ(first->run("UPDATE t SET number = 8 WHERE id = 3").matched, 0U);
    EXPECT_EQ(first->run("DELETE FROM t WHERE id = 1").matched, 1U);
    EXPECT_EQ(first->run("DELETE FROM t WHERE id = 1").matched, 0U);
    EXPECT_EQ(first->run("SELECT id FROM t").matched, 1U);
}

TEST_P(GuardConnection, RollsBackWhatIsNotCommitted) {
    EXPECT_FALSE(first->view().in_transaction());
    {
        guard::transaction unfinished(first->view());
        EXPECT_TRUE(first->view().in_transaction());
        first->run("INSERT INTO t(id) VALUES(1)");
        EXPECT_THROW(guard::transaction(first->view()), pawl::error) << "one within another";
    }
    EXPECT_FALSE(first->view().in_transaction());
    {
        guard::transaction whole(first->view());
        first->run("INSERT INTO t(id) VALUES(2)");
        whole.commit();
        EXPECT_THROW(whole.commit(), pawl::error);
    }
    EXPECT_EQ(other->number("SELECT sum(id) FROM t"), 2);
}

TEST_P(GuardConnection, TellsErrorsApart) {
    insert(1, std::int64_t{7}, "a", bytes);
    try {
        first->run("INSERT INTO t(id) VALUES(1)");
        FAIL() << "a duplicate was stored";
    } catch (const guard::conflict&) {
        FAIL() << "a duplicate is no conflict";
    } catch (const guard::database_error& refused) {
        EXPECT_FALSE(refused.code().empty());
        EXPECT_FALSE(refused.is_connection_lost());
    }
    EXPECT_THROW(first->run("SELEKT 1"), guard::database_error);
    EXPECT_THROW(first->run(places("SELECT {}"), {}), guard::database_error)
        << "too few parameters";
    EXPECT_EQ(first->number("SELECT count(*) FROM t"), 1) << "the connection still works";
}

// A caught error does not turn a half transaction into a whole one. PostgreSQL answers its COMMIT
// with a rollback; the others undo only the failed statement.
TEST_P(GuardConnection, RefusesToCommitAfterAnErrorThatEndedTheTransaction) {
    insert(1, std::int64_t{7}, "a", bytes);
    guard::transaction broken(first->view());
    first->run("INSERT INTO t(id) VALUES(2)");
    EXPECT_THROW(first->run("INSERT INTO t(id) VALUES(1)"), guard::database_error);
    if (database->dialect() == guard::dialect::postgres) {
        EXPECT_THROW(broken.commit(), guard::database_error);
        EXPECT_EQ(other->number("SELECT count(*) FROM t"), 1);
    } else {
        broken.commit();
        EXPECT_EQ(other->number("SELECT count(*) FROM t"), 2);
    }
}

// Two transactions that wait for each other: the database ends one. What its work then writes must
// not be carried out alone, and its commit is refused.
TEST_P(GuardConnection, EndsTheTransactionThatLost) {
    insert(1, std::int64_t{0}, "a", bytes);
    guard::transaction winner(first->view());
    first->run("UPDATE t SET number = 1 WHERE id = 1");
    switch (database->dialect()) {
    case guard::dialect::sqlite: other->run("PRAGMA busy_timeout = 1"); break;
    case guard::dialect::mysql: other->run("SET innodb_lock_wait_timeout = 1"); break;
    case guard::dialect::postgres: other->run("SET lock_timeout = 1"); break;
    }
    if (database->dialect() == guard::dialect::sqlite) {
        EXPECT_THROW(guard::transaction(other->view()), guard::conflict);
        EXPECT_FALSE(other->view().in_transaction());
        return;
    }
    guard::transaction lost(other->view());
    other->run("INSERT INTO t(id) VALUES(2)");
    EXPECT_THROW(other->run("UPDATE t SET number = 2 WHERE id = 1"), guard::conflict);
    EXPECT_THROW(lost.commit(), std::exception);
    winner.commit();
    EXPECT_EQ(first->number("SELECT count(*) FROM t"), 1);
}

asio::awaitable<void> run_both(guard::async_connection& db, const guard::statement& first,
                               const guard::statement& second) {
    EXPECT_TRUE(db.in_transaction());
    const guard::rows inserted = co_await db.execute(first);
    EXPECT_EQ(inserted.matched, 1U);
    const guard::rows changed = co_await db.execute(second);
    EXPECT_EQ(changed.matched, 1U);
}

asio::awaitable<void> use_transactions(guard::async_connection& db, guard::dialect spoken) {
    const auto in_words = [spoken](const std::string& text) { return with_places(text, spoken); };
    const std::vector<value> first_row{std::int64_t{1}, INT64_MIN, "é"};
    const guard::statement insert{in_words("INSERT INTO t(id, number, note) VALUES({}, {}, {})"),
                                  first_row};
    const guard::statement store{
        in_words("UPDATE t SET data = {} WHERE id = {}"), {bytes, std::int64_t{1}}, true};
    const guard::statement bad{"SELEKT 1"};
    const guard::transaction_work half = [&] { return run_both(db, insert, bad); };
    const guard::transaction_work whole = [&] { return run_both(db, insert, store); };
    bool has_failed = false;
    try {
        co_await guard::async_transaction(db, half);
    } catch (const guard::database_error&) {
        has_failed = true;
    }
    EXPECT_TRUE(has_failed);
    EXPECT_FALSE(db.in_transaction());
    co_await guard::async_transaction(db, whole);
    const guard::statement select{"SELECT number, note, data FROM t"};
    const guard::statement select_one{in_words("SELECT number, note, data FROM t WHERE id = {}"),
                                      {std::int64_t{1}}};
    const guard::rows all = co_await db.execute(select);
    const guard::rows same = co_await db.execute(select_one);
    const std::vector<std::vector<value>> expected{{INT64_MIN, "é", bytes}};
    EXPECT_EQ(all.values, expected);
    EXPECT_EQ(same.values, expected);
}

// The same with coroutines, whose loop waits for the socket.
TEST_P(GuardConnection, WorksForCoroutines) {
    asio::io_context loop;
    const auto opened = database->connect(loop.get_executor());
    auto ended = asio::co_spawn(loop, use_transactions(opened->view(), database->dialect()),
                                asio::use_future);
    loop.run();
    ended.get();
    EXPECT_EQ(first->number("SELECT count(*) FROM t"), 1);
}

EVERY_DATABASE(GuardConnection);

}  // namespace
}  // namespace guard_tests
