// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// mode=session on PostgreSQL: advisory locks that other programs share, and whose end by the server
// the holder learns at once.
#include "database_cases.hpp"
#include "postgres_fixture.hpp"

#include <support/pgbouncer.hpp>

namespace {

using namespace chaos;

constexpr std::string_view advisory_count =
    "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'";

class postgres_lock_sessions : public postgres_fixture {
public:
    [[nodiscard]] client session_client(const std::string& more = {}) {
        return client_with("?mode=session" + more);
    }
    [[nodiscard]] client new_client() override { return session_client(); }
    [[nodiscard]] std::int64_t waiters(const std::string&) const override {
        return advisory_locks(false);
    }
    [[nodiscard]] bool becomes_clean() const override { return nothing_is_left(); }
    [[nodiscard]] std::int64_t advisory_locks(bool are_granted) const {
        return number(std::string(advisory_count) +
                      (are_granted ? " AND granted" : " AND NOT granted"));
    }
    [[nodiscard]] bool nothing_is_left() const {
        return eventually([this] { return number(std::string(advisory_count)) == 0; });
    }
};

class PostgresSessionCases : public testing::TestWithParam<database_case<>>,
                             protected postgres_lock_sessions {};
TEST_P(PostgresSessionCases, Case) { GetParam().run(*this); }
INSTANTIATE_TEST_SUITE_P(On, PostgresSessionCases, testing::ValuesIn(session_cases), case_name<>);

class PostgresSession : public testing::Test, protected postgres_lock_sessions {};

//   A holds (12 s) | the server is frozen for 5 s: neither side ends the session | it goes on: A
//   still has the lock, and B does not get it
TEST_F(PostgresSession, ASilenceWithinTheTtlCostsNothing) {
    client holder = session_client(), other = session_client();
    auto lock = holder.acquire("it", {.ttl = 12s, .wait = patience});
    server.freeze();
    std::this_thread::sleep_for(5s);  // longer than a session with leases may be silent
    server.thaw();
    lock.renew();
    EXPECT_EQ(result_of_try(other, "it"), try_result::busy);
    EXPECT_EQ(lock.release(), release_result::released);
}

//   A holds, B waits | B gives up | A releases: nobody has the lock, and nobody waits
TEST_F(PostgresSession, ACancelledWaitLeavesNothing) {
    client holder = session_client(), waiting = session_client();
    for (int round = 0; round < 5; ++round) {
        auto lock = holder.acquire("it", {.ttl = long_ttl, .wait = patience});
        std::stop_source stop;
        background_task waiter([&] {
            const auto failed = failure_of([&] {
                (void)waiting.acquire("it", {.ttl = long_ttl, .wait = patience}, stop.get_token());
            });
            EXPECT_TRUE(failed && failed->reason == errc::cancelled) << failed;
        });
        ASSERT_TRUE(eventually([&] { return advisory_locks(false) == 1; }));
        stop.request_stop();
        waiter.join();
        EXPECT_TRUE(eventually([&] { return advisory_locks(false) == 0; }));
        EXPECT_EQ(lock.release(), release_result::released);
        EXPECT_TRUE(nothing_is_left());
    }
}

// The statements of the DistributedLock library (.NET) and of with_advisory_lock (Ruby), as other
// programs run them.
TEST_F(PostgresSession, OtherLibrariesShareTheLocks) {
    client locks = session_client(), ruby = session_client("&keys=crc32"),
           numbers = session_client("&keys=number");
    const auto expect_shared = [&](client& ours, const std::string& name,
                                   const std::string& arguments) {
        support::sql_client stranger(server.url(database));
        EXPECT_EQ(stranger.value("SELECT pg_try_advisory_lock(" + arguments + ")"), "t");
        EXPECT_EQ(result_of_try(ours, name), try_result::busy) << name;
        const auto info = ours.inspect(name);
        EXPECT_TRUE(info.held_by.has_value()) << name;
        held_lock acquired;
        background_task waiter(
            [&] { acquired = ours.acquire(name, {.ttl = long_ttl, .wait = patience}); });
        EXPECT_TRUE(eventually([&] { return advisory_locks(false) == 1; }));
        EXPECT_EQ(stranger.value("SELECT pg_advisory_unlock(" + arguments + ")"), "t");
        waiter.join();
        EXPECT_EQ(stranger.value("SELECT pg_try_advisory_lock(" + arguments + ")"), "f");
        EXPECT_EQ(acquired.release(), release_result::released);
    };
    expect_shared(locks, "orders", "-2320718996252393473");
    expect_shared(locks, "abcdefghi", "-4356354899668899630");
    expect_shared(locks, "orders:nightly", "6410210662430186768");
    expect_shared(locks, "00000001,00000002", "1, 2");
    expect_shared(ruby, "orders", "1697644014, 0");
    expect_shared(numbers, "42", "42");
    expect_shared(numbers, "-7,8", "-7, 8");
    EXPECT_TRUE(nothing_is_left());
}

TEST_F(PostgresSession, ReadersOfOtherLibrariesShareTheLock) {
    client locks = session_client();
    support::sql_client stranger(server.url(database));
    EXPECT_EQ(stranger.value("SELECT pg_try_advisory_lock_shared(-2320718996252393473)"), "t");
    auto reader = locks.acquire("orders", shared);
    EXPECT_EQ(result_of_try(locks, "orders"), try_result::busy);
    EXPECT_EQ(locks.inspect("orders").others.size(), 1U);
    EXPECT_EQ(reader.release(), release_result::released);
}

TEST_F(PostgresSession, ListsTheHeldKeys) {
    client locks = session_client();
    auto short_name = locks.acquire("orders", {.ttl = long_ttl, .wait = patience});
    auto hashed = locks.acquire("orders:nightly", {.ttl = long_ttl, .wait = patience});
    const auto all = locks.list();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_TRUE(all[0].name == "orders" || all[1].name == "orders");
    const auto& other = all[0].name == "orders" ? all[1] : all[0];
    EXPECT_EQ(other.name, "58f5a4a27d929d10");
    EXPECT_TRUE(locks.inspect(other.name).held_by.has_value()) << "the key is a name, too";
    EXPECT_EQ(locks.list("ord").size(), 1U);
}

TEST_F(PostgresSession, RefusesWhatItCannotDo) {
    client locks = session_client(), numbers = session_client("&keys=number");
    const auto reason = [&](const std::function<void()>& call) {
        const auto failed = failure_of(call);
        return failed ? failed->reason : errc{};
    };
    EXPECT_EQ(reason([&] { (void)locks.acquire("it", two_of_three); }), errc::unsupported);
    EXPECT_EQ(reason([&] { (void)numbers.try_acquire("orders"); }), errc::bad_name);
    EXPECT_EQ(reason([&] { (void)client_with("?mode=session&schema=x"); }), errc::bad_option);
    EXPECT_EQ(reason([&] { (void)client_with("?keys=number"); }), errc::bad_option);
    EXPECT_EQ(reason([&] { (void)client_with("?mode=transaction"); }), errc::bad_url);
}

// A lock would stay with the pooler's connection, and its next user would have it.
TEST_F(PostgresSession, IsRefusedBehindAPooler) {
    for (const std::string mode : {"session", "transaction"}) {
        support::pgbouncer pooler(server, mode);
        client locks = client_at(pooler.url(database) + "?mode=session");
        const auto failed =
            failure_of([&] { (void)locks.acquire("it", {.ttl = 2s, .wait = patience}); });
        ASSERT_TRUE(failed.has_value());
        EXPECT_EQ(failed->reason, errc::unsupported);
        EXPECT_NE(failed->sentence.find("proxy"), std::string::npos) << failed;
        EXPECT_TRUE(nothing_is_left());
    }
}

}  // namespace
