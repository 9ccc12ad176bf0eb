// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// When a session of PostgreSQL listens, and what a waiter finds by itself.
#include "postgres_fixture.hpp"

#include <optional>

namespace {

using namespace chaos;

class PostgresWaiting : public testing::Test, protected postgres_fixture {
protected:
    // A session that calls the functions itself. It sends no messages.
    class bare_session {
    public:
        bare_session(const std::string& url, std::string client)
            : client_(std::move(client)), session_(url) {
            session_.execute("SELECT pg_try_advisory_lock(('x' || '" + client_ +
                             "')::bit(64)::bigint)");
        }
        // The status.
        std::string acquire(int ttl_ms) {
            return session_.value("SELECT status FROM pawl.acquire_1('pawl', 'it', " + owner() +
                                  ", 'vm 1 bare', NULL, " + std::to_string(ttl_ms) +
                                  ", 0, 0, 0, 1)");
        }
        std::string release() {
            return session_.value("SELECT status FROM pawl.release_1('pawl', 'it', " + owner() +
                                  ", 0)");
        }

    private:
        [[nodiscard]] std::string owner() const {
            return "'owner " + client_ + "', '" + client_ + "'";
        }

        const std::string client_;
        sql_client session_;
    };

    // The sessions that have begun to listen.
    [[nodiscard]] int listening() const {
        const auto log = server.log();
        int count = 0;
        const std::string_view statement = "execute <unnamed>: listen \"pawl_";
        for (auto at = log.find(statement); at != std::string::npos;
             at = log.find(statement, at + 1))
            ++count;
        return count;
    }
    void log_statements() { execute("ALTER DATABASE " + database + " SET log_statement = 'all'"); }
};

// A NOTIFY wakes all sessions that listen.
TEST_F(PostgresWaiting, ASessionListensFromItsFirstWaitOn) {
    log_statements();
    client holder = client_with(), waiting = client_with();
    expect_pairs(waiting, "it", 20);
    expect_pairs(holder, "it", 1);
    EXPECT_EQ(listening(), 0);
    for (int i = 0; i < 2; ++i) {
        auto lock = holder.acquire("it", {.ttl = long_ttl, .wait = patience});
        held_lock acquired;
        background_task waiter(
            [&] { acquired = waiting.acquire("it", {.ttl = long_ttl, .wait = patience}); });
        ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
        EXPECT_EQ(lock.release(), release_result::released);
        waiter.join();
        EXPECT_GT(acquired.token(), lock.token());
        EXPECT_EQ(acquired.release(), release_result::released);
    }
    EXPECT_EQ(listening(), 1);
}

TEST_F(PostgresWaiting, AForcedReleaseReachesAHoldThatWasRenewed) {
    client locks = client_with(), operators = client_with();
    auto lock = locks.acquire("it", {.ttl = 6s, .wait = patience});
    ASSERT_TRUE(eventually([&] { return locks.statistics().renewals > 0; }));
    EXPECT_TRUE(operators.force_release("it"));
    EXPECT_TRUE(eventually([&] { return locks.statistics().pushes == 1; }));
    EXPECT_TRUE(eventually([&] { return lock.state() == lock_state::lost; }));
}

//   A holds (5 s), B waits | A's session releases, and ends before it sends the message | B looks
//   at the end of A's lease, and has the lock
TEST_F(PostgresWaiting, ALostMessageIsFoundAtTheEndOfTheLease) {
    client locks = client_with();
    warm(locks);
    std::optional<bare_session> holder(std::in_place, server.url(database), "00000000000000aa");
    ASSERT_EQ(holder->acquire(5000), "g");
    held_lock acquired;
    background_task waiter(
        [&] { acquired = locks.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    EXPECT_EQ(holder->release(), "r");
    holder.reset();
    waiter.join();
    EXPECT_EQ(locks.statistics().pushes, 0U);
    EXPECT_EQ(acquired.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

//   A holds (4 s), B, C and D wait | A, B and C stop together: nobody tells D | D looks some
//   seconds after the end of A's lease, passes over B and C, and has the lock
TEST_F(PostgresWaiting, TheThirdWaiterOutlivesAllBeforeIt) {
    client locks = client_with();
    warm(locks);
    std::vector<std::unique_ptr<bare_session>> stopped;
    for (const char* each : {"00000000000000aa", "00000000000000bb", "00000000000000cc"})
        stopped.push_back(std::make_unique<bare_session>(server.url(database), each));
    ASSERT_EQ(stopped[0]->acquire(4000), "g");
    ASSERT_EQ(stopped[1]->acquire(60000), "q");
    ASSERT_EQ(stopped[2]->acquire(60000), "q");
    held_lock acquired;
    background_task waiter(
        [&] { acquired = locks.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 3; }));
    stopped.clear();
    waiter.join();
    EXPECT_EQ(locks.statistics().pushes, 0U);
    EXPECT_EQ(acquired.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

}  // namespace
