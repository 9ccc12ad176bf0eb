// Latches, while the server's clock leaps.
#include "clock_scene.hpp"

#include <pawl/blocking_latch.hpp>

#include <redis_scripts.hpp>

namespace {

using namespace chaos;
using pawl::blocking::barrier;
using pawl::blocking::latch;
namespace scripts = pawl::redis::scripts;

class ClockLatches : public clock_scene {
protected:
    // The words of the last step that went through the proxy.
    support::command_words last_step() {
        support::command_words words;
        for (const auto& each : proxy.seen())
            if (script(scripts::latch_down)(each.words)) words = each.words;
        return words;
    }
    std::string answer_to(const support::command_words& words) {
        const auto answer = server.ask(words);
        return answer.items.empty() ? answer.text : answer.items.front().text;
    }
};

//   W: waits | the clock leaps | C: knows the clock from before it | each step counts once, and the
//   last one lets W go
TEST_F(ClockLatches, StepsCountOnceAcrossALeap) {
    client counts = direct(), waits = direct();
    latch mine(counts, "it"), theirs(waits, "it");
    for (const auto leap : {1h, -1h, -24h}) {
        ASSERT_TRUE(mine.try_set(3));
        bool went_on = false;
        beside waiting([&] { went_on = theirs.wait_for(patience); });
        EXPECT_EQ(mine.count_down(), 2U);
        clock.leap(leap);
        EXPECT_EQ(mine.count_down(), 1U);
        EXPECT_EQ(mine.count_down(), 0U);
        waiting.join();
        EXPECT_TRUE(went_on);
    }
}

TEST_F(ClockLatches, TurnsOfABarrierAreTakenAcrossALeap) {
    client one = direct(), two = direct();
    barrier mine(one, "it", 2), theirs(two, "it", 2);
    for (const auto leap : {1h, -1h, -24h}) {
        beside arriving([&] { theirs.arrive_and_wait(); });
        latch seen(one, "it");
        ASSERT_TRUE(eventually([&] { return seen.inspect().count == 1; }));
        clock.leap(leap);
        mine.arrive_and_wait();
    }
}

//   C: down, which arrives | the same message again, held up on its way until the server has
//   forgotten the first, and its clock was set back since: by it, the message is not late | it must
//   not be counted a second time
TEST_F(ClockLatches, AStepThatArrivesAgainAfterALeapBackIsNotCounted) {
    client locks = proxied();
    latch mine(locks, "it");
    ASSERT_TRUE(mine.try_set(10));
    EXPECT_EQ(mine.count_down(), 9U);
    const auto again = last_step();
    EXPECT_NE(answer_to(again), "late") << "it is remembered";
    clock.leap(30s);
    EXPECT_EQ(answer_to(again), "late");
    clock.leap(-1h);
    EXPECT_EQ(answer_to(again), "late");
    EXPECT_EQ(mine.inspect().count, 9U);
    EXPECT_EQ(mine.count_down(), 8U) << "and nobody is refused for an hour";
}

//   C: down, the answer is lost | the clock leaps forward, and the server forgets the request | C:
//   the same again: refused, since it would count twice | C is told that nobody knows
TEST_F(ClockLatches, AStepWhoseAnswerIsLostBeforeALeapIsNotCountedTwice) {
    client locks = proxied();
    latch mine(locks, "it");
    ASSERT_TRUE(mine.try_set(10));
    EXPECT_EQ(mine.count_down(), 9U);
    proxy.inject({.which = script(scripts::latch_down), .what = fate::swallow});
    std::optional<failure> what;
    beside counting([&] { what = failure_of([&] { mine.count_down(); }); });
    ASSERT_TRUE(eventually([&] { return proxy.struck() == 1; }));
    const auto step = last_step();
    EXPECT_NE(answer_to(step), "late");
    clock.leap(1h);
    proxy.kill_connections();
    counting.join();
    ASSERT_TRUE(what.has_value());
    EXPECT_EQ(what->reason, errc::unreachable) << what;
    EXPECT_NE(what->sentence.find("Nobody knows"), std::string::npos) << what;
    client eyes = direct();
    EXPECT_EQ(latch(eyes, "it").inspect().count, 8U);
}

//   W: waits | the clock leaps past the latch's ttl, so the server forgets it | W: told so, not let
//   go; nor does it wait for ever
TEST_F(ClockLatches, ALatchThatALeapEndsIsToldAsLost) {
    client locks = direct();
    latch mine(locks, "it", {.ttl = 60s});
    ASSERT_TRUE(mine.try_set(1));
    std::optional<failure> what;
    beside waiting([&] { what = failure_of([&] { mine.wait(); }); });
    ASSERT_TRUE(eventually([&] {
        return server.ask({"PUBSUB", "NUMSUB", "pawl:{it}:l/0"}).items.at(1).number() == 1;
    }));
    clock.leap(1h);
    waiting.join();
    ASSERT_TRUE(what.has_value());
    EXPECT_EQ(what->reason, errc::lost) << what;
}

}  // namespace
