// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// mode=session and mode=row on MariaDB: locks that end with a connection, whose end the holder
// learns at once.
#include "database_cases.hpp"
#include "mariadb_fixture.hpp"

namespace {

using namespace chaos;

class mariadb_lock_sessions : public mariadb_fixture {
public:
    explicit mariadb_lock_sessions(std::string mode) : mode_(std::move(mode)) {}
    [[nodiscard]] client new_client() override {
        return client_at(server.url(mode_ == "row" ? "pawl" : "", "?mode=" + mode_));
    }
    // That of the holder.
    std::int64_t end_sessions() override {
        const auto owner = new_client().inspect("it").held_by->owner;  // "connection 12"
        (void)server.execute("KILL " + owner.substr(owner.find(' ')));
        return 1;
    }
    // Statements of clients that wait for a lock.
    [[nodiscard]] std::int64_t waiters(const std::string&) const override {
        return server.number(
            "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE '%FOR UPDATE' OR "
            "INFO LIKE 'SELECT GET_LOCK(%'");
    }
    [[nodiscard]] bool becomes_clean() const override {
        return eventually([this] { return waiters("it") == 0; });
    }

private:
    const std::string mode_;
};

class MariaDbSessionCases : public testing::TestWithParam<std::tuple<std::string, database_case<>>>,
                            protected mariadb_lock_sessions {
protected:
    MariaDbSessionCases() : mariadb_lock_sessions(std::get<0>(GetParam())) {}
};
TEST_P(MariaDbSessionCases, Case) { std::get<1>(GetParam()).run(*this); }
INSTANTIATE_TEST_SUITE_P(On, MariaDbSessionCases,
                         testing::Combine(testing::Values("session", "row"),
                                          testing::ValuesIn(session_cases)),
                         [](const auto& tested) {
                             return "Mode" + std::get<0>(tested.param) + "_" +
                                    std::get<1>(tested.param).name;
                         });

class MariaDbSessions : public testing::TestWithParam<std::string>,
                        protected mariadb_lock_sessions {
protected:
    MariaDbSessions() : mariadb_lock_sessions(GetParam()) {}
};

//   A holds (2 s) | the server only reads, as before another one takes over, which does not know
//   A's lock: A is told of the loss
TEST_P(MariaDbSessions, AServerThatOnlyReadsKeepsNoLock) {
    client locks = new_client();
    auto lock = locks.acquire("it", {.ttl = 2s, .wait = patience});
    const loss_recorder loss(lock);
    background_task administrator([&] { (void)server.execute("SET GLOBAL read_only = 1"); });
    EXPECT_TRUE(loss.is_told_within(20s));
    administrator.join();
    (void)server.execute("SET GLOBAL read_only = 0");
}

//   A holds, B waits | B gives up | A releases: the lock is free, and no statement waits
TEST_P(MariaDbSessions, ACancelledWaitLeavesNothing) {
    client holder = new_client(), waiting = new_client();
    for (int round = 0; round < 3; ++round) {
        auto lock = holder.acquire("it", {.ttl = long_ttl, .wait = patience});
        std::stop_source stop;
        background_task waiter([&] {
            const auto failed = failure_of([&] {
                (void)waiting.acquire("it", {.ttl = long_ttl, .wait = patience}, stop.get_token());
            });
            EXPECT_TRUE(failed && failed->reason == errc::cancelled) << failed;
        });
        ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
        stop.request_stop();
        waiter.join();
        EXPECT_EQ(lock.release(), release_result::released);
        EXPECT_TRUE(eventually([&] { return !waiting.inspect("it").held_by; }));
        EXPECT_TRUE(eventually([&] { return waiters("it") == 0; }, 20s));
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
