// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// `pawl cron` on a MariaDB server.
#include "command.hpp"

#include <pawl/guard/open_database.hpp>
#include <pawl/guard/tick_records.hpp>

#include <support/certificates.hpp>
#include <support/mariadb_server.hpp>
#include <support/server_user.hpp>

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

TEST(CronOnMariaDb, AWrongPasswordIsNoOutage) {
    const support::mariadb_server server;
    server.execute("CREATE USER guarded IDENTIFIED BY 'open sesame'");
    const test_sandbox sandbox(server.url("pawl", "", "guarded:wrong"));
    const auto history = sandbox.run({"cron", "--history"});
    EXPECT_EQ(history.code, 77) << history.err;
    EXPECT_NE(history.err.find("refuses the connection: Access denied"), std::string::npos)
        << history.err;
}

// The certificate has another name than the host of the URL.
TEST(CronOnMariaDb, KeepsRecordsOverTlsWithANameForTheCertificate) {
    const support::temp_folder folder;
    support::certificate_authority(folder.path().string())
        .issue("server", {.host_names = "DNS:db.example"});
    support::give_to_server_user(folder.path());
    const support::mariadb_server server(
        {.options = {"--ssl-ca=" + folder.file("ca.crt"), "--ssl-cert=" + folder.file("server.crt"),
                     "--ssl-key=" + folder.file("server.key")}});
    server.execute("CREATE USER guarded IDENTIFIED BY 'open sesame' REQUIRE SSL");
    server.execute("GRANT ALL ON *.* TO guarded");
    const auto url_with = [&](const std::string& options) {
        return server.url("pawl", "?tls=yes&ca=" + folder.file("ca.crt") + options,
                          "guarded:open%20sesame");
    };
    server.execute("CREATE DATABASE IF NOT EXISTS pawl");
    const auto database = pawl::guard::open_database(url_with("&tls_name=db.example"));
    pawl::guard::sql_tick_records records(*database);
    records.make_schema();
    EXPECT_TRUE(records.look("job").unfinished.empty());
    const auto cipher = database->execute({"SHOW STATUS LIKE 'Ssl_cipher'"});
    EXPECT_NE(pawl::guard::as_string(cipher.values.at(0).at(1)), "");
    EXPECT_THROW(static_cast<void>(pawl::guard::open_database(url_with("&tls_name=db.other"))),
                 pawl::guard::database_error);
    EXPECT_THROW(static_cast<void>(pawl::guard::open_database(url_with(""))),
                 pawl::guard::database_error);
}

}  // namespace
