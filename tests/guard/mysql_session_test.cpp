// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Sessions of MariaDB and MySQL that are set up in an unusual way.
#include "test_database.hpp"

#include <guard/mysql/prepared_statement.hpp>
#include <guard/once_statements.hpp>
#include <pawl/error.hpp>
#include <pawl/guard/async_mysql.hpp>
#include <pawl/guard/once.hpp>
#include <pawl/guard/schema.hpp>

#include <boost/asio/io_context.hpp>

#include <array>
#include <memory>

namespace guard_tests {
namespace {

using namespace std::string_literals;

class MysqlSession : public testing::Test {
protected:
    const std::unique_ptr<test_database> database = make_mariadb({});
    const std::unique_ptr<open_connection> opened = database->connect();
};

// The numbers by which the servers say that another transaction has won.
TEST(MysqlConflicts, AreKnownByTheirNumbers) {
    struct error_number {
        unsigned number;
        const char* message;
    };
    constexpr std::array<error_number, 5> conflicts{
        {{1020, "Record has changed since last read (MariaDB: snapshot isolation)"},
         {1205, "Lock wait timeout exceeded"},
         {1213, "Deadlock found when trying to get lock; also a COMMIT in Galera"},
         {3101, "Plugin instructed the server to rollback: a COMMIT in Group Replication"},
         {3572, "A lock was not acquired immediately and NOWAIT is set"}}};
    for (const auto& [number, message] : conflicts)
        EXPECT_TRUE(guard::is_mysql_conflict(number)) << number << ' ' << message;
    constexpr std::array<error_number, 6> others{{{0, "none"},
                                                  {1046, "No database selected"},
                                                  {1062, "Duplicate entry"},
                                                  {1290, "--read-only"},
                                                  {2013, "Lost connection"},
                                                  {3100, "Error on observer while running hook"}}};
    for (const auto& [number, message] : others)
        EXPECT_FALSE(guard::is_mysql_conflict(number)) << number << ' ' << message;
}

// The server says "Rows matched: 1" in the language of the session.
TEST_F(MysqlSession, CountsMatchedRowsInEachLanguage) {
    opened->run("CREATE TABLE facts(id BIGINT, name VARCHAR(9))");
    opened->run("INSERT INTO facts VALUES(1, 'one'), (2, 'two'), (3, 'two')");
    for (const auto* language : {"en_US", "de_DE", "zh_CN", "ja_JP", "ru_RU", "fr_FR", "cs_CZ",
                                 "ka_GE", "hi_IN", "sv_SE", "it_IT", "uk_UA"}) {
        opened->run("SET SESSION lc_messages = '"s + language + "'");
        EXPECT_EQ(opened->run("UPDATE facts SET name = 'two' WHERE id > 1").matched, 2U)
            << language;
        EXPECT_EQ(opened->run("UPDATE facts SET name = 'two' WHERE id > ?", {1}).matched, 2U)
            << language;
        EXPECT_EQ(opened->run("INSERT IGNORE INTO facts SELECT * FROM facts WHERE id = 1").matched,
                  1U)
            << language;
        opened->run("DELETE FROM facts WHERE id = 1 LIMIT 1");
    }
}

// Such a statement is one round trip to MariaDB, and the claim of `once` is one: its comment stands
// behind its places.
TEST(MysqlPlaces, AreCertainBeforeLiteralsAndComments) {
    const std::unique_ptr<MYSQL, decltype(&::mysql_close)> unconnected(::mysql_init(nullptr),
                                                                       &::mysql_close);
    const auto is_certain = [&](const guard::statement& tested) {
        return guard::mysql_prepared(unconnected.get(), tested).has_a_place_for_each();
    };
    const guard::once_statements record(guard::dialect::mysql, "order/7", {});
    EXPECT_TRUE(is_certain(record.claim("claim", guard::record_state::pending)));
    EXPECT_TRUE(is_certain({"SELECT ?, ? -- '", {1, 2}}));
    EXPECT_FALSE(is_certain({"SELECT ?, ?", {1}}));
    EXPECT_TRUE(is_certain({"SELECT 'a', ?", {1}}));
    EXPECT_FALSE(is_certain({"SELECT '?', ?", {1, 2}}));
    EXPECT_FALSE(is_certain({"SELECT ? AS `?`", {1, 2}}));
}

// A question mark in a literal or a comment is no place: a value that goes there is lost, and the
// place behind it has none.
TEST_F(MysqlSession, CountsThePlacesOfAStatementOnly) {
    for (const auto* text :
         {"SELECT '?', ?", "SELECT \"?\", ?", "SELECT ? AS `?`", "SELECT ? # ?", "SELECT ? -- ?",
          "SELECT /* ? */ ?", "SELECT 'it''s ?', ?", "SELECT '\\'?', ?"}) {
        EXPECT_EQ(guard::as_number(opened->run(text, {7}).values.at(0).back()), 7) << text;
        try {
            opened->run(text, {7, 8});
            ADD_FAILURE() << "not refused: " << text;
        } catch (const guard::database_error& refused) {
            EXPECT_NE(std::string(refused.what()).find("1 places for parameters, and 2"),
                      std::string::npos)
                << text << ": " << refused.what();
        }
    }
}

// The session begins a transaction with the next statement.
TEST_F(MysqlSession, IsInATransactionWithoutAutocommit) {
    guard::make_tables(opened->view());
    EXPECT_FALSE(opened->view().in_transaction());
    opened->run("SET autocommit = 0");
    EXPECT_TRUE(opened->view().in_transaction());
    try {
        (void)guard::once(opened->view(), "order/7", {},
                          [](const guard::attempt&) -> guard::outcome { return "made"s; });
        ADD_FAILURE() << "the claim is a part of another transaction";
    } catch (const pawl::error& refused) {
        EXPECT_EQ(refused.reason(), pawl::errc::unsupported) << refused.what();
    }
    opened->run("SET autocommit = 1");
    EXPECT_FALSE(opened->view().in_transaction());
}

TEST(AsyncMysqlSession, RefusesAClosedConnection) {
    const std::unique_ptr<MYSQL, decltype(&::mysql_close)> closed(::mysql_init(nullptr),
                                                                  &::mysql_close);
    asio::io_context loop;
    EXPECT_THROW(guard::async_mysql_connection(loop.get_executor(), closed.get()),
                 guard::database_error);
}

// Another engine has no transactions: an effect that is rolled back would stay in the record.
TEST_F(MysqlSession, RefusesARecordInAnotherEngine) {
    guard::make_tables(opened->view());
    opened->run("ALTER TABLE pawl_once ENGINE = MyISAM");
    try {
        guard::check_tables(opened->view());
        FAIL() << "it was not refused";
    } catch (const pawl::error& refused) {
        EXPECT_EQ(refused.reason(), pawl::errc::refused);
        EXPECT_NE(std::string(refused.what()).find("MyISAM"), std::string::npos) << refused.what();
    }
    opened->run("ALTER TABLE pawl_once ENGINE = InnoDB");
    guard::check_tables(opened->view());
}

}  // namespace
}  // namespace guard_tests
