// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The usual first request of an acquire asks for no place in the queue; a second one does.
#include "redis_fixture.hpp"

#include <redis_scripts.hpp>

#include <future>
#include <string>

namespace {

using namespace chaos;
namespace scripts = pawl::redis::scripts;

class FirstRequest : public testing::Test, protected redis_fixture {
protected:
    // With a loaded script and an open connection.
    void warm(client& locks) { (void)locks.acquire("warm", {.ttl = long_ttl}).release(); }
    // The number of keys is two without a place in the queue, and four with one.
    [[nodiscard]] static support::matcher acquire_with_keys(const std::string& count) {
        return [is_acquire = script(scripts::acquire), count](const support::command_words& words) {
            return is_acquire(words) && words.size() > 2 && words[2] == count;
        };
    }
    const support::matcher brief = acquire_with_keys("2"), with_place = acquire_with_keys("4");
};

TEST_F(FirstRequest, IsTheOnlyOneForAFreeLock) {
    client locks = proxied_client();
    warm(locks);
    const auto before = proxy.count(brief);
    (void)locks.acquire("it", {.ttl = long_ttl}).release();
    EXPECT_EQ(proxy.count(brief), before + 1);
    EXPECT_EQ(proxy.count(with_place), 0U);
}

// A client that found a lock taken asks for a place with its next first request, until it gets a
// lock with such a request at once.
TEST_F(FirstRequest, AsksForAPlaceAfterAWait) {
    client locks = proxied_client();
    client other = direct_client();
    warm(locks);
    auto held = other.acquire("it", {.ttl = long_ttl});
    EXPECT_THROW((void)locks.acquire("it", {.ttl = long_ttl, .wait = 200ms}), pawl::error);
    EXPECT_EQ(proxy.count(with_place), 1U);
    const auto brief_before = proxy.count(brief);
    (void)locks.acquire("free", {.ttl = long_ttl}).release();
    EXPECT_EQ(proxy.count(with_place), 2U);
    EXPECT_EQ(proxy.count(brief), brief_before);
    (void)locks.acquire("free", {.ttl = long_ttl}).release();
    EXPECT_EQ(proxy.count(with_place), 2U);
    EXPECT_EQ(proxy.count(brief), brief_before + 1);
}

//   A: "is it free?" | no | A: "keep me a place" | executed, the reply is lost | A's undo removes
//   the place, and A asks again under a third owner | B, which queued after A's lost request, and A
//   both get the lock, and no place is left of the lost request
TEST_F(FirstRequest, AndTheSecondHaveAnUndoOfTheirOwn) {
    for (const fault_kind kind :
         {fault_kind::lose_reply, fault_kind::cut_reply, fault_kind::lose_request}) {
        client locks = proxied_client();
        client other = direct_client();
        warm(locks);
        auto held = other.acquire("it", {.ttl = long_ttl});
        const auto before = proxy.strike_count();
        proxy.inject({.matches = with_place, .kind = kind});
        auto a = std::async(std::launch::async, [&] {
            return locks.acquire("it", {.ttl = long_ttl, .wait = patience});
        });
        ASSERT_TRUE(eventually([&] { return proxy.strike_count() == before + 1; }));
        auto b = std::async(std::launch::async, [this] {
            return direct_client().acquire("it", {.ttl = 2s, .wait = patience}).release();
        });
        ASSERT_TRUE(eventually([&] { return other.inspect("it").waiters == 2; }));
        EXPECT_EQ(held.release(), release_result::released);
        EXPECT_EQ(a.get().release(), release_result::released);
        EXPECT_EQ(b.get(), release_result::released);
        EXPECT_TRUE(becomes_clean());
    }
}

//   A: "is it free?" | delayed in the network | A gives up, and its connection ends | the server
//   executes the request | A's undo ends the hold long before the lease of a minute does
TEST_F(FirstRequest, IsUndoneIfItArrivesAfterTheWait) {
    client locks = proxied_client("?reply_timeout=300");
    warm(locks);
    proxy.inject({.matches = brief, .kind = fault_kind::delay_request, .delay = 1s});
    EXPECT_THROW((void)locks.acquire("it", {.ttl = long_ttl, .wait = 100ms}), pawl::error);
    EXPECT_TRUE(becomes_clean());
}

// Otherwise the users of one client, whose holds are shorter than a round trip, would need two
// round trips for each hold: the second request would find the lock free, and the next user would
// ask without a place again.
//   A: "is it free?" | no | the lock is released | A: "keep me a place" | A is granted the lock | A
//   asks for a place with its next first request
TEST_F(FirstRequest, AsksForAPlaceAfterASecondOneThatFoundTheLockFree) {
    client locks = proxied_client();
    client other = direct_client();
    warm(locks);
    auto held = other.acquire("it", {.ttl = long_ttl});
    const auto before = proxy.count(brief);
    proxy.inject({.matches = with_place, .kind = fault_kind::delay_request, .delay = 200ms});
    auto a = std::async(std::launch::async,
                        [&] { return locks.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return proxy.count(with_place) == 1; }));
    EXPECT_EQ(held.release(), release_result::released);
    EXPECT_EQ(a.get().release(), release_result::released);
    EXPECT_EQ(locks.statistics().hand_offs, 0U);
    (void)locks.acquire("it", {.ttl = long_ttl}).release();
    EXPECT_EQ(proxy.count(with_place), 2U);
    EXPECT_EQ(proxy.count(brief), before + 1);
}

//   A: "is it free?" | the wait ends | no | A does not ask for a place that it would leave at once
TEST_F(FirstRequest, IsTheOnlyOneIfTheWaitEndsMeanwhile) {
    client locks = proxied_client();
    client other = direct_client();
    warm(locks);
    auto held = other.acquire("it", {.ttl = long_ttl});
    proxy.inject({.matches = brief, .kind = fault_kind::delay_reply, .delay = 120ms});
    const auto failed =
        failure_of([&] { (void)locks.acquire("it", {.ttl = long_ttl, .wait = 20ms}); });
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::timed_out) << failed->sentence;
    EXPECT_EQ(proxy.count(with_place), 0U);
}

//   A: "is it free?" | "I am loading my data" | a pause, until the wait ends | A: "is it free?" |
//   the server falls silent | A waits 0.3 s for the reply, and not the reply timeout of 5 s
TEST_F(FirstRequest, IsNotAwaitedForLongAfterTheWait) {
    client locks = proxied_client();
    warm(locks);
    const auto before = proxy.strike_count();
    proxy.inject({.matches = brief, .kind = fault_kind::reply, .reply = "-LOADING data\r\n"});
    proxy.inject({.matches = brief, .kind = fault_kind::swallow});
    const auto began_at = boot_clock::now();
    const auto failed =
        failure_of([&] { (void)locks.acquire("it", {.ttl = long_ttl, .wait = 20ms}); });
    EXPECT_LT(boot_clock::now() - began_at, 3s);
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::unreachable) << failed->sentence;
    EXPECT_EQ(proxy.strike_count(), before + 2);
}

}  // namespace
