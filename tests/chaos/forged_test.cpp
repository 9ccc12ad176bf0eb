// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Messages that the server did not send, from a tenant that may publish and perhaps read.
#include "redis_fixture.hpp"

#include <pawl/blocking/latch.hpp>

#include <redis_scripts.hpp>

#include <atomic>

namespace {

using namespace chaos;
using pawl::blocking::latch;
namespace scripts = pawl::redis::scripts;

const std::string channel = "pawl:{it}:l/0";

class Forged : public testing::Test, protected redis_fixture {
protected:
    void publish(const std::string& target_channel, const std::string& message) {
        ASSERT_GE(server.execute({"PUBLISH", target_channel, message}).number(), 1) << message;
    }
    bool is_subscribed() {
        return eventually([&] {
            return server.execute({"PUBSUB", "NUMSUB", channel}).items.at(1).number() == 1;
        });
    }
    std::size_t refresh_count() { return proxy.count(script(scripts::latch_inspect)); }
    // The waiter has refreshed when its subscription exists and this request, sent behind it, is
    // answered.
    void subscribe_and_refresh(latch& waits) {
        ASSERT_TRUE(is_subscribed());
        ASSERT_TRUE(eventually([&] { return refresh_count() > 0; }));
        (void)waits.inspect();
    }
    std::string generation() { return server.execute({"HGET", "pawl:{it}:l", "generation"}).text; }
    static std::uint64_t token_at(std::int64_t ms) {
        return static_cast<std::uint64_t>((ms - 1'704'067'200'000) * 65536 / 1000);
    }
    // CLIENT and OWNER of the first waiter.
    std::pair<std::string, std::string> first_waiter() {
        const auto member = server.execute({"ZRANGE", "pawl:{it}:q", "0", "0"}).items.at(0).text;
        const auto colon = member.find(':');
        return {"pawl:c:0:" + member.substr(0, colon), member.substr(colon + 1)};
    }
};

//   W: waits for 3 | F: "open", for all generations | W refreshes: still 3 | C: subtracts 3 | W is
//   released
TEST_F(Forged, OpeningsLetNobodyThrough) {
    client locks = direct_client(), through = proxied_client();
    latch gate(locks, "it"), theirs(through, "it");
    ASSERT_TRUE(gate.try_set(3));
    std::atomic<bool> over = false;
    background_task waiting([&] {
        EXPECT_TRUE(theirs.wait_for(patience));
        over = true;
    });
    subscribe_and_refresh(theirs);
    for (int i = 0; i < 3; ++i) {
        const auto before = refresh_count();
        publish(channel, "open 0 9223372036854775807");
        ASSERT_TRUE(eventually([&] { return over || refresh_count() > before; }));
        (void)theirs.inspect();
        ASSERT_FALSE(over) << "released by a forged message";
    }
    EXPECT_EQ(gate.count_down(3), 0U);
    waiting.join();
}

TEST_F(Forged, OpeningsCostAWaiterOneLook) {
    client locks = direct_client(), through = proxied_client();
    latch gate(locks, "it"), theirs(through, "it");
    ASSERT_TRUE(gate.try_set(1));
    background_task waiting([&] { EXPECT_TRUE(theirs.wait_for(patience)); });
    subscribe_and_refresh(theirs);
    const auto before = refresh_count();
    EXPECT_EQ(gate.count_down(), 0U);
    waiting.join();
    EXPECT_EQ(refresh_count(), before + 1);
}

//   W: waits | C: 1 -> 0, "open" | C: deletes the latch | W refreshes: unknown; but the step that
//   the message names exists: W is released
TEST_F(Forged, NotIsAnOpeningWhoseLatchIsResetAtOnce) {
    client locks = direct_client(), through = direct_client();
    latch gate(locks, "it"), theirs(through, "it");
    for (int round = 0; round < 10; ++round) {
        ASSERT_TRUE(gate.try_set(1));
        std::optional<failure> failed;
        background_task waiting([&] { failed = failure_of([&] { theirs.wait(); }); });
        ASSERT_TRUE(is_subscribed());
        // Sent behind the waiter's refresh.
        (void)theirs.inspect();
        EXPECT_EQ(gate.count_down(), 0U);
        (void)gate.reset();
        waiting.join();
        EXPECT_FALSE(failed.has_value()) << failed;
    }
}

//   W: waits | the latch is deleted | F: "open", naming a step that does not exist, or another key
TEST_F(Forged, OpeningsOfAResetLatchAreALoss) {
    client locks = direct_client(), through = proxied_client();
    latch gate(locks, "it"), theirs(through, "it");
    for (const std::string step : {"", " pawl:{it}:l:0123", " elsewhere", " pawl:{it}:l:other"}) {
        ASSERT_TRUE(gate.try_set(1));
        const auto turn = generation();
        (void)server.execute({"SET", "elsewhere", turn + " 0"});
        (void)server.execute({"SET", "pawl:{it}:l:other", turn + " 1"});
        proxy.forget_commands();
        std::optional<failure> failed;
        background_task waiting([&] { failed = failure_of([&] { theirs.wait(); }); });
        subscribe_and_refresh(theirs);
        (void)server.execute({"DEL", "pawl:{it}:l"});
        publish(channel, "open 0 9223372036854775807" + step);
        waiting.join();
        ASSERT_TRUE(failed.has_value()) << step;
        EXPECT_EQ(failed->reason, errc::lost) << failed;
    }
}

//   A: holds | B: waits | F: a grant for B, with a token that is not a current one | B refreshes: A
//   holds | A: releases | B holds, with the next token
TEST_F(Forged, GrantsWithATokenOfAnotherTimeAreNotBelieved) {
    client locks = direct_client(), through = proxied_client();
    const auto refresh_count = [&] { return proxy.count(script(scripts::refresh)); };
    const auto later = server.time_ms() + 3'600'000;
    const std::string far = std::to_string(later), far_token = std::to_string(token_at(later));
    auto held_lock_of_first = locks.acquire("it", {.ttl = long_ttl});
    std::atomic<bool> over = false;
    held_lock acquired;
    background_task waiting([&] {
        acquired = through.acquire("it", {.ttl = long_ttl, .wait = patience});
        over = true;
    });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    const auto now = [&] { return std::to_string(server.time_ms()); };
    const auto [to, owner] = first_waiter();
    for (const auto& [token, when] :
         std::vector<std::pair<std::string, std::string>>{{"9223372036854775000", now()},
                                                          {far_token, now()},
                                                          {far_token, far},
                                                          {"1", now()},
                                                          {"", now()},
                                                          {far_token, "9223372036854775807"},
                                                          {far_token, "-5"}}) {
        const auto before = refresh_count();
        publish(to, "grant " + owner + " " + token + " " + when);
        ASSERT_TRUE(eventually([&] { return over || refresh_count() > before; }));
        publish(to, "look " + owner);  // it refreshes once more, after the reply
        ASSERT_TRUE(eventually([&] { return over || refresh_count() >= before + 2; }));
        ASSERT_FALSE(over) << "believed " << token << " of " << when;
    }
    EXPECT_EQ(held_lock_of_first.release(), release_result::released);
    waiting.join();
    EXPECT_GT(acquired.token(), held_lock_of_first.token());
    EXPECT_LT(acquired.token().value(), token_at(later));
}

// The counter may be ahead of the clock, which was set back: the grant is genuine all the same.
TEST_F(Forged, NotAreGrantsOfACounterAheadOfTheClock) {
    client locks = direct_client(), through = direct_client();
    const auto ahead = token_at(server.time_ms() + 86'400'000);
    (void)server.execute({"SET", "pawl:{it}:f", std::to_string(ahead)});
    for (const bool fair : {false, true}) {
        auto held_lock_of_first = locks.acquire("it", {.ttl = long_ttl});
        held_lock acquired;
        background_task waiting([&] {
            acquired = through.acquire("it", {.ttl = long_ttl, .wait = patience, .fair = fair});
        });
        ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
        EXPECT_EQ(held_lock_of_first.release(), release_result::released);
        waiting.join();
        EXPECT_EQ(acquired.token().value(), held_lock_of_first.token().value() + 1);
        EXPECT_EQ(acquired.release(), release_result::released);
    }
}

// A user that may also read the queue forges a plausible grant: the first renewal ends it. A waiter
// that refreshes after the time in the message does not believe it, so the message is repeated.
TEST_F(Forged, GrantsThatLookRightEndWithTheFirstRenewal) {
    client locks = direct_client(), through = direct_client();
    auto held_lock_of_first = locks.acquire("it", {.ttl = long_ttl});
    std::atomic<bool> over = false;
    held_lock acquired;
    background_task waiting([&] {
        acquired = through.acquire("it", {.ttl = long_ttl, .wait = patience});
        over = true;
    });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    const auto [to, owner] = first_waiter();
    EXPECT_TRUE(eventually([&, to = to, owner = owner] {
        if (over) return true;
        const auto ms = server.time_ms();
        const auto token = std::to_string(token_at(ms) + 1);
        publish(to, "grant " + owner + " " + token + " " + std::to_string(ms));
        return eventually([&] { return over.load(); }, 200ms);
    }));
    waiting.join();
    EXPECT_TRUE(eventually([&] { return acquired.state() == lock_state::lost; }));
    EXPECT_EQ(held_lock_of_first.release(), release_result::released);
}

}  // namespace
