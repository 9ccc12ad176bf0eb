// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// mode=session and mode=row on MariaDB: locks that end with a connection, whose end the holder
// learns at once.
#include "mariadb_fixture.hpp"

namespace {

using namespace chaos;

class MariaDbSessions : public testing::TestWithParam<std::string>, protected mariadb_fixture {
protected:
    [[nodiscard]] client locking_client() {
        return client_at(server.url(GetParam() == "row" ? "pawl" : "", "?mode=" + GetParam()));
    }
    // Those of clients that wait for a lock.
    [[nodiscard]] std::int64_t waiting_statements() const {
        return server.number(
            "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE '%FOR UPDATE' OR "
            "INFO LIKE 'SELECT GET_LOCK(%'");
    }
};

//   A holds (60 s) | the administrator ends A's connection | A learns it at once; B has the lock
TEST_P(MariaDbSessions, AnEndedConnectionIsToldAtOnce) {
    client holder = locking_client(), other = locking_client();
    auto lock = holder.acquire("it", {.ttl = long_ttl, .wait = patience});
    const loss_recorder loss(lock);
    const auto owner = other.inspect("it").held_by->owner;  // "connection 12"
    (void)server.execute("KILL " + owner.substr(owner.find(' ')));
    EXPECT_TRUE(loss.is_told_within(10s));
    EXPECT_NE(lock.release(), release_result::released);
    EXPECT_TRUE(other.acquire("it", {.ttl = long_ttl, .wait = patience}).owns_lock());
}

//   A holds (60 s), B waits | SIGKILL of the server | it starts again: A has learned of the loss,
//   and B gets the lock although A has not released it
TEST_P(MariaDbSessions, ACrashOfTheServerIsToldAtOnce) {
    client holder = locking_client(), waiting = locking_client();
    auto lock = holder.acquire("it", {.ttl = long_ttl, .wait = patience});
    const loss_recorder loss(lock);
    held_lock acquired;
    background_task waiter(
        [&] { acquired = waiting.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return waiting_statements() == 1; }));
    server.kill9();
    EXPECT_TRUE(loss.is_told_within(10s));
    server.start();
    waiter.join();
    EXPECT_TRUE(acquired.owns_lock());
    EXPECT_TRUE(!lock.token() || acquired.token() > lock.token());
    EXPECT_EQ(acquired.release(), release_result::released);
}

//   A holds (2 s) | the server is frozen: A learns of the loss in time | it goes on: the connection
//   of A has been idle for 2 s, so the server ends it
TEST_P(MariaDbSessions, AFrozenServerCostsTheLockInTime) {
    client holder = locking_client(), other = locking_client();
    auto lock = holder.acquire("it", {.ttl = 2s, .wait = patience});
    const loss_recorder loss(lock);
    server.freeze();
    EXPECT_TRUE(loss.is_told_within(20s));
    server.thaw();
    EXPECT_TRUE(other.acquire("it", {.ttl = 2s, .wait = patience}).owns_lock());
}

//   A holds (2 s) | the server only reads, as before another one takes over, which does not know
//   A's lock: A is told of the loss
TEST_P(MariaDbSessions, AServerThatOnlyReadsKeepsNoLock) {
    client locks = locking_client();
    auto lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
    const loss_recorder loss(lock);
    background_task administrator([&] { (void)server.execute("SET GLOBAL read_only = 1"); });
    EXPECT_TRUE(loss.is_told_within(20s));
    administrator.join();
    (void)server.execute("SET GLOBAL read_only = 0");
}

