// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// An answer to a renewal counts as long as it arrives before the deadline that it extends, however
// far the servers are.
#include "services/redlock/redlock_programs.hpp"

#include <redlock_scripts.hpp>

#include <gtest/gtest.h>

#include <memory>

namespace pawl::simulation {
namespace {

using namespace std::chrono_literals;

constexpr network_faults near{};
[[nodiscard]] constexpr network_faults away(instant one_way) {
    return {.latency_low = one_way, .latency_high = one_way};
}

// Counts the renewals that programs send by the digest of their script.
class renewal_counter final : public simulated_network::observer {
public:
    void on_executed(simulated_network&, simulated_process&, const words&,
                     const redis::reply&) override {}
    void on_sent(simulated_process&, const words& command) override {
        namespace scripts = redlock::scripts;
        if (command.size() > 1 &&
            (command[1] == scripts::renew.sha1 || command[1] == scripts::read_renew.sha1))
            ++sent;
        if (command.size() > 1 &&
            (command[1] == scripts::renew.text || command[1] == scripts::read_renew.text))
            ++texts;
    }
    std::size_t sent = 0;   // renewals by the script's digest
    std::size_t texts = 0;  // and by its text
};

class LateRenewal : public testing::TestWithParam<lock_mode> {
protected:
    [[nodiscard]] lock_options hold() const { return {.ttl = 3s, .mode = GetParam()}; }
};

//   P: holds the lock, ttl 3 s; a round trip to the nodes takes 800 ms | each renewal is answered
//   after more than a tenth of the ttl | the hold lives on
TEST_P(LateRenewal, OverNodesThatAreFarAway) {
    redlock_programs set(3, 1, away(400ms));
    auto& request = set.acquire_and_wait(*set.programs[0], hold());
    ASSERT_TRUE(request.lock.owns_lock()) << request.messages.message();
    set.loop.run_for(60s);
    EXPECT_EQ(request.lock.state(), lock_state::held);
    EXPECT_EQ(set.count_of(), 3U);
}

//   P: holds the lock | node 1 freezes, node 2's connection breaks with the renewal in it, node 3
//   extends | node 2 is connected again, and P asks it again while node 1's answer is missing
TEST_P(LateRenewal, ANodeIsAskedAgainWhileAnotherIsSilent) {
    redlock_programs set(3, 1, near);
    auto& request = set.acquire_and_wait(*set.programs[0], hold());
    set.networks[0]->freeze();
    for (int i = 0; i < 30; ++i) {
        set.loop.run_for(330ms);
        set.networks[1]->break_clients();
    }
    EXPECT_EQ(request.lock.state(), lock_state::held);
}

//   P: holds the lock | node 3 has the rest of another attempt, and refuses P's renewal; node 2
//   freezes | the rest ends before P's deadline: node 3 is asked again, and extends the hold
TEST_P(LateRenewal, ANodeThatRefusesIsAskedAgain) {
    redlock_programs set(3, 1, near);
    auto& request = set.acquire_and_wait(*set.programs[0], hold());
    set.networks[2]->server().execute(0, {"SET", "pawl:{it}", "another;1", "PX", "1700"});
    set.networks[1]->freeze();
    set.loop.run_for(6s);
    EXPECT_EQ(request.lock.state(), lock_state::held);
}

//   P: holds the lock | all nodes freeze just after a renewal was sent, for longer than a third of
//   the ttl | they go on before the deadline: the renewals in their sockets count
TEST_P(LateRenewal, OverNodesThatWereFrozen) {
    redlock_programs set(5, 1, near);
    auto& request = set.acquire_and_wait(*set.programs[0], hold());
    for (int i = 0; i < 10; ++i) {
        for (auto* each : set.networks)
            each->freeze();
        set.loop.run_for(1700ms);
        for (auto* each : set.networks)
            each->thaw();
        set.loop.run_for(100ms);
        ASSERT_EQ(request.lock.state(), lock_state::held) << "after the outage " << i + 1;
    }
}

//   P: holds the lock | the nodes do not answer | P releases it, a node goes on | P sends no other
//   renewal, which would restore the lock for nobody
TEST_P(LateRenewal, NoneIsSentAfterTheRelease) {
    redlock_programs set(3, 1, near);
    auto& program = *set.programs[0];
    auto& request = set.acquire_and_wait(program, hold());
    set.networks[0]->freeze();
    set.networks[1]->stop_server();
    set.loop.run_for(1200ms);
    std::optional<release_result> result;
    set.release(program, request, result);
    set.loop.run_for(100ms);
    set.networks[0]->thaw();
    set.loop.run_for(10ms);
    EXPECT_EQ(set.count_of(), 0U);
    set.loop.run_for(1s);
    EXPECT_EQ(set.count_of(), 0U) << "a renewal came after the release";
}

//   P: holds the lock | the nodes forget their scripts | P sends a renewal by its digest, and then
//   the release | the nodes do not know the digest: the renewal's text must not follow the release
TEST_P(LateRenewal, TheTextIsNotSentAfterTheRelease) {
    redlock_programs set(3, 1, away(100ms));
    auto& program = *set.programs[0];
    auto& request = set.acquire_and_wait(program, hold());
    renewal_counter counter;
    set.networks[0]->set_observer(&counter);
    ASSERT_TRUE(set.run_until([&] { return counter.sent > 0; }));
    set.loop.run_for(300ms);
    for (auto* each : set.networks)
        each->server().forget_scripts();
    const auto before = counter.sent;
    ASSERT_TRUE(set.run_until([&] { return counter.sent > before; }));
    const auto texts_before = counter.texts;
    ASSERT_TRUE(set.release_and_wait(program, request));
    set.loop.run_for(1s);
    EXPECT_EQ(set.count_of(), 0U);
    EXPECT_EQ(counter.texts, texts_before);
    set.networks[0]->set_observer(nullptr);
}

//   P: holds the lock | all nodes freeze, with P's renewals in their sockets | P ends; its lease
//   ends, too | the nodes go on: they must not extend or restore a hold that nobody has any more
TEST_P(LateRenewal, OfAClientThatHasEndedDoesNothing) {
    redlock_programs set(3, 2, near);
    set.acquire_and_wait(*set.programs[0], hold());
    for (auto* each : set.networks)
        each->freeze();
    set.loop.run_for(1200ms);
    set.programs[0]->process.pause();
    set.loop.run_for(8s);
    for (auto* each : set.networks)
        each->thaw();
    set.loop.run_for(50ms);
    EXPECT_EQ(set.count_of(), 0U);
    auto& next = set.acquire_and_wait(*set.programs[1], {.ttl = 3s, .wait = 1s});
    EXPECT_TRUE(next.lock.owns_lock()) << next.messages.message();
    set.programs[0]->process.resume();
}

//   P: holds the lock | the clocks of nodes 1 and 2 are set forward by an hour, one after the
//   other, then both at once | a renewal is too late by such a clock; P learns the clock from the
//   answer, and repeats the renewal at once if too few other nodes have extended the hold
TEST_P(LateRenewal, OutlivesClocksThatAreSet) {
    redlock_programs set(3, 1, near);
    auto& request = set.acquire_and_wait(*set.programs[0], hold());
    for (const std::size_t node : {0U, 1U, 0U}) {
        set.networks[node]->jump_clock(1h / 1us);
        set.loop.run_for(2100ms);
        EXPECT_EQ(set.count_of(), 3U) << "node " << node;
    }
    for (const std::size_t node : {0U, 1U})
        set.networks[node]->jump_clock(1h / 1us);
    set.loop.run_for(1100ms);
    EXPECT_EQ(set.count_of(), 3U);
    set.networks[2]->jump_clock(-(1h / 1us));
    set.loop.run_for(10s);
    EXPECT_EQ(request.lock.state(), lock_state::held);
}

INSTANTIATE_TEST_SUITE_P(Each, LateRenewal,
                         testing::Values(lock_mode::exclusive, lock_mode::shared),
                         [](const auto& test) {
                             return test.param == lock_mode::shared ? "Reader" : "Writer";
                         });

}  // namespace
}  // namespace pawl::simulation
