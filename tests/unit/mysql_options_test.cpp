// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// URLs and options of MariaDB and MySQL, the calls and errors of their servers, and the schema's
// SQL. Bad options: one sentence each, without the password.
#include "mysql/connection.hpp"
#include "mysql/doctor.hpp"
#include "mysql/schema.hpp"
#include "mysql/server_errors.hpp"

#include <pawl/error.hpp>
#include <pawl/mysql.hpp>
#include <pawl/service.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace pawl::mysql {
namespace {

using enum errc;

std::optional<error> failure_of(const std::function<void()>& call) {
    try {
        call();
        return std::nullopt;
    } catch (const error& failed) {
        return failed;
    }
}

std::optional<error> failure_of(std::string_view url) {
    return failure_of([&] { static_cast<void>(from_url(url)); });
}

std::optional<error> failure_of(const options& settings) {
    return failure_of([&] { static_cast<void>(at(settings)); });
}

testing::AssertionResult says(const std::optional<error>& failed, errc code,
                              std::string_view words) {
    if (!failed) return testing::AssertionFailure() << "no error";
    const std::string_view sentence = failed->what();
    if (failed->reason() != code || sentence.find(words) == sentence.npos)
        return testing::AssertionFailure() << failed->code().message() << ": " << sentence;
    if (!sentence.ends_with('.') || sentence.find("secret") != sentence.npos)
        return testing::AssertionFailure() << "not a sentence, or with a password: " << sentence;
    return testing::AssertionSuccess();
}

TEST(MySqlOptions, ADescriptionHasWhatMakesLocksTheSame) {
    EXPECT_EQ(
        from_url("mysql://u:secret@db/shop?after_failover=go&push=no&make_schema=no").describe(),
        "mysql://db/shop");
    EXPECT_EQ(from_url("mariadb://a,b:7/x?namespace=a%20b").describe(),
              "mysql://a,b:7/x?namespace=a%20b");
    EXPECT_EQ(from_url("mysql://[::1]:3307?tls=yes").describe(), "mysql://[::1]:3307/pawl");
    EXPECT_EQ(at(options{}).describe(), "mysql://127.0.0.1/pawl");
}

TEST(MySqlOptions, AMistakenUrlIsSaid) {
    EXPECT_TRUE(says(failure_of("mysql://u:secret@h/d?nonesuch=1"), bad_url, "'nonesuch'"));
    EXPECT_TRUE(says(failure_of("mysql://u:secret@h:x/d"), bad_url, "port"));
    EXPECT_TRUE(says(failure_of("mysql://h/d?push=1"), bad_url, "yes or no"));
    EXPECT_TRUE(says(failure_of("mysql://h/d?make_schema=1"), bad_url, "yes or no"));
    EXPECT_TRUE(says(failure_of("mysql://h/d?after_failover=1"), bad_url, "wait or go"));
    EXPECT_TRUE(says(failure_of("mysqls://h/d"), bad_url, "tls=yes"));
    EXPECT_TRUE(says(failure_of("mysqlx://h/d"), bad_url, "3306"));
    EXPECT_TRUE(says(failure_of("mysql://h/d?ca=/x"), bad_option, "tls=yes"));
    EXPECT_TRUE(says(failure_of("mysql://u:secret@h/d?password_file=/x"), bad_option, "password"));
    EXPECT_TRUE(says(failure_of("mysql://h/d?password_file="), bad_url, "password_file= is empty"));
    EXPECT_TRUE(says(failure_of("jdbc:mysql://h/d"), bad_url, "write mysql://"));
}

TEST(MySqlOptions, MistakenOptionsAreSaid) {
    EXPECT_TRUE(says(failure_of({.servers = {}}), bad_option, "servers"));
    EXPECT_TRUE(says(failure_of({.servers = {{.host = ""}}}), bad_option, "host"));
    EXPECT_TRUE(says(failure_of({.servers = {{.host = "a,b"}}}), bad_option, "commas"));
    EXPECT_TRUE(says(failure_of({.servers = {{.host = "a", .port = 0}}}), bad_option, "port"));
    for (const char* each : {"", "Locks", "a-b", "1a", "a`b"})
        EXPECT_TRUE(says(failure_of({.schema = each}), bad_option, "database")) << each;
    EXPECT_TRUE(says(failure_of({.schema = std::string(64, 'a')}), bad_option, "database"));
    EXPECT_TRUE(says(failure_of({.name_space = ""}), bad_option, "namespace"));
    EXPECT_TRUE(says(failure_of({.name_space = std::string(65, 'a')}), bad_option, "namespace"));
    EXPECT_FALSE(failure_of({.schema = std::string(63, 'a'), .name_space = "a\nb"}));
}

// Nothing in a text can end its literal.
TEST(MySqlOptions, TextsOfACallAreHexadecimal) {
    using list = std::vector<std::string>;
    EXPECT_EQ(call_text("s", "renew",
                        {std::string("a'\0\xff", 4), std::int64_t{-5}, std::monostate{}, list{}}),
              R"(CALL `s`.renew_1(x'612700ff',-5,null,'[]'))");
    EXPECT_EQ(
        call_text("s", "renew", {list{"a\"", ""}, list{"1", "2"}, std::int64_t{3}, list{"b"}}),
        R"(CALL `s`.renew_1('[["6122","31"],["","32"]]',3,'[["62"]]'))");
}

TEST(MySqlOptions, AnErrorSaysWhatToDo) {
    const error_place place{"MariaDB at h:3306", "pawl"};
    const auto reason = [&](unsigned number) {
        return call_error({number, "the text"}, place).reason();
    };
    EXPECT_EQ(reason(1305), refused);      // no procedure
    EXPECT_EQ(reason(1370), refused);      // no right
    EXPECT_EQ(reason(1205), unavailable);  // a lock wait
    EXPECT_EQ(reason(1213), unavailable);  // a deadlock
    EXPECT_EQ(reason(1290), unavailable);  // read-only
    EXPECT_EQ(reason(1064), protocol);
    EXPECT_EQ(connect_error({1045, "the text"}, place).reason(), refused);
    EXPECT_EQ(connect_error({2002, "the text"}, place).reason(), unreachable);
    EXPECT_EQ(connect_error({1040, "the text"}, place).reason(), unavailable);
    EXPECT_TRUE(says(call_error({1305, "the text"}, place), refused, "pawl schema"));
    EXPECT_TRUE(says(call_error({1142, "the text"}, place), refused, "grant the rights"));
    EXPECT_TRUE(says(call_error({1054, "the text"}, place), refused,
                     "the database pawl is not as Pawl makes it"));
    EXPECT_TRUE(
        says(connect_error({2026, "the server has no TLS"}, place), refused, "leave out tls=yes"));
    EXPECT_TRUE(says(connect_error({2026, "a bad certificate"}, place), refused, "tls_name"));
}

TEST(MySqlOptions, WhatDoctorFindsIsOfTheServer) {
    const auto level_of = [](const examination& result, std::string_view topic) {
        const auto found = std::ranges::find(result.findings, topic, &finding::topic);
        return found == result.findings.end() ? std::optional<finding::grade>() : found->level;
    };
    server_state state;
    for (const char* local : {"127.0.0.1:1", "localhost:1", "::1:1"})
        EXPECT_EQ(level_of(assess(state, {}, local), "TLS"), finding::grade::good) << local;
    auto result = assess(state, {}, "h:3306");
    for (const auto& each : result.findings)
        EXPECT_EQ(each.node, "h:3306") << each.topic;
    EXPECT_EQ(level_of(result, "TLS"), finding::grade::warning);
    EXPECT_EQ(level_of(result, "rights"), finding::grade::good);
    EXPECT_EQ(level_of(result, "pause"), std::nullopt);
    state.has_tls = state.sees_tables = true;
    state.hold_off = std::chrono::seconds(9);
    result = assess(state, {}, "h:3306");
    EXPECT_EQ(level_of(result, "TLS"), finding::grade::good);
    EXPECT_EQ(level_of(result, "rights"), finding::grade::note);
    EXPECT_EQ(level_of(result, "pause"), finding::grade::warning);
    EXPECT_EQ(assess_sessions(state, {}, "h:3306").findings.front().node, "h:3306");
}

TEST(MySqlOptions, TheSchemaIsOfStatementsThatCanBeRepeated) {
    for (const auto& each : schema_statements("locks")) {
        const bool is_repeatable =
            each.find("if not exists") != each.npos || each.find("if exists") != each.npos ||
            each.find("create procedure") != each.npos || each.find("insert ignore") != each.npos ||
            each.starts_with("set ");
        EXPECT_TRUE(is_repeatable) << each;
        EXPECT_EQ(each.find("@."), each.npos) << each;
    }
}

// An attempt that was cut short has made the first procedures. Tables come last, as many accounts
// may make them, but no procedures.
TEST(MySqlOptions, AFirstUseMakesWhatIsMissing) {
    const auto all = schema_statements("locks");
    const auto rest = statements_without(all, {"clear_owner", "hello_1"});
    EXPECT_EQ(rest.size(), all.size() - 4) << "each has a DROP and a CREATE";
    const auto is_about = [](std::string_view name) {
        return [name](const std::string& each) { return each.find(name) != each.npos; };
    };
    EXPECT_TRUE(std::ranges::none_of(rest, is_about("procedure `locks`.hello_1(")));
    const auto first_table = std::ranges::find_if(rest, is_about("create table"));
    EXPECT_TRUE(std::none_of(first_table, rest.end(), is_about("create procedure")));
    EXPECT_EQ(first_table->find("create table if not exists `locks`.meta"), 0U);
    EXPECT_EQ(rest.back(), all.back());
    EXPECT_EQ(foreign_table({}), "");
    EXPECT_EQ(foreign_table({"meta", "lock"}), "");
    EXPECT_EQ(foreign_table({"orders", "lock"}), "lock");
    EXPECT_EQ(foreign_table({"orders"}), "");
}

TEST(MySqlOptions, ShedLocksTableHasOptionsOfItsOwn) {
    const std::string url = "mysql://h/Java-Batch?layout=shedlock&others=database_time";
    EXPECT_EQ(at(url + "&table=x").describe(), "mysql://h/Java-Batch?layout=shedlock&table=x");
    const auto failure_at = [](const std::string& text) {
        return failure_of([&] { static_cast<void>(at(text)); });
    };
    EXPECT_TRUE(
        says(failure_at("mysql://h/d?layout=shedlock"), bad_option, "others=database_time"));
    EXPECT_TRUE(says(failure_at("mysql://h/d?lock_at_least=1s"), bad_option, "layout=shedlock"));
    for (const char* each : {"push=no", "namespace=n", "make_schema=no", "after_failover=go",
                             "mode=row", "mode=session", "one_node=yes"})
        EXPECT_TRUE(says(failure_at(url + "&" + each), bad_option, "no option")) << each;
    EXPECT_TRUE(says(failure_at(url + "&mode=row"), bad_option,
                     "ShedLock's table has no option mode; leave it out, or layout=shedlock."));
    EXPECT_TRUE(says(failure_at("mysql://h/a%60b?layout=shedlock&others=database_time"), bad_option,
                     "64 letters"));
    const auto text = at(url).setup_text("app@10.0.%");
    EXPECT_NE(text.find("INSERT, UPDATE ON `Java-Batch`.`shedlock` TO 'app'@'10.0.%'//"),
              text.npos);
}

TEST(MySqlOptions, LocksOfSessionsHaveOptionsOfTheirOwn) {
    const auto failure_at = [](const std::string& text) {
        return failure_of([&] { static_cast<void>(at(text)); });
    };
    for (const char* each : {"push=no", "namespace=n", "make_schema=no", "after_failover=go"})
        EXPECT_TRUE(says(failure_at(std::string("mysql://h?mode=session&") + each), bad_option,
                         "User locks have no option"))
            << each;
    for (const char* each : {"push=no", "after_failover=go"})
        EXPECT_TRUE(says(failure_at(std::string("mysql://h/d?mode=row&") + each), bad_option,
                         "Locked rows have no option"))
            << each;
    EXPECT_TRUE(says(failure_at("mysql://h/d?mode=session"), bad_option, "leave out the database"));
    EXPECT_TRUE(says(failure_at("mysql://h/d?one_node=yes"), bad_option, "mode=row"));
    EXPECT_EQ(at("mysql://h/d?mode=row&namespace=n&make_schema=no").describe(),
              "mysql://h/d?namespace=n&mode=row");
}

TEST(MySqlOptions, AStatementHasItsParametersAsTextsAndNumbers) {
    EXPECT_EQ(statement_text("a = $2 AND b = $1", {std::int64_t{-5}, std::string("x'")}),
              "a = _utf8mb4 x'7827' AND b = -5");
}

TEST(MySqlOptions, TheSchemaIsForOneAccount) {
    const auto text = schema_of({.schema = "locks"}, "app@10.0.%");
    EXPECT_NE(text.find("create user if not exists 'locks_owner'@'localhost' account lock//"),
              text.npos);
    EXPECT_NE(text.find("create definer = 'locks_owner'@'localhost' procedure `locks`.hello_1("),
              text.npos);
    EXPECT_NE(text.find("grant execute on procedure `locks`.hello_1 to 'app'@'10.0.%'//"),
              text.npos);
    EXPECT_EQ(text.find("grant execute on procedure `locks`.serve"), text.npos);
    EXPECT_NE(schema_of({}, "app").find("to 'app'@'%'//"), std::string::npos);
    EXPECT_EQ(schema_of({}).find("definer ="), std::string::npos);
    EXPECT_EQ(at(options{}).setup_text("app"), schema_of({}, "app"));
    for (const char* each : {"a'b", "a\"b", "a\\b", "a`b", "a\nb", "a//b", "@h", "a@"})
        EXPECT_TRUE(says(failure_of([&] { static_cast<void>(schema_of({}, each)); }), bad_option,
                         "USER@HOST"))
            << each;
}

}  // namespace
}  // namespace pawl::mysql
