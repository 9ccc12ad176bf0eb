// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Values chosen by the caller: an undo knows the hold only by its value.
#include "redis_fixture.hpp"

#include <redis_scripts.hpp>

namespace {

using namespace chaos;
namespace scripts = pawl::redis::scripts;

class Values : public testing::Test, protected redis_fixture {
protected:
    Values() {
        // With a loaded script and an open connection.
        for (int i = 0; i < 2; ++i)
            (void)locks.acquire("warm", {.ttl = long_ttl, .wait = patience}).release();
    }
    std::optional<failure> failure_of_try(const std::string& value) {
        return failure_of([&] { (void)locks.try_acquire_as("it", value, {.ttl = long_ttl}); });
    }
    std::string stored_value() { return server.execute({"GET", "it"}).text; }

    client locks = proxied_client("?key={name}");
};

TEST_F(Values, AreTheWholeOfTheKey) {
    auto lock = locks.acquire_as("it", "ticket;1", {.ttl = long_ttl, .wait = patience});
    EXPECT_EQ(stored_value(), "ticket;1");
    EXPECT_EQ(lock.release(), release_result::released);
    EXPECT_TRUE(becomes_clean());
}

// A program that is given the value can extend and delete by plain commands; Pawl's renewals
// continue.
TEST_F(Values, AreExtendedByWhoeverKnowsThem) {
    auto lock = locks.acquire_as("it", "ticket", {.ttl = 3s, .wait = patience});
    (void)server.execute({"PEXPIRE", "it", "60000"});
    EXPECT_EQ(lock.state(), lock_state::held);
    (void)server.execute({"DEL", "it"});
    EXPECT_EQ(lock.release(), release_result::expired);
    ASSERT_EQ(server.execute({"SET", "it", "theirs", "PX", "1000"}).text, "OK");
    auto own_lock = locks.adopt("it", "theirs", {.ttl = long_ttl});
    EXPECT_GT(server.execute({"PTTL", "it"}).number(), 50'000);
    EXPECT_GT(own_lock.token(), lock.token());
    EXPECT_EQ(own_lock.release(), release_result::released);
}

// 1. A downgrades its hold, which ends unnoticed. 2. B acquires under a value that begins alike,
// and downgrades. 3. A releases: B's hold stays.
TEST_F(Values, ThatBeginAlikeAreDifferentHolds) {
    client other = direct_client("?key={name}");
    auto first = locks.acquire_as("it", "backup-7", {.ttl = long_ttl, .wait = patience});
    first.downgrade();
    (void)server.execute({"FLUSHALL"});
    auto second = other.acquire_as("it", "backup-8", {.ttl = long_ttl, .wait = patience});
    second.downgrade();
    EXPECT_NE(first.release(), release_result::released);
    second.renew();
    EXPECT_EQ(second.release(), release_result::released);
}

// A lock of a library that set no expiry: it has an expiry from then on.
TEST_F(Values, AdoptedGetAnEnd) {
    ASSERT_EQ(server.execute({"SET", "it", "theirs"}).text, "OK");
    auto own_lock = locks.adopt("it", "theirs", {.ttl = long_ttl});
    ASSERT_TRUE(own_lock);
    EXPECT_GT(server.execute({"PTTL", "it"}).number(), 0);
}

// acquire -> executed -> reply lost: a possible hold is released.
TEST_F(Values, OfATryWhoseAnswerIsLostAreUndone) {
    for (const fault_kind kind :
         {fault_kind::lose_reply, fault_kind::cut_reply, fault_kind::lose_request}) {
        proxy.inject({.matches = script(scripts::acquire), .kind = kind});
        const auto failed = failure_of_try("ticket " + std::to_string(static_cast<int>(kind)));
        ASSERT_TRUE(failed.has_value());
        EXPECT_EQ(failed->reason, errc::unreachable) << failed;
        EXPECT_TRUE(becomes_clean());
    }
}

// Pawl's request was never executed, and another's value begins with Pawl's: that value stays.
TEST_F(Values, AreComparedWholeWhenUndone) {
    for (const std::string theirs : {"ticket;1", "ticket 1", "ticke", "TICKET"}) {
        proxy.inject({.matches = script(scripts::acquire), .kind = fault_kind::lose_request});
        ASSERT_EQ(server.execute({"SET", "it", theirs, "PX", "60000"}).text, "OK");
        const auto before = proxy.count(script(scripts::release));
        ASSERT_TRUE(failure_of_try("ticket").has_value());
        ASSERT_TRUE(eventually([&] { return proxy.count(script(scripts::release)) > before; }));
        // Repeated on this connection, after the undo.
        ASSERT_TRUE(eventually([&] {
            const auto failed = failure_of_try("ticket");
            return !failed.has_value();
        }));
        EXPECT_EQ(stored_value(), theirs);
        (void)server.execute({"DEL", "it"});
    }
}

// While an earlier try under the value is being undone, the undo would end a new hold under it.
TEST_F(Values, AreRefusedWhileTheyAreUndone) {
    proxy.inject({.matches = script(scripts::acquire), .kind = fault_kind::lose_reply});
    proxy.inject({.matches = script(scripts::release), .kind = fault_kind::swallow});
    ASSERT_TRUE(failure_of_try("ticket").has_value());
    const auto failed = failure_of_try("ticket");
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::unavailable) << failed;
    EXPECT_NE(failed->sentence.find("another value"), std::string::npos) << failed;
    proxy.forget_commands();
}

//   A waits: requests under its value | the request, or its reply, is lost | A's undo of it comes,
//   up to three times | A requests again under the same value, and holds: no undo comes after that
TEST_F(Values, OfAWaitAreAskedForAgainWhenTheyAreUndone) {
    for (const fault_kind kind :
         {fault_kind::lose_reply, fault_kind::cut_reply, fault_kind::lose_request}) {
        proxy.inject({.matches = script(scripts::acquire), .kind = kind});
        auto lock = locks.acquire_as("it", "ticket", {.ttl = long_ttl, .wait = patience});
        const auto undone = proxy.count(script(scripts::release));
        EXPECT_GE(undone, 1);
        EXPECT_EQ(stored_value(), "ticket");
        lock.renew();
        EXPECT_EQ(proxy.count(script(scripts::release)), undone);
        EXPECT_EQ(lock.release(), release_result::released);
        EXPECT_TRUE(becomes_clean());
        proxy.forget_commands();
    }
}

// The server dies before it replies, and comes back without its data.
TEST_F(Values, OfAWaitOutlastTheServer) {
    const auto before = proxy.strike_count();
    proxy.inject({.matches = script(scripts::acquire), .kind = fault_kind::swallow});
    held_lock acquired;
    background_task waiting(
        [&] { acquired = locks.acquire_as("it", "ticket", {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return proxy.strike_count() == before + 1; }));
    server.kill9();
    proxy.kill_connections();
    server.start(false);
    waiting.join();
    EXPECT_EQ(acquired.state(), lock_state::held);
    EXPECT_EQ(stored_value(), "ticket");
}

// The server is reachable, and has no memory for new keys.
TEST_F(Values, OfAWaitOutlastARefusal) {
    ASSERT_EQ(server.execute({"CONFIG", "SET", "maxmemory", "1"}).text, "OK");
    const auto failed = failure_of(
        [&] { (void)locks.acquire_as("it", "ticket", {.ttl = long_ttl, .wait = 300ms}); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::unavailable) << failed;
    const auto refused = [&] { return proxy.count(script(scripts::acquire)); };
    const auto before = refused();
    held_lock acquired;
    background_task waiting(
        [&] { acquired = locks.acquire_as("it", "ticket", {.ttl = long_ttl, .wait = patience}); });
    EXPECT_TRUE(eventually([&] { return refused() >= before + 2; }));
    ASSERT_EQ(server.execute({"CONFIG", "SET", "maxmemory", "0"}).text, "OK");
    waiting.join();
    EXPECT_EQ(acquired.state(), lock_state::held);
    EXPECT_EQ(acquired.release(), release_result::released);
}

// adopt -> executed -> reply lost: repeated once, it finds the same hold.
TEST_F(Values, AdoptingWithoutAnAnswerLeavesTheHoldAlone) {
    ASSERT_EQ(server.execute({"SET", "it", "theirs", "PX", "60000"}).text, "OK");
    proxy.inject({.matches = script(scripts::adopt), .kind = fault_kind::lose_reply});
    const auto failed = failure_of([&] { (void)locks.adopt("it", "theirs", {.ttl = long_ttl}); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::unreachable) << failed;
    EXPECT_EQ(stored_value(), "theirs");
    EXPECT_TRUE(locks.adopt("it", "theirs", {.ttl = long_ttl}).owns_lock());
}

TEST_F(Values, AreNotLookedForUnderAKeyOfAnotherType) {
    (void)server.execute({"HSET", "it", "field", "1"});
    const auto failed = failure_of([&] { (void)locks.adopt("it", "theirs"); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::wrong_type) << failed;
}

}  // namespace
