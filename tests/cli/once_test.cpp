// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// `pawl once`.
#include "command.hpp"

#include <pawl/guard/once.hpp>
#include <pawl/guard/open_database.hpp>
#include <pawl/guard/schema.hpp>

#include <gmock/gmock.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace {

using namespace cli_test;
using pawl::guard::once_state;
using testing::HasSubstr;
using testing::Not;

pawl::guard::outcome refuse_card(const pawl::guard::attempt& /*current*/) {
    return pawl::guard::rejected{"the bank says \x1b[2J no"};
}

pawl::guard::outcome charge_card(const pawl::guard::attempt& /*current*/) {
    return std::string("charged");
}

class OnceRecords : public ::testing::Test {
protected:
    OnceRecords() {
        (void)sandbox.run({"status", "it"});  // makes the folder
        database = pawl::guard::open_database(url);
    }

    // Ends as `failed`.
    void reject(const std::string& key) const {
        EXPECT_EQ(pawl::guard::once(*database, {key, "", "shop"}, {}, refuse_card).state,
                  once_state::failed);
    }

    // Ends without a record of its end, and its lease is over at once.
    void abandon(const std::string& key) const {
        const auto fail = [](const pawl::guard::attempt&) -> pawl::guard::outcome {
            throw std::runtime_error("no network");
        };
        EXPECT_THROW((void)pawl::guard::once(*database, {key, "", "shop"}, {}, fail),
                     std::runtime_error);
    }

    const test_sandbox sandbox;
    const std::string url = "sqlite:" + sandbox.file(".local/state/pawl/locks.db");
    std::unique_ptr<pawl::guard::connection> database;
};

TEST_F(OnceRecords, ListsWhatNeedsSomebody) {
    pawl::guard::make_tables(*database);
    reject("charge/1");
    abandon("charge/2");
    abandon("charge/3");
    EXPECT_EQ(pawl::guard::once(*database, {"charge/4", "", "shop"}, {}, charge_card).state,
              once_state::done);
    const auto failed = sandbox.run({"once", "failed"});
    EXPECT_EQ(failed.code, 0) << failed.err;
    EXPECT_THAT(failed.out, HasSubstr("charge/1"));
    EXPECT_THAT(failed.out, HasSubstr("the bank says"));
    EXPECT_THAT(failed.out, Not(HasSubstr("\x1b[2J")));
    EXPECT_THAT(failed.out, Not(HasSubstr("charge/2")));
    const auto unfinished = sandbox.run({"once", "unfinished", "--json"});
    EXPECT_EQ(unfinished.code, 0) << unfinished.err;
    EXPECT_THAT(unfinished.out, HasSubstr(R"([{"scope":"shop","key":"charge/2",)"));
    EXPECT_THAT(unfinished.out, HasSubstr(R"("key":"charge/3")"));
    EXPECT_THAT(unfinished.out, Not(HasSubstr("charge/4")));
    const auto first = sandbox.run({"once", "unfinished", "--last", "1"});
    EXPECT_THAT(first.out, Not(HasSubstr("charge/3")));
    EXPECT_THAT(first.err, HasSubstr("There are more than 1"));
    EXPECT_EQ(sandbox.run({"once", "unfinished", "--older-than", "1h", "--json"}).out, "[]\n");
}

// Only records whose `keep` is over, in more than one batch, and never an unfinished one.
TEST_F(OnceRecords, PurgesWhatIsOver) {
    pawl::guard::make_tables(*database);
    reject("charge/1");
    abandon("charge/2");
    database->execute(
        {"INSERT INTO pawl_once (scope, once_key, state, token, claim, attempts, "
         "lease_until, keep_until, fingerprint) WITH RECURSIVE n(i) AS (SELECT 1 "
         "UNION ALL SELECT i + 1 FROM n WHERE i < 1500) "
         "SELECT x'', CAST('old/' || i AS BLOB), 2, 1, x'00', 1, 0, 0, x'00' FROM n"});
    EXPECT_EQ(sandbox.run({"once", "purge"}).out, "1500 records were removed.\n");
    EXPECT_EQ(sandbox.run({"once", "purge", "--json"}).out, "{\"removed\":0}\n");
    EXPECT_THAT(sandbox.run({"once", "failed"}).out, HasSubstr("charge/1"));
    EXPECT_THAT(sandbox.run({"once", "unfinished"}).out, HasSubstr("charge/2"));
}

TEST_F(OnceRecords, SaysWhatIsMissing) {
    const auto no_operation = sandbox.run({"once", "list"});
    EXPECT_EQ(no_operation.code, 64);
    EXPECT_THAT(no_operation.err, HasSubstr("write unfinished, failed or purge"));
    const auto no_table = sandbox.run({"once", "failed"});
    EXPECT_EQ(no_table.code, 77) << no_table.err;
    EXPECT_THAT(no_table.err, HasSubstr("pawl_once is missing"));
    const auto no_database = sandbox.run({"once", "failed", "--on", "redis://127.0.0.1:1"});
    EXPECT_EQ(no_database.code, 64);
    EXPECT_THAT(no_database.err, HasSubstr("name the database with --on"));
    EXPECT_EQ(sandbox.run({"once", "purge", "--older-than", "1h"}).code, 64);
    EXPECT_EQ(sandbox.run({"once", "unfinished", "--older-than", "soon"}).code, 64);
    EXPECT_EQ(sandbox.run({"once", "failed", "--last", "0"}).code, 64);
}

}  // namespace
