// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A connection to PostgreSQL is cut before, within and after a request or its reply. No lock is
// left behind, and none is taken from its next holder.
#include "postgres_fixture.hpp"

namespace {

using namespace chaos;

class PostgresLostReplies : public testing::TestWithParam<sql_fault_kind>,
                            protected postgres_fixture {
protected:
    // The next request of this function meets the fault.
    void strike(const std::string& function) {
        proxy.inject({.text = function, .kind = GetParam(), .delay = 400ms});
    }
    [[nodiscard]] bool has_struck() {
        return eventually([&] { return proxy.strike_count() == 1; });
    }
};

//   A: acquire -> fault -> repeated or undone -> granted, in one attempt's hold: after the release
//   nothing is left
TEST_P(PostgresLostReplies, OfAnAcquireLeaveNothingBehind) {
    client locks = proxied_client();
    warm(locks);
    strike("acquire_1");
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    EXPECT_TRUE(has_struck());
    EXPECT_EQ(lock.state(), lock_state::held);
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

//   A: try -> fault -> the call fails, or is granted after a delay | B acquires, long before the
//   lease of A's attempt is over
TEST_P(PostgresLostReplies, OfATryAreUndone) {
    client locks = client_at(proxy.url(database), 1s), other = client_with();
    warm(locks);
    strike("acquire_1");
    (void)failure_of([&] { (void)locks.try_acquire("it", {.ttl = long_ttl}); });
    EXPECT_TRUE(has_struck());
    auto next = other.acquire("it", {.ttl = long_ttl, .wait = patience});
    EXPECT_EQ(next.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

//   A: release -> fault | B acquires | A's repeated release does not end B's hold
TEST_P(PostgresLostReplies, OfAReleaseDoNotHurtTheNextHolder) {
    client locks = proxied_client(), other = client_with();
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    strike("release_1");
    const auto result = lock.release();
    EXPECT_TRUE(result == release_result::released || result == release_result::unknown);
    EXPECT_TRUE(has_struck());
    auto next = other.acquire("it", {.ttl = 2s, .wait = patience});
    EXPECT_GT(next.token(), lock.token());
    next.renew();
    const auto renewed = next.safe_until();
    ASSERT_TRUE(eventually([&] { return next.safe_until() > renewed; }));
    EXPECT_TRUE(is_held("it"));
    EXPECT_EQ(next.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

//   A: renewal -> fault -> repeated within the lease: the hold continues
TEST_P(PostgresLostReplies, OfARenewalCostNothing) {
    client locks = proxied_client();
    auto lock = locks.acquire("it", {.ttl = 8s, .wait = patience});
    strike("renew_1");
    ASSERT_TRUE(has_struck());
    const auto before = lock.safe_until();
    ASSERT_TRUE(eventually([&] { return lock.safe_until() > before; }));
    EXPECT_EQ(lock.state(), lock_state::held);
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

//   A holds, B waits | A: release -> fault | B has the lock, once, long before A's lease ends
TEST_P(PostgresLostReplies, OfAHandOffDoNotStopTheWaiter) {
    client locks = proxied_client(), other = client_with();
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    held_lock acquired;
    background_task waiting(
        [&] { acquired = other.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    strike("release_1");
    (void)lock.release();
    waiting.join();
    EXPECT_GT(acquired.token(), lock.token());
    EXPECT_EQ(acquired.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

//   A holds | B's request for a place -> fault | A releases | B has the lock
TEST_P(PostgresLostReplies, OfAWaiterDoNotStopIt) {
    client holder = client_with(), locks = proxied_client();
    warm(locks);
    auto lock = holder.acquire("it", {.ttl = long_ttl, .wait = patience});
    strike("acquire_1");
    held_lock acquired;
    background_task waiting(
        [&] { acquired = locks.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(has_struck());
    ASSERT_TRUE(eventually([&] { return waiters("it") > 0; }));
    EXPECT_EQ(lock.release(), release_result::released);
    waiting.join();
    EXPECT_GT(acquired.token(), lock.token());
    EXPECT_EQ(acquired.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

//   A holds, B's session begins to listen -> fault | A releases | B has the lock
TEST_P(PostgresLostReplies, OfAListenDoNotStopTheWaiter) {
    client holder = client_with(), locks = proxied_client();
    auto lock = holder.acquire("it", {.ttl = long_ttl, .wait = patience});
    strike("listen");
    held_lock acquired;
    background_task waiting(
        [&] { acquired = locks.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(has_struck());
    ASSERT_TRUE(eventually([&] { return waiters("it") > 0; }));
    EXPECT_EQ(lock.release(), release_result::released);
    waiting.join();
    EXPECT_GT(acquired.token(), lock.token());
    EXPECT_EQ(acquired.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

std::string name_of_sql_fault(const testing::TestParamInfo<sql_fault_kind>& info) {
    switch (info.param) {
    case sql_fault_kind::lose_request: return "LostRequest";
    case sql_fault_kind::lose_sync: return "LostSync";
    case sql_fault_kind::lose_reply: return "LostReply";
    case sql_fault_kind::cut_reply: return "CutReply";
    case sql_fault_kind::delay_reply: return "DelayedReply";
    case sql_fault_kind::swallow: break;
    }
    return "Swallowed";
}

INSTANTIATE_TEST_SUITE_P(By, PostgresLostReplies,
                         testing::Values(sql_fault_kind::lose_request, sql_fault_kind::lose_reply,
                                         sql_fault_kind::cut_reply, sql_fault_kind::delay_reply,
                                         sql_fault_kind::swallow),
                         name_of_sql_fault);

class PostgresSilentWay : public testing::Test, protected postgres_fixture {};

// The request arrives, but not the end of its transaction: the server keeps the row locked while
// the connection lives, and none of its time limits ends that.
//   A: acquire without its Sync | B's try fails, but ends | the connection ends | B has the lock
TEST_F(PostgresSilentWay, ALostSyncEndsWithItsConnection) {
    client locks = client_at(proxy.url(database), 1s), other = client_at(server.url(database), 3s);
    expect_pairs(locks, "it", 1);
    warm(other);
    proxy.inject({.text = "acquire_1", .kind = sql_fault_kind::lose_sync});
    (void)failure_of([&] { (void)locks.try_acquire("it", {.ttl = long_ttl}); });
    EXPECT_EQ(result_of_try(other, "it"), try_result::failed);
    proxy.kill_connections();
    auto next = other.acquire("it", {.ttl = long_ttl, .wait = patience});
    EXPECT_EQ(next.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

//   the proxy passes nothing for 8 s, which a session without any answer does not outlive | a
//   holder with a lease of 20 s keeps its lock, and a waiter is served
TEST_F(PostgresSilentWay, ASilentNetworkIsLeftForAnotherConnection) {
    client locks = proxied_client(), waiting = proxied_client();
    auto lock = locks.acquire("it", {.ttl = 20s, .wait = patience});
    held_lock acquired;
    background_task waiter(
        [&] { acquired = waiting.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    const auto before = lock.safe_until();
    proxy.freeze(true);
    std::this_thread::sleep_for(8s);  // the silence is the fault
    proxy.freeze(false);
    ASSERT_TRUE(eventually([&] { return lock.safe_until() > before; }));
    EXPECT_EQ(lock.state(), lock_state::held);
    EXPECT_EQ(lock.release(), release_result::released);
    waiter.join();
    EXPECT_EQ(acquired.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

}  // namespace
