// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Sessions of PostgreSQL that are set up in an unusual way.
#include "refusals.hpp"
#include "test_database.hpp"

#include <pawl/error.hpp>
#include <pawl/guard/async_postgres.hpp>
#include <pawl/guard/once.hpp>
#include <pawl/guard/postgres.hpp>
#include <pawl/guard/schema.hpp>

#include <boost/asio/io_context.hpp>

#include <libpq-fe.h>

namespace guard_tests {
namespace {

using namespace std::string_literals;

class PostgresSession : public testing::Test {
protected:
    PostgresSession() { guard::make_tables(opened->view()); }

    [[nodiscard]] static std::string refusal_of(guard::connection& view, pawl::errc reason) {
        const auto send = [](const guard::attempt&) -> guard::outcome { return "sent"s; };
        return guard_tests::refusal_of(
            reason, [&] { (void)guard::at_least_once(view, "mail/7", {}, send); });
    }

    const std::unique_ptr<test_database> database = make_postgres({});
    const std::unique_ptr<open_connection> opened = database->connect();
};

// Interleaving: the program has sent a statement of its transaction, and not read the answer. The
// claim would become a part of that transaction, and be rolled back with it after the effect.
TEST_F(PostgresSession, SeesATransactionBehindAPendingAnswer) {
    const std::unique_ptr<PGconn, decltype(&::PQfinish)> handle(
        ::PQconnectdb(database->address().c_str()), &::PQfinish);
    guard::postgres_connection view(handle.get());
    view.execute({"BEGIN"});
    ASSERT_EQ(::PQsendQuery(handle.get(), "SELECT 1"), 1);
    EXPECT_TRUE(view.in_transaction());
    EXPECT_NE(refusal_of(view, pawl::errc::unsupported).find("open transaction"),
              std::string::npos);
    view.execute({"ROLLBACK"});
    EXPECT_EQ(opened->number("SELECT count(*) FROM pawl_once"), 0);
}

TEST(AsyncPostgresSession, RefusesAClosedConnection) {
    const std::unique_ptr<PGconn, decltype(&::PQfinish)> closed(
        ::PQconnectdb("host=/nowhere connect_timeout=1"), &::PQfinish);
    asio::io_context loop;
    EXPECT_THROW(guard::async_postgres_connection(loop.get_executor(), closed.get()),
                 guard::database_error);
}

// After a crash of the server, such a table is empty, and the effects are not.
TEST_F(PostgresSession, RefusesAnUnloggedTable) {
    opened->run("ALTER TABLE pawl_once SET UNLOGGED");
    EXPECT_NE(refusal_of(opened->view(), pawl::errc::refused).find("unlogged"), std::string::npos);
    opened->run("ALTER TABLE pawl_once SET LOGGED");
    guard::check_tables(opened->view());
}

// A table of this session hides the true one, and other callers do not see its records.
TEST_F(PostgresSession, RefusesATemporaryTable) {
    opened->run("CREATE TEMPORARY TABLE pawl_once (LIKE pawl_once INCLUDING ALL)");
    EXPECT_NE(refusal_of(opened->view(), pawl::errc::refused).find("temporary"), std::string::npos);
}

}  // namespace
}  // namespace guard_tests