//   A holds, B waits | B gives up | A releases: the lock is free, and no statement waits
TEST_P(MariaDbSessions, ACancelledWaitLeavesNothing) {
    client holder = locking_client(), waiting = locking_client();
    for (int round = 0; round < 3; ++round) {
        auto lock = holder.acquire("it", {.ttl = long_ttl, .wait = patience});
        std::stop_source stop;
        background_task waiter([&] {
            const auto failed = failure_of([&] {
                (void)waiting.acquire("it", {.ttl = long_ttl, .wait = patience}, stop.get_token());
            });
            EXPECT_TRUE(failed && failed->reason == errc::cancelled) << failed;
        });
        ASSERT_TRUE(eventually([&] { return waiting_statements() == 1; }));
        stop.request_stop();
        waiter.join();
        EXPECT_EQ(lock.release(), release_result::released);
        EXPECT_TRUE(eventually([&] { return !waiting.inspect("it").held_by; }));
        EXPECT_TRUE(eventually([&] { return waiting_statements() == 0; }, 20s));
    }
}

INSTANTIATE_TEST_SUITE_P(In, MariaDbSessions, testing::Values("session", "row"),
                         [](const auto& mode) { return "Mode" + mode.param; });

class MariaDbSharedLocks : public testing::Test, protected mariadb_fixture {};

// The statements of the DistributedLock library (.NET), as other programs run them.
TEST_F(MariaDbSharedLocks, OtherLibrariesShareUserLocks) {
    client locks = client_at(server.url("", "?mode=session"));
    const std::pair<std::string, std::string> names[] = {
        {"orders", "orders"}, {"Orders", "orders7col6v7a2vpxbxbpw2bcg5rzsgfwgenc"}};
    for (const auto& [name, user_lock] : names) {
        support::mariadb_client stranger(server.port());
        EXPECT_EQ(stranger.number("SELECT GET_LOCK('" + user_lock + "', 0)"), 1);
        EXPECT_TRUE(is_taken(locks, name));
        EXPECT_TRUE(locks.inspect(name).held_by.has_value());
        EXPECT_EQ(stranger.number("SELECT RELEASE_LOCK('" + user_lock + "')"), 1);
        auto lock = locks.acquire(name, {.ttl = long_ttl, .wait = patience});
        EXPECT_EQ(stranger.number("SELECT GET_LOCK('" + user_lock + "', 0)"), 0);
        EXPECT_EQ(lock.release(), release_result::released);
        EXPECT_EQ(stranger.number("SELECT GET_LOCK('" + user_lock + "', 0)"), 1);
    }
}

// The tokens of the table and of the server's clock.
TEST_F(MariaDbSharedLocks, TokensOfRowsRiseAlsoAfterHoldersThatDied) {
    client locks = client_at(server.url("pawl", "?mode=row"));
    pawl::fencing_token newest;
    for (int i = 0; i < 6; ++i) {
        auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
        EXPECT_GT(lock.token(), newest);
        newest = lock.token();
        if (i % 2 == 0) {
            EXPECT_EQ(lock.release(), release_result::released);
            continue;
        }
        const auto owner = locks.inspect("it").held_by->owner;  // "connection 12"
        (void)server.execute("KILL " + owner.substr(owner.find(' ')));
    }
}

TEST_F(MariaDbSharedLocks, RefusesWhatItCannotDo) {
    const auto reason = [&](const std::string& database, const std::string& options,
                            const std::string& name = "it") {
        const auto failed = failure_of([&] {
            (void)client_at(server.url(database, options))
                .acquire(name, {.ttl = 2s, .wait = patience});
        });
        return failed ? failed->reason : errc{};
    };
    EXPECT_EQ(reason("shop", "?mode=session"), errc::bad_option);
    EXPECT_EQ(reason("", "?mode=session&push=no"), errc::bad_option);
    EXPECT_EQ(reason("pawl", "?one_node=yes"), errc::bad_option);
    EXPECT_EQ(reason("pawl", "?mode=rows"), errc::bad_url);
    EXPECT_EQ(reason("", "?mode=session", "Ä"), errc::bad_name);
    EXPECT_EQ(reason("", "?mode=session", "\xF0\x9F\x94\x92"), errc::bad_name);
    EXPECT_EQ(reason("none", "?mode=row&make_schema=no"), errc::refused);
}

}  // namespace
