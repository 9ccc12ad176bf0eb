// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A role of PostgreSQL with the rights of docs/guide/once.md, and with one of them less.
#include "test_database.hpp"

#include <pawl/guard/once.hpp>
#include <pawl/guard/records.hpp>
#include <pawl/guard/schema.hpp>

namespace guard_tests {
namespace {

using namespace std::string_literals;

std::string refusal_of_tables(open_connection& db) {
    try {
        guard::check_tables(db.view());
    } catch (const guard::database_error& problem) {
        return problem.what();
    }
    return {};
}

TEST(PostgresRights, AreEnoughForOnce) {
    const auto database = make_postgres({});
    const auto db = database->connect();
    guard::make_tables(db->view());
    db->run("CREATE ROLE guard_rights_test");
    db->run("GRANT SELECT, INSERT, UPDATE, DELETE ON pawl_once TO guard_rights_test");
    db->run("SET ROLE guard_rights_test");
    EXPECT_NE(refusal_of_tables(*db).find("grant this user SELECT on pawl_schema"),
              std::string::npos);
    db->run("RESET ROLE");
    db->run("GRANT SELECT ON pawl_schema TO guard_rights_test");
    db->run(
        "GRANT SELECT, INSERT, UPDATE, DELETE ON pawl_fence, pawl_reconcile TO guard_rights_test");
    db->run("SET ROLE guard_rights_test");
    EXPECT_NO_THROW(guard::make_tables(db->view())) << "nothing is to be made";
    db->run("RESET ROLE");
    const auto work = [](const guard::attempt&) { return guard::outcome("made"s); };
    const auto use = [&](const std::string& key) {
        db->run("SET ROLE guard_rights_test");
        EXPECT_EQ(guard::once(db->view(), key, {}, work).state, guard::once_state::done);
        EXPECT_EQ(guard::once(db->view(), key, {}, work).state, guard::once_state::replayed);
        EXPECT_TRUE(guard::unfinished(db->view()).empty());
        EXPECT_EQ(guard::purge(db->view()), 0U);
    };
    EXPECT_NO_THROW(use("first"));
    db->run("RESET ROLE");
    db->run("REVOKE DELETE ON pawl_once FROM guard_rights_test");
    EXPECT_THROW(use("second"), guard::database_error) << "DELETE is not needed";
    db->run("RESET ROLE");
    db->run("DROP OWNED BY guard_rights_test");
    db->run("DROP ROLE guard_rights_test");
}

}  // namespace
}  // namespace guard_tests
