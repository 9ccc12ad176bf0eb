// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// `pawl cron` on a MariaDB server.
#include "command.hpp"

#include <support/mariadb_server.hpp>

#include <gtest/gtest.h>

#include <signal.h>

#include <fstream>

namespace {

using namespace cli_test;
using namespace std::chrono_literals;

TEST(CronOnMariaDb, RunsTicksAndGoesOnAfterACrashOfTheServer) {
    support::mariadb_server server;
    const test_sandbox sandbox(server.url());
    const auto file = sandbox.file("schedules");
    std::ofstream(file) << "* * * * * *  tick  overlap=wait  true\n";
    const auto cron = sandbox.start({"cron", file});
    const auto done = [&server] {
        return server.number("select count(*) from pawl.pawl_tick where state = 3 and status = 0");
    };
    const auto is_table_there = [&server] {
        return server.number(
                   "select count(*) from information_schema.tables where table_name = "
                   "'pawl_tick'") == 1;
    };
    ASSERT_TRUE(support::eventually(is_table_there)) << cron->err();
    ASSERT_TRUE(support::eventually([&] { return done() > 1; })) << cron->err();
    server.kill9();
    EXPECT_TRUE(support::eventually([&] {
        return cron->err().find("The records cannot be reached: ") != std::string::npos;
    })) << cron->err();
    server.start();
    const auto before = done();
    EXPECT_TRUE(support::eventually([&] { return done() > before; })) << cron->err();
    cron->signal(SIGTERM);
    EXPECT_EQ(cron->wait(120s).code, 0);
}

}  // namespace
