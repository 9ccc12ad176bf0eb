// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// `pawl reconcile --history`.
#include "command.hpp"

#include <pawl/blocking.hpp>
#include <pawl/guard/open_database.hpp>
#include <pawl/guard/reconciliation.hpp>
#include <pawl/guard/schema.hpp>

#include <gmock/gmock.h>

#include <filesystem>

namespace {

using namespace cli_test;
using testing::HasSubstr;
using testing::Not;

class Reconcile : public ::testing::Test {
protected:
    // A key is repaired, and the next one fails.
    void run_once(const std::string& name) const {
        const auto database = pawl::guard::open_database(url);
        pawl::guard::make_tables(*database);
        pawl::blocking::client locks(pawl::from_url(url));
        pawl::guard::reconciliation pass(locks, *database, name, {.per_second = 1e6});
        const auto report = pass.run(
            [](const std::string& after, std::uint32_t) {
                return after.empty() ? std::vector<std::string>{"o1", "o2"}
                                     : std::vector<std::string>{};
            },
            [](const std::string& key, pawl::fencing_token) {
                if (key == "o2") throw std::runtime_error("the bank says \x1b[2J no");
                return pawl::guard::repair_result::repaired;
            });
        EXPECT_EQ(report.end, pawl::guard::reconcile_end::finished);
    }

    const test_sandbox sandbox;
    const std::string url = "sqlite:" + sandbox.file(".local/state/pawl/locks.db");
};

TEST_F(Reconcile, ShowsTheRuns) {
    (void)sandbox.run({"status", "it"});  // makes the folder
    run_once("orders/nightly");
    run_once("invoices");
    const auto all = sandbox.run({"reconcile", "--history"});
    EXPECT_EQ(all.code, 0) << all.err;
    EXPECT_THAT(all.out, HasSubstr("REPAIRED"));
    EXPECT_LT(all.out.find("invoices"), all.out.find("orders/nightly")) << "the newest first";
    EXPECT_THAT(all.out, HasSubstr("o2: the bank says"));
    EXPECT_THAT(all.out, Not(HasSubstr("\x1b[2J")));
    const auto by_name =
        sandbox.run({"reconcile", "--history", "--name", "orders/nightly", "--json"});
    EXPECT_EQ(by_name.code, 0) << by_name.err;
    EXPECT_THAT(by_name.out, HasSubstr(R"([{"name":"orders/nightly","run":")"));
    EXPECT_THAT(by_name.out, HasSubstr(R"("keys":2,"repaired":1,"agreed":0,"failed":1)"));
    EXPECT_THAT(by_name.out, Not(HasSubstr("invoices")));
    const auto last = sandbox.run({"reconcile", "--history", "--last", "1"});
    EXPECT_THAT(last.out, HasSubstr("invoices"));
    EXPECT_THAT(last.out, Not(HasSubstr("orders/nightly")));
}

TEST_F(Reconcile, SaysWhatIsMissing) {
    const auto without_flag = sandbox.run({"reconcile"});
    EXPECT_EQ(without_flag.code, 64);
    EXPECT_THAT(without_flag.err, HasSubstr("add --history"));
    const auto no_database = sandbox.run({"reconcile", "--history", "--on", "redis://127.0.0.1:1"});
    EXPECT_EQ(no_database.code, 64);
    EXPECT_THAT(no_database.err, HasSubstr("name the database with --on"));
    const auto mistyped =
        sandbox.run({"reconcile", "--history", "--on", "sqlite:" + sandbox.file("mistyped.db")});
    EXPECT_EQ(mistyped.code, 77) << mistyped.err;
    EXPECT_THAT(mistyped.err, HasSubstr("mistyped.db.records, so no program has stored"));
    EXPECT_FALSE(std::filesystem::exists(sandbox.file("mistyped.db.records")));
    (void)sandbox.run({"status", "it"});
    (void)pawl::guard::open_database(url);  // makes the file
    const auto no_table = sandbox.run({"reconcile", "--history"});
    EXPECT_EQ(no_table.code, 77) << no_table.err;
    EXPECT_THAT(no_table.err, HasSubstr("pawl_reconcile is missing"));
    const auto bad_number = sandbox.run({"reconcile", "--history", "--last", "0"});
    EXPECT_EQ(bad_number.code, 64);
}

}  // namespace
