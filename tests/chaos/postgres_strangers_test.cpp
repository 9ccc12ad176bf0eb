// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Other roles of the database, which have no rights for the locks. They may listen and notify, and
// make functions in a schema of the search path, which fit better to the types of a call than those
// of the server.
#include "postgres_fixture.hpp"

#include <pawl/postgres.hpp>
#include <pawl/postgres_transaction.hpp>

#include <libpq-fe.h>

namespace {

using namespace chaos;
using pawl::postgres::advisory_keys;

class PostgresStrangers : public testing::Test, protected postgres_fixture {
protected:
    PostgresStrangers() { execute("CREATE ROLE plain LOGIN"); }
    // `signature` is of a function in the schema public, whose call fails.
    void set_trap(const std::string& signature, const std::string& result) const {
        execute("CREATE FUNCTION public." + signature + " RETURNS " + result +
                " LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'trapped'; END $$");
    }
};

//   B and C wait for A | a stranger listens at each channel that it can conclude from what the
//   server shows to everybody | A releases, B releases: the stranger has heard nothing. It could
//   otherwise tell a waiter that it has the lock
TEST_F(PostgresStrangers, HearNoMessages) {
    client holder = client_with(), second = client_with(), third = client_with();
    auto lock = holder.acquire("it", {.ttl = long_ttl, .wait = patience});
    const auto pair = [](client& locks) {
        (void)locks.acquire("it", {.ttl = long_ttl, .wait = patience}).release();
    };
    background_task second_waiter([&] { pair(second); }), third_waiter([&] { pair(third); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 2; }));
    sql_client stranger(url_for("plain"));
    const auto keys = stranger.execute(
        "SELECT lpad(to_hex(classid::bigint << 32 | objid::bigint), 16, '0') FROM pg_locks WHERE "
        "locktype = 'advisory'");
    EXPECT_EQ(keys.size(), 3);
    for (const auto& each : keys)
        stranger.execute("LISTEN \"pawl_" + each.at(0).value() + "\"");
    EXPECT_EQ(lock.release(), release_result::released);
    second_waiter.join();
    third_waiter.join();
    stranger.execute("SELECT 1");
    const auto* heard = PQnotifies(stranger.handle());
    EXPECT_EQ(heard, nullptr) << heard->extra;
}

TEST_F(PostgresStrangers, ChangeNoSession) {
    set_trap("substr(name, int)", "text");
    set_trap("has_database_privilege(name, text)", "boolean");
    client locks = client_with();
    expect_pairs(locks, "it", 3);
}

// A function that returns true would give the lock to everybody.
TEST_F(PostgresStrangers, ChangeNoAdvisoryLocks) {
    for (const auto* name : {"pg_advisory_lock", "pg_advisory_xact_lock"})
        set_trap(std::string(name) + "(int)", "void");
    for (const auto* name :
         {"pg_try_advisory_lock", "pg_try_advisory_xact_lock", "pg_advisory_unlock"})
        set_trap(std::string(name) + "(int)", "boolean");
    client holder = client_with("?mode=session&keys=number"),
           other = client_with("?mode=session&keys=number");
    auto lock = holder.acquire("42", {.ttl = long_ttl, .wait = patience});
    EXPECT_EQ(result_of_try(other, "42"), try_result::busy);
    sql_client program(server.url(database));
    program.execute("BEGIN");
    const auto lock_in_program = [&program](const std::string& name) {
        return pawl::postgres::lock_in_transaction(program.handle(), name,
                                                   {.wait = 0s, .keys = advisory_keys::number});
    };
    EXPECT_FALSE(lock_in_program("42"));
    EXPECT_TRUE(lock_in_program("43"));
    EXPECT_EQ(lock.release(), release_result::released);
}

// An administrator runs it, so it would be the way to all rights.
TEST_F(PostgresStrangers, ChangeNoSchema) {
    set_trap("format(text, text)", "text");
    set_trap("format(text, text, regclass)", "text");
    set_trap("format(text, regprocedure)", "text");
    set_trap("format(text, regprocedure, text)", "text");
    set_trap("same(oid, regnamespace)", "boolean");
    execute(
        "CREATE OPERATOR public.= (FUNCTION = public.same, LEFTARG = oid, RIGHTARG = "
        "regnamespace)");
    execute(pawl::postgres::schema_of({}, "plain"));
    client locks = client_at(url_for("plain"));
    expect_pairs(locks, "it", 3);
}

}  // namespace
