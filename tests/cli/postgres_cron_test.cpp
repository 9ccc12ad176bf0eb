// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// `pawl cron` on a PostgreSQL server that dies and comes back, and for a role without rights.
#include "command.hpp"

#include <support/postgres_server.hpp>

#include <gtest/gtest.h>

#include <signal.h>

#include <algorithm>
#include <fstream>

namespace {

using namespace cli_test;
using namespace std::chrono_literals;

std::size_t ticks_in(const std::string& path) {
    const auto text = read_file(path);
    return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

TEST(CronOnPostgres, GoesOnAfterACrashOfTheServer) {
    support::postgres_server server;
    const test_sandbox sandbox(server.url());
    const auto file = sandbox.file("schedules");
    const auto out = sandbox.file("out");
    std::ofstream(file) << "* * * * * *  tick  ttl=2s  echo \"$PAWL_TICK\" >>" << out << '\n';
    const auto cron = sandbox.start({"cron", file});
    ASSERT_TRUE(support::eventually([&] { return ticks_in(out) > 0; })) << cron->err();
    server.kill9();
    EXPECT_TRUE(support::eventually([&] {
        return cron->err().find("The records cannot be reached: ") != std::string::npos;
    })) << cron->err();
    server.start();
    EXPECT_TRUE(support::eventually([&] {
        return cron->err().find("The records can be reached again.") != std::string::npos;
    })) << cron->err();
    const auto before = ticks_in(out);
    EXPECT_TRUE(support::eventually([&] { return ticks_in(out) > before; })) << cron->err();
    cron->signal(SIGTERM);
    EXPECT_EQ(cron->wait(120s).code, 0);
}

TEST(CronOnPostgres, AnUnknownDatabaseIsNoOutage) {
    const support::postgres_server server;
    const test_sandbox sandbox(server.url("nowhere"));
    const auto history = sandbox.run({"cron", "--history"});
    EXPECT_EQ(history.code, 77) << history.err;
    EXPECT_NE(history.err.find("\"nowhere\" does not exist; correct"), std::string::npos)
        << history.err;
}

// The first use of the locks makes their schema, for which this role has no right either; so an
// administrator has prepared the locks, but not the table of the ticks.
TEST(CronOnPostgres, SaysWhoMakesTheTable) {
    support::postgres_server server;
    const test_sandbox admin(server.url());
    server.execute("create role app login");
    server.execute("revoke create on schema public from public");
    server.execute(admin.run({"schema", "--role", "app"}).out);
    auto url = server.url();
    url.replace(url.find("postgres@"), 9, "app@");
    const test_sandbox sandbox(url);
    const auto file = sandbox.file("schedules");
    std::ofstream(file) << "* * * * *  tick  true\n";
    const auto refused = sandbox.run({"cron", file});
    EXPECT_EQ(refused.code, 77) << refused.err;
    EXPECT_NE(
        refused.err.find("let an administrator run the output of `pawl cron --schema --on URL`"),
        std::string::npos)
        << refused.err;
    server.execute(admin.run({"cron", "--schema"}).out);
    server.execute("grant select, insert, update, delete on pawl_tick to app");
    const auto cron = sandbox.start({"cron", file});
    EXPECT_TRUE(support::eventually([&] {
        return server.value("select count(*) from pawl_tick") == "1";
    })) << cron->err();
}

}  // namespace
