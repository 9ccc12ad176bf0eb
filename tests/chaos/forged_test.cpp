// Messages that the server did not send: a tenant who may publish, and maybe read.
#include "scene.hpp"

#include <pawl/blocking_latch.hpp>

#include <redis_scripts.hpp>

#include <atomic>

namespace {

using namespace chaos;
using pawl::blocking::latch;
namespace scripts = pawl::redis::scripts;

const std::string channel = "pawl:{it}:l/0";

class Forged : public testing::Test, protected scene {
protected:
    void publish(const std::string& to, const std::string& message) {
        ASSERT_GE(server.ask({"PUBLISH", to, message}).number(), 1) << message;
    }
    bool waited_for() {
        return eventually([&] {
            return server.ask({"PUBSUB", "NUMSUB", channel}).items.at(1).number() == 1;
        });
    }
    std::size_t looks() { return proxy.count(script(scripts::latch_look)); }
    // The waiter has looked when it is heard, and this is answered behind that.
    void listen_and_look(latch& waits) {
        ASSERT_TRUE(waited_for());
        ASSERT_TRUE(eventually([&] { return looks() > 0; }));
        (void)waits.inspect();
    }
    std::string generation() { return server.ask({"HGET", "pawl:{it}:l", "generation"}).text; }
    std::int64_t server_ms() {
        const auto time = server.ask({"TIME"});
        return std::stoll(time.items.at(0).text) * 1000 + std::stoll(time.items.at(1).text) / 1000;
    }
    static std::uint64_t token_at(std::int64_t ms) {
        return static_cast<std::uint64_t>((ms - 1'704'067'200'000) * 65536 / 1000);
    }
    // CLIENT and OWNER of who stands first.
    std::pair<std::string, std::string> first_in_line() {
        const auto member = server.ask({"ZRANGE", "pawl:{it}:q", "0", "0"}).items.at(0).text;
        const auto colon = member.find(':');
        return {"pawl:c:0:" + member.substr(0, colon), member.substr(colon + 1)};
    }
};

//   W: waits for 3 | F: "open", for all generations | W looks: still 3 | C: takes off 3 | W goes
TEST_F(Forged, OpeningsLetNobodyThrough) {
    client locks = direct(), through = proxied();
    latch gate(locks, "it"), theirs(through, "it");
    ASSERT_TRUE(gate.try_set(3));
    std::atomic<bool> over = false;
    beside waiting([&] {
        EXPECT_TRUE(theirs.wait_for(patience));
        over = true;
    });
    listen_and_look(theirs);
    for (int i = 0; i < 3; ++i) {
        const auto before = looks();
        publish(channel, "open 0 9223372036854775807");
        ASSERT_TRUE(eventually([&] { return over || looks() > before; }));
        (void)theirs.inspect();
        ASSERT_FALSE(over) << "let through by a message";
    }
    EXPECT_EQ(gate.count_down(3), 0U);
    waiting.join();
}

TEST_F(Forged, OpeningsCostAWaiterOneLook) {
    client locks = direct(), through = proxied();
    latch gate(locks, "it"), theirs(through, "it");
    ASSERT_TRUE(gate.try_set(1));
    beside waiting([&] { EXPECT_TRUE(theirs.wait_for(patience)); });
    listen_and_look(theirs);
    const auto before = looks();
    EXPECT_EQ(gate.count_down(), 0U);
    waiting.join();
    EXPECT_EQ(looks(), before + 1);
}

//   W: waits | C: 1 -> 0, "open" | C: deletes the latch | W looks: not known; but the step that the
//   message names is: W goes
TEST_F(Forged, NotIsAnOpeningWhoseLatchIsResetAtOnce) {
    client locks = direct(), through = direct();
    latch gate(locks, "it"), theirs(through, "it");
    for (int round = 0; round < 10; ++round) {
        ASSERT_TRUE(gate.try_set(1));
        std::optional<failure> what;
        beside waiting([&] { what = failure_of([&] { theirs.wait(); }); });
        ASSERT_TRUE(waited_for());
        // Asked behind the waiter's look.
        (void)theirs.inspect();
        EXPECT_EQ(gate.count_down(), 0U);
        (void)gate.reset();
        waiting.join();
        EXPECT_FALSE(what.has_value()) << what;
    }
}

//   W: waits | the latch is deleted | F: "open", naming a step that nobody took, or another key
TEST_F(Forged, OpeningsOfAResetLatchAreALoss) {
    client locks = direct(), through = proxied();
    latch gate(locks, "it"), theirs(through, "it");
    for (const std::string step : {"", " pawl:{it}:l:0123", " elsewhere", " pawl:{it}:l:other"}) {
        ASSERT_TRUE(gate.try_set(1));
        const auto turn = generation();
        (void)server.ask({"SET", "elsewhere", turn + " 0"});
        (void)server.ask({"SET", "pawl:{it}:l:other", turn + " 1"});
        proxy.forget();
        std::optional<failure> what;
        beside waiting([&] { what = failure_of([&] { theirs.wait(); }); });
        listen_and_look(theirs);
        (void)server.ask({"DEL", "pawl:{it}:l"});
        publish(channel, "open 0 9223372036854775807" + step);
        waiting.join();
        ASSERT_TRUE(what.has_value()) << step;
        EXPECT_EQ(what->reason, errc::lost) << what;
    }
}

//   A: holds | B: waits | F: a grant for B, with a token that is no token of now | B looks: A's
//   | A: releases | B holds, with the next token
TEST_F(Forged, GrantsWithATokenOfAnotherTimeAreNotBelieved) {
    client locks = direct(), through = proxied();
    const auto look = [&] { return proxy.count(script(scripts::look)); };
    const auto later = server_ms() + 3'600'000;
    const std::string far = std::to_string(later), far_token = std::to_string(token_at(later));
    auto held = locks.acquire("it", {.ttl = long_ttl});
    std::atomic<bool> over = false;
    held_lock got;
    beside waiting([&] {
        got = through.acquire("it", {.ttl = long_ttl, .wait = patience});
        over = true;
    });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    const auto now = [&] { return std::to_string(server_ms()); };
    const auto [to, owner] = first_in_line();
    for (const auto& [token, when] :
         std::vector<std::pair<std::string, std::string>>{{"9223372036854775000", now()},
                                                          {far_token, now()},
                                                          {far_token, far},
                                                          {"1", now()},
                                                          {"", now()},
                                                          {far_token, "9223372036854775807"},
                                                          {far_token, "-5"}}) {
        const auto before = look();
        publish(to, "grant " + owner + " " + token + " " + when);
        ASSERT_TRUE(eventually([&] { return over || look() >= before + 2; }));
        ASSERT_FALSE(over) << "believed " << token << " of " << when;
    }
    EXPECT_EQ(held.release(), release_result::released);
    waiting.join();
    EXPECT_GT(got.token(), held.token());
    EXPECT_LT(got.token().value(), token_at(later));
}

// The counter may be ahead of the clock, which was set back: a true grant all the same.
TEST_F(Forged, NotAreGrantsOfACounterAheadOfTheClock) {
    client locks = direct(), through = direct();
    const auto ahead = token_at(server_ms() + 86'400'000);
    (void)server.ask({"SET", "pawl:{it}:f", std::to_string(ahead)});
    for (const bool fair : {false, true}) {
        auto held = locks.acquire("it", {.ttl = long_ttl});
        held_lock got;
        beside waiting([&] {
            got = through.acquire("it", {.ttl = long_ttl, .wait = patience, .fair = fair});
        });
        ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
        EXPECT_EQ(held.release(), release_result::released);
        waiting.join();
        EXPECT_EQ(got.token().value(), held.token().value() + 1);
        EXPECT_EQ(got.release(), release_result::released);
    }
}

// A user that may read the line as well makes one that looks right: the first renewal ends it.
TEST_F(Forged, GrantsThatLookRightEndWithTheFirstRenewal) {
    client locks = direct(), through = direct();
    auto held = locks.acquire("it", {.ttl = long_ttl});
    held_lock got;
    beside waiting([&] { got = through.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    ASSERT_TRUE(eventually([&] { return waiters("it") == 1; }));
    const auto [to, owner] = first_in_line();
    const auto ms = server_ms();
    publish(to,
            "grant " + owner + " " + std::to_string(token_at(ms) + 1) + " " + std::to_string(ms));
    waiting.join();
    EXPECT_TRUE(eventually([&] { return got.state() == lock_state::lost; }));
    EXPECT_EQ(held.release(), release_result::released);
}

}  // namespace
