// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// URLs and connection strings of PostgreSQL. Bad ones: one sentence each, without the password.
// Errors of the server, and what doctor finds.
#include "postgres/commit_settings.hpp"
#include "postgres/connection.hpp"
#include "postgres/connection_string.hpp"
#include "postgres/doctor.hpp"
#include "postgres/server_errors.hpp"

#include <pawl/error.hpp>
#include <pawl/postgres.hpp>

#include <support/temp_folder.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace pawl::postgres {
namespace {

class PostgresOptions : public testing::Test {
protected:
    PostgresOptions() {
        for (const char* each :
             {"PGHOST", "PGHOSTADDR", "PGPORT", "PGSERVICE", "PGDATABASE", "PGTARGETSESSIONATTRS",
              "PGCONNECT_TIMEOUT", "PGUSER", "PGPASSFILE"})
            ::unsetenv(each);
    }

    static connection_string parsed(std::string_view url) {
        return parse_connection(parse_options(url).connection);
    }
    static std::optional<error> failure_of(std::string_view url) {
        try {
            static_cast<void>(at(url));
            return std::nullopt;
        } catch (const error& failed) {
            return failed;
        }
    }
    static std::optional<error> failure_of(const options& settings) {
        try {
            static_cast<void>(at(settings));
            return std::nullopt;
        } catch (const error& failed) {
            return failed;
        }
    }
};

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

TEST_F(PostgresOptions, AUrlHasPawlsOptionsAndThoseOfLibpq) {
    const auto settings = parse_options(
        "postgresql://user:secret@db1,db2:5433/shop?schema=locks&sslmode=require&namespace=a%20b"
        "&after_failover=go&make_schema=no&connect_timeout=3");
    EXPECT_EQ(settings.schema, "locks");
    EXPECT_EQ(settings.name_space, "a b");
    EXPECT_EQ(settings.after_failover, after_failover::go);
    EXPECT_FALSE(settings.make_schema);
    EXPECT_EQ(settings.connection,
              "postgresql://user:secret@db1,db2:5433/shop?sslmode=require&connect_timeout=3");
    const auto connection = parse_connection(settings.connection);
    ASSERT_EQ(connection.hosts.size(), 2U);
    EXPECT_EQ(connection.hosts[0].text(), "db1:5432");
    EXPECT_EQ(connection.hosts[1].text(), "db2:5433");
    EXPECT_EQ(connection.timeout, std::chrono::seconds(3));
    EXPECT_EQ(connection.database, "shop");
}

TEST_F(PostgresOptions, AConnectionStringMayHaveAddresses) {
    const auto connection = parse_connection("host=a,b hostaddr=127.0.0.1,::1 port=7 user=u");
    ASSERT_EQ(connection.hosts.size(), 2U);
    EXPECT_EQ(connection.hosts[1].host, "b");
    EXPECT_EQ(connection.hosts[1].address, "::1");
    EXPECT_EQ(connection.hosts[1].port, 7);
    EXPECT_EQ(connection.parameters.size(), 1U);
    EXPECT_EQ(parse_connection("hostaddr=::1").hosts.front().text(), "[::1]:5432");
    EXPECT_EQ(parse_connection("host=/tmp port=6").hosts.front().text(), "/tmp/.s.PGSQL.6");
    EXPECT_TRUE(parse_connection("").hosts.front().is_local());
}

TEST_F(PostgresOptions, TheEnvironmentHasWhatTheStringLacks) {
    ::setenv("PGHOST", "elsewhere", 1);
    ::setenv("PGPORT", "99", 1);
    EXPECT_EQ(parse_connection("").hosts.front().text(), "elsewhere:99");
    EXPECT_EQ(parse_connection("host=here").hosts.front().text(), "here:99");
    EXPECT_EQ(parse_connection("host=here port=1").hosts.front().text(), "here:1");
    ::unsetenv("PGHOST");
    ::unsetenv("PGPORT");
}

TEST_F(PostgresOptions, ADescriptionHasNoPassword) {
    EXPECT_EQ(at("postgres://u:secret@db/shop?password=secret&sslmode=require").describe(),
              "postgresql://db:5432/shop");
    EXPECT_EQ(at("postgresql://u:secret@a,b:1/x?schema=s&namespace=n").describe(),
              "postgresql://a:5432,b:1/x?schema=s&namespace=n");
    EXPECT_EQ(at("postgresql://u@%2Ftmp%2Fpg:6/x").describe(), "postgresql://%2Ftmp%2Fpg:6/x");
    EXPECT_EQ(at(options{.connection = "host=h password=secret dbname=d"}).describe(),
              "postgresql://h:5432/d");
}

TEST_F(PostgresOptions, AMistakenUrlIsSaid) {
    using enum errc;
    EXPECT_TRUE(says(failure_of("postgresql://u:secret@h/d?nonesuch=1"), bad_url, "'nonesuch'"));
    EXPECT_TRUE(says(failure_of("postgresql://h/d?schema="), bad_url, "schema= is empty"));
    EXPECT_TRUE(says(failure_of("postgresql://h/d?schema=a&schema=b"), bad_option, "twice"));
    EXPECT_TRUE(says(failure_of("postgresql://h/d?after_failover=1"), bad_url, "wait or go"));
    EXPECT_TRUE(says(failure_of("postgresql://h/d?make_schema=1"), bad_url, "yes or no"));
    EXPECT_TRUE(says(failure_of("postgresql://u:secret@h:x/d"), bad_url, "port"));
    EXPECT_TRUE(says(failure_of("postgresql://h/d?service=x"), bad_option, "PGSERVICE"));
    EXPECT_TRUE(says(failure_of("postgresql://h/d?replication=1"), bad_option, "replication"));
    EXPECT_TRUE(says(failure_of("postgresql://h/d?target_session_attrs=standby"), bad_option,
                     "target_session_attrs=standby"));
    EXPECT_FALSE(failure_of("postgresql://h/d?target_session_attrs=read-write"));
}

// libpq would take 500ms for 500 s, and the rest of the password for a part of the host.
TEST_F(PostgresOptions, WhatLibpqMisunderstandsIsRefused) {
    using enum errc;
    for (const char* each : {"5s", "500ms", "abc", "5 "})
        EXPECT_TRUE(says(failure_of(std::string("postgresql://h/d?connect_timeout=") + each),
                         bad_option, "connect_timeout=5"))
            << each;
    EXPECT_FALSE(failure_of("postgresql://h/d?connect_timeout=-1"));
    EXPECT_TRUE(says(failure_of("postgresql://u:a@secret@h/d"), bad_url, "%40"));
    EXPECT_FALSE(failure_of("postgresql://u:a%40secret@h/d?application_name=a@b"));
}

// Otherwise libpq prints a warning, and goes on without a password.
TEST_F(PostgresOptions, APasswordFileThatOthersMayReadIsRefused) {
    using enum errc;
    const support::temp_folder folder;
    const auto file = folder.file("passfile");
    const auto url = "postgresql://u@h/d?passfile=" + file;
    EXPECT_TRUE(says(failure_of(url), bad_option, "'" + file + "' cannot be found"));
    std::ofstream(file) << "*:*:*:*:secret\n";
    std::filesystem::permissions(file, std::filesystem::perms(0640));
    EXPECT_TRUE(says(failure_of(url), bad_option, "run: chmod 600 " + file));
    EXPECT_FALSE(failure_of(url + "&password=secret")) << "libpq does not read the file";
    std::filesystem::permissions(file, std::filesystem::perms(0600));
    EXPECT_FALSE(failure_of(url));
}

// As in psql.
TEST_F(PostgresOptions, TheDefaultDatabaseHasTheUsersName) {
    EXPECT_EQ(at("postgresql://u@h").describe(), "postgresql://h:5432/u");
    ::setenv("PGUSER", "v", 1);
    EXPECT_EQ(at("postgresql://h/").describe(), "postgresql://h:5432/v");
    ::setenv("PGDATABASE", "d", 1);
    EXPECT_EQ(at("postgresql://u@h").describe(), "postgresql://h:5432/d");
    ::unsetenv("PGUSER");
    ::unsetenv("PGDATABASE");
}

TEST_F(PostgresOptions, AnErrorSaysWhatToDo) {
    using enum errc;
    const error_place place{"PostgreSQL at h:5432", "pawl"};
    const auto connected = [&](const char* message) {
        return connect_error({"", message}, place, false);
    };
    EXPECT_TRUE(
        says(connected("invalid sslmode value: \"on\""), bad_option, "parameters of libpq"));
    EXPECT_TRUE(says(connected("server does not support SSL, but SSL was required"), refused,
                     "set ssl = on in the server, or choose another sslmode"));
    EXPECT_TRUE(says(connect_error({"", "x"}, place, true), refused, "chmod 600"));
    EXPECT_TRUE(says(call_error({"42703", "column f.fence does not exist"}, place), refused,
                     "the schema pawl is not as Pawl makes it"));
    EXPECT_TRUE(says(call_error({"42883", "the text"}, place), refused, "pawl schema --role"));
    EXPECT_EQ(call_error({"XX000", "the text"}, place).reason(), protocol);
}

TEST_F(PostgresOptions, WhatDoctorFindsIsOfTheServer) {
    const auto level_of = [](const examination& result, std::string_view topic) {
        const auto found = std::ranges::find(result.findings, topic, &finding::topic);
        return found == result.findings.end() ? std::optional<finding::grade>() : found->level;
    };
    server_state state;
    auto result = assess(state, {}, "h:5432");
    ASSERT_EQ(result.nodes.size(), 1U);
    for (const auto& each : result.findings)
        EXPECT_EQ(each.node, "h:5432") << each.topic;
    EXPECT_EQ(level_of(result, "oldest snapshot"), finding::grade::good);
    EXPECT_EQ(level_of(result, "sessions"), finding::grade::good);
    EXPECT_EQ(level_of(result, "pause"), std::nullopt);
    state.hidden_snapshots = 1;
    state.sessions = 150;
    state.hold_off = std::chrono::milliseconds(1001);
    result = assess(state, {}, "h:5432");
    EXPECT_EQ(level_of(result, "oldest snapshot"), finding::grade::note);
    EXPECT_EQ(level_of(result, "sessions"), finding::grade::note);
    EXPECT_EQ(level_of(result, "pause"), finding::grade::warning);
    EXPECT_EQ(result.findings.back().fact, "nothing is granted for another 2 s");
    EXPECT_EQ(assess_sessions(state, "h:5432").findings.front().node, "h:5432");
}

TEST_F(PostgresOptions, AMistakenStringIsSaid) {
    using enum errc;
    const auto failure = [](options settings) { return failure_of(settings); };
    EXPECT_TRUE(
        says(failure({.connection = "host=h password=a secret"}), bad_option, "not understood"));
    EXPECT_TRUE(says(failure({.connection = "nonesuch=1"}), bad_option, "not understood"));
    EXPECT_TRUE(says(failure({.connection = "host=a,b hostaddr=::1"}), bad_option, "lengths"));
    EXPECT_TRUE(says(failure({.connection = "host=a,b,c port=1,2"}), bad_option, "ports"));
    EXPECT_TRUE(says(failure({.connection = "port=70000"}), bad_option, "65535"));
    for (const char* each : {"", "Locks", "a-b", "1a", "pg_locks", "a\"b"})
        EXPECT_TRUE(says(failure({.schema = each}), bad_option, "schema")) << each;
    EXPECT_TRUE(says(failure({.schema = std::string(64, 'a')}), bad_option, "schema"));
    EXPECT_TRUE(says(failure({.name_space = ""}), bad_option, "namespace"));
    EXPECT_TRUE(says(failure({.name_space = "a\nb"}), bad_option, "namespace"));
    EXPECT_FALSE(failure({.schema = std::string(63, 'a')}));
}

TEST_F(PostgresOptions, TheSchemaIsForOneRole) {
    const auto text = schema_of({.schema = "locks"}, "app");
    EXPECT_NE(text.find("create table \"locks\".lock ("), text.npos);
    EXPECT_NE(text.find("create role \"locks_owner\" nologin"), text.npos);
    EXPECT_NE(text.find("to %I', 'app')"), text.npos);
    EXPECT_EQ(text.find('@'), text.npos);
    EXPECT_EQ(schema_of({}).find("nologin"), std::string::npos);
    for (const char* each : {"a'b", "a\"b", "a$b", "a\nb"})
        EXPECT_THROW(static_cast<void>(schema_of({}, each)), error) << each;
}

TEST_F(PostgresOptions, TheNamesOfStandbysSayHowManyAreAwaited) {
    EXPECT_EQ(awaited_standbys(""), 0U);
    EXPECT_EQ(awaited_standbys(" "), 0U);
    EXPECT_EQ(awaited_standbys("*"), 1U);
    EXPECT_EQ(awaited_standbys("a, b"), 1U);
    EXPECT_EQ(awaited_standbys("2 (a, b, c)"), 2U);
    EXPECT_EQ(awaited_standbys("FIRST 3 (a9, b, c)"), 3U);
    EXPECT_EQ(awaited_standbys("any 12(s1, s2)"), 12U);
}

TEST_F(PostgresOptions, ShedLocksTableHasOptionsOfItsOwn) {
    using enum errc;
    const std::string url = "postgresql://h/d?layout=shedlock&others=database_time";
    const auto settings =
        parse_options(url + "&table=Batch.Locks&lock_at_least=1500&sslmode=require");
    ASSERT_TRUE(settings.shedlock);
    EXPECT_EQ(settings.shedlock->name, "Batch.Locks");
    EXPECT_EQ(settings.shedlock->lock_at_least, std::chrono::milliseconds(1500));
    EXPECT_EQ(settings.connection, "postgresql://h/d?sslmode=require");
    EXPECT_EQ(at(url + "&table=x").describe(), "postgresql://h:5432/d?layout=shedlock&table=x");
    EXPECT_FALSE(parse_options("postgresql://h/d?layout=native").shedlock);
    EXPECT_TRUE(
        says(failure_of("postgresql://h/d?layout=shedlock"), bad_option, "others=database_time"));
    EXPECT_TRUE(says(failure_of("postgresql://h/d?layout=redisson"), bad_url, "layout=shedlock"));
    EXPECT_TRUE(says(failure_of("postgresql://h/d?table=x"), bad_option, "add layout=shedlock"));
    EXPECT_TRUE(says(failure_of("postgresql://h/d?layout=shedlock&others=utc"), bad_url,
                     "others=database_time"));
    for (const char* each : {"schema=s", "namespace=n", "make_schema=no", "after_failover=go",
                             "mode=session", "keys=number"})
        EXPECT_TRUE(says(failure_of(url + "&" + each), bad_option, "no option")) << each;
    EXPECT_TRUE(says(failure_of(url + "&mode=session"), bad_option,
                     "ShedLock's table has no option mode; leave it out, or layout=shedlock."));
    for (const char* each : {"", "a.b.c", "a b", "1a", "a;b", ".a", "a."})
        EXPECT_TRUE(says(failure_of(url + "&table=" + each), bad_option, "TABLE")) << each;
    EXPECT_TRUE(says(failure_of(url + "&lock_at_least=25h"), bad_url, "0 to 24h"));
    EXPECT_NE(at(url).setup_text("app").find("update on shedlock to \"app\""), std::string::npos);
}

TEST_F(PostgresOptions, AdvisoryLocksHaveOptionsOfTheirOwn) {
    using enum errc;
    const std::string url = "postgresql://h/d?mode=session";
    EXPECT_EQ(parse_options(url + "&keys=crc32&sslmode=require").connection,
              "postgresql://h/d?sslmode=require");
    EXPECT_EQ(at(url + "&keys=crc32").describe(), "postgresql://h:5432/d?mode=session&keys=crc32");
    for (const char* each : {"schema=s", "namespace=n", "make_schema=no", "after_failover=go"})
        EXPECT_TRUE(says(failure_of(url + "&" + each), bad_option, "Advisory locks have no option"))
            << each;
    EXPECT_TRUE(says(failure_of("postgresql://h/d?keys=crc32"), bad_option, "add mode=session"));
    EXPECT_TRUE(says(failure_of("postgresql://h/d?mode=row"), bad_url, "lease or session"));
}

TEST_F(PostgresOptions, AListIsAnArray) {
    using list = std::vector<std::string>;
    EXPECT_EQ(to_text(std::monostate{}), std::nullopt);
    EXPECT_EQ(to_text(std::int64_t{-5}), "-5");
    EXPECT_EQ(to_text(list{}), "{}");
    EXPECT_EQ(to_text(list{"a", "b\"\\{},", ""}), R"({"a","b\"\\{},",""})");
}

}  // namespace
}  // namespace pawl::postgres
