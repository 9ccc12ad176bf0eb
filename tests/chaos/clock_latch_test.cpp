// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Latches while the server's clock jumps.
#include "clock_fixture.hpp"

#include <pawl/blocking/latch.hpp>

#include <redis_scripts.hpp>

namespace {

using namespace chaos;
using pawl::blocking::barrier;
using pawl::blocking::latch;
namespace scripts = pawl::redis::scripts;

class ClockLatches : public clock_fixture {
protected:
    // The last latch step that went through the proxy.
    support::command_words last_step() {
        support::command_words command;
        for (const auto& each : proxy.commands())
            if (script(scripts::latch_down)(each.words)) command = each.words;
        return command;
    }
    std::string answer_to(const support::command_words& command) {
        const auto reply = server.execute(command);
        return reply.items.empty() ? reply.text : reply.items.front().text;
    }
};

//   W: waits | the clock jumps | C: knows the clock from before the jump | each step counts once,
//   and the last step releases W
TEST_F(ClockLatches, StepsCountOnceAcrossALeap) {
    client counts = direct_client(), waits = direct_client();
    latch own_latch(counts, "it"), other_latch(waits, "it");
    for (const auto leap : {1h, -1h, -24h}) {
        ASSERT_TRUE(own_latch.try_set(3));
        bool went_on = false;
        background_task waiting([&] { went_on = other_latch.wait_for(patience); });
        EXPECT_EQ(own_latch.count_down(), 2U);
        clock.step(leap);
        EXPECT_EQ(own_latch.count_down(), 1U);
        EXPECT_EQ(own_latch.count_down(), 0U);
        waiting.join();
        EXPECT_TRUE(went_on);
    }
}

TEST_F(ClockLatches, TurnsOfABarrierAreTakenAcrossALeap) {
    client first = direct_client(), second = direct_client();
    barrier own_barrier(first, "it", 2), other_barrier(second, "it", 2);
    for (const auto leap : {1h, -1h, -24h}) {
        background_task arriving([&] { other_barrier.arrive_and_wait(); });
        latch observed_latch(first, "it");
        ASSERT_TRUE(eventually([&] { return observed_latch.inspect().count == 1; }));
        clock.step(leap);
        own_barrier.arrive_and_wait();
    }
}

//   C: counts down, and the request arrives | the same request again, delayed until the server has
//   forgotten the first one, and the server's clock was set back: by that clock the request is not
//   late | it must not be counted a second time
TEST_F(ClockLatches, AStepThatArrivesAgainAfterALeapBackIsNotCounted) {
    client locks = proxied_client();
    latch own_latch(locks, "it");
    ASSERT_TRUE(own_latch.try_set(10));
    EXPECT_EQ(own_latch.count_down(), 9U);
    const auto step = last_step();
    EXPECT_NE(answer_to(step), "late") << "it is remembered";
    clock.step(30s);
    EXPECT_EQ(answer_to(step), "late");
    clock.step(-1h);
    EXPECT_EQ(answer_to(step), "late");
    EXPECT_EQ(own_latch.inspect().count, 9U);
    EXPECT_EQ(own_latch.count_down(), 8U) << "later requests are not refused for an hour";
}

//   C: counts down, the reply is lost | the clock jumps forward, and the server forgets the request
//   | C: repeats it: refused, since it would count twice | C is told that the result is unknown
TEST_F(ClockLatches, AStepWhoseAnswerIsLostBeforeALeapIsNotCountedTwice) {
    client locks = proxied_client();
    latch own_latch(locks, "it");
    ASSERT_TRUE(own_latch.try_set(10));
    EXPECT_EQ(own_latch.count_down(), 9U);
    proxy.inject({.matches = script(scripts::latch_down), .kind = fault_kind::swallow});
    std::optional<failure> failed;
    background_task counting([&] { failed = failure_of([&] { own_latch.count_down(); }); });
    ASSERT_TRUE(eventually([&] { return proxy.strike_count() == 1; }));
    const auto step = last_step();
    EXPECT_NE(answer_to(step), "late");
    clock.step(1h);
    proxy.kill_connections();
    counting.join();
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::unreachable) << failed;
    EXPECT_NE(failed->sentence.find("Nobody knows"), std::string::npos) << failed;
    client observer = direct_client();
    EXPECT_EQ(latch(observer, "it").inspect().count, 8U);
}

//   W: waits | the clock jumps past the latch's ttl, so the server forgets the latch | W is told
//   so: it is not released, and it does not wait for ever
TEST_F(ClockLatches, ALatchThatALeapEndsIsToldAsLost) {
    client locks = direct_client();
    latch own_latch(locks, "it", {.ttl = 60s});
    ASSERT_TRUE(own_latch.try_set(1));
    std::optional<failure> failed;
    background_task waiting([&] { failed = failure_of([&] { own_latch.wait(); }); });
    ASSERT_TRUE(eventually([&] {
        return server.execute({"PUBSUB", "NUMSUB", "pawl:{it}:l/0"}).items.at(1).number() == 1;
    }));
    clock.step(1h);
    waiting.join();
    ASSERT_TRUE(failed.has_value());
    EXPECT_EQ(failed->reason, errc::lost) << failed;
}

}  // namespace
