// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One server that is far away: renewals are sent at their rhythm although earlier ones have no
// answer yet, and an answer counts from the sending of its own request.
#include "server/command_counter.hpp"
#include "world/simulated_program.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace pawl::simulation {
namespace {

using namespace std::chrono_literals;

struct far_case {
    std::string label;
    redis::key_layout layout = redis::key_layout::native;
    bool has_scripts = true;
    lock_mode mode = lock_mode::exclusive;
};

bool is_renewal(const words& command) {
    const auto* const script = command.size() > 1 ? find_script(command[1]) : nullptr;
    // "renew" and "renew_non_exclusive", or "redisson/renew"
    const bool is_script =
        script != nullptr && script->name.find("renew") != std::string_view::npos;
    // Without scripts: SET key value IFEQ value PX ttl
    const bool is_set =
        command.size() > 6 && command[0] == "SET" && command[3] == "IFEQ" && command[5] == "PX";
    return is_script || is_set;
}

class FarServer : public testing::TestWithParam<far_case> {
protected:
    FarServer() {
        options.layout = GetParam().layout;
        options.scripts = GetParam().has_scripts;
        const bool is_redisson = options.layout == redis::key_layout::redisson;
        if (is_redisson && GetParam().mode == lock_mode::shared)
            options.object = redis::redisson_object::readwrite;
    }
    ~FarServer() override {
        network.set_latency(100us);
        program->close();
        loop.run_for(60s);
    }
    void start(const redis::limits& limits = {}) {
        program.emplace(loop, network, options, random.fork(), limits);
        program->acquire({.ttl = 3s, .mode = GetParam().mode});
        loop.run_for(2s);
        ASSERT_TRUE(program->held.owns_lock()) << program->failure.message();
    }

    [[nodiscard]] bool is_free() {
        const auto& keys = network.server().data().all();
        return !keys.contains("it") && !keys.contains("pawl:{it}");
    }

    scheduler loop;
    prng random{1};
    simulated_network network{loop, random.fork(), network_faults{}};
    redis::options options;
    std::optional<single_user> program;
};

//   P holds the lock, ttl 3 s, and the server is near | the round trip rises to 1.9 s, 0.63 of the
//   ttl | renewal 1 is answered 0.04 of the ttl before the deadline, when renewal 2 has been under
//   way for 0.3 of the ttl | and so on: the server extends the hold each time, and it is never lost
TEST_P(FarServer, KeepsAHoldOverRoundTripsOfNearlyTwoThirdsOfTheTtl) {
    start();
    const command_counter near(network, is_renewal);
    loop.run_for(30s);
    const auto sent_near = near.count();
    network.set_latency(950ms);
    loop.run_for(60s);
    EXPECT_NE(program->held.state(), lock_state::lost);
    EXPECT_LE(near.count() - sent_near, 2 * sent_near + 3) << "the rhythm is the same";
    EXPECT_GE(sent_near, 29);
    EXPECT_LE(sent_near, 31);
}

// The same with the bound of one: the next renewal waits for the answer, so that half of the ttl is
// the limit. It shows that the bound decides.
TEST_P(FarServer, LosesItWithABoundOfOne) {
    start({.unanswered_renewals = 1});
    network.set_latency(650ms);
    loop.run_for(30s);
    EXPECT_NE(program->held.state(), lock_state::lost) << "0.43 of the ttl";
    network.set_latency(950ms);
    loop.run_for(30s);
    EXPECT_EQ(program->held.state(), lock_state::lost);
}

//   P holds the lock | the server is silent for longer than the lease: up to four renewals lie in
//   its socket | P is told before the deadline | the server goes on and extends the hold that
//   nobody has; P's release ends it
TEST_P(FarServer, AnOutageThatIsLongerThanTheLeaseIsALoss) {
    start();
    network.freeze();
    loop.run_for(3s);
    EXPECT_EQ(program->held.state(), lock_state::lost);
    EXPECT_EQ(program->held.why_lost(), loss_reason::expired);
    network.thaw();
    loop.run_for(1s);
    EXPECT_TRUE(is_free());
}

//   P holds the lock, and two renewals are under way | P releases: the release is behind them |
//   none of their answers is a loss, no renewal follows, and the lock is free
TEST_P(FarServer, NothingFollowsARelease) {
    start();
    network.set_latency(950ms);
    const command_counter renewals(network, is_renewal);
    loop.run_for(2500ms);
    std::optional<release_result> result;
    program->process.post([&] {
        program->held.async_release(
            program->run_in_process([&](release_result released) { result = released; }));
    });
    loop.run_for(1s);
    const auto executed = renewals.count();
    loop.run_for(10s);
    EXPECT_TRUE(result) << "the answer may come after the lease: then it is unknown";
    EXPECT_TRUE(is_free());
    EXPECT_EQ(program->held.state(), lock_state::released);
    EXPECT_EQ(renewals.count(), executed) << "a renewal came after the release";
}

//   P holds the lock, and two renewals are under way | an operator takes the lock away | the second
//   renewal is refused: P is told
TEST_P(FarServer, ARefusalOfARenewalInFlightIsALoss) {
    start();
    network.set_latency(950ms);
    loop.run_for(1500ms);
    network.change_data([](simulated_redis& server) { server.flush_all(); });
    loop.run_for(2500ms);
    EXPECT_EQ(program->held.state(), lock_state::lost);
}

// A and B are far from the server: a round trip takes 1.1 s. A: holds the lock, ttl 3 s; B: waits |
// A: releases, the server gives the lock to B for the claim window | the message takes 0.55 s to B,
// and B's renewal 1.1 s: more than the usual window of 1.2 s. The window follows the round trips
// that B has measured.
TEST(FarWaiter, ClaimsItsGrantInTime) {
    scheduler loop;
    prng random{1};
    simulated_network network{loop, random.fork(), network_faults{}};
    network.set_latency(550ms);
    const redis::options options;
    single_user a{loop, network, options, random.fork()}, b{loop, network, options, random.fork()};
    a.acquire({.ttl = 3s});
    loop.run_for(10s);
    ASSERT_TRUE(a.held.owns_lock());
    b.acquire({.ttl = 3s});
    loop.run_for(10s);
    ASSERT_TRUE(a.held.owns_lock());
    a.release();
    loop.run_for(30s);
    EXPECT_EQ(b.held.state(), lock_state::held);
    a.close();
    b.close();
    loop.run_for(60s);
}

INSTANTIATE_TEST_SUITE_P(Each, FarServer,
                         testing::Values(far_case{.label = "Writer"},
                                         far_case{.label = "Reader", .mode = lock_mode::shared},
                                         far_case{.label = "Redisson",
                                                  .layout = redis::key_layout::redisson},
                                         far_case{.label = "RedissonReader",
                                                  .layout = redis::key_layout::redisson,
                                                  .mode = lock_mode::shared},
                                         far_case{.label = "Scriptless", .has_scripts = false}),
                         [](const auto& test) { return test.param.label; });

// A renewal to one server is one round trip, also if the server does not know its script.
class FirstRenewal : public testing::TestWithParam<lock_mode> {};

//   P: acquires the lock, ttl 3 s, from a server that knows no script; a round trip takes 1.1 s,
//   and this acquire needs two | the server executes the second request only, so the lease counts
//   from there | the first renewal is answered in time only if one round trip suffices
TEST_P(FirstRenewal, MayTakeMoreThanAThirdOfTheTtl) {
    scheduler loop;
    prng random{1};
    simulated_network network{loop, random.fork(),
                              network_faults{.latency_low = 550ms, .latency_high = 550ms}};
    const redis::options options;
    single_user program{loop, network, options, random.fork()};
    program.acquire({.ttl = 3s, .mode = GetParam()});
    loop.run_for(20s);
    ASSERT_TRUE(program.held.owns_lock());
    loop.run_for(30s);
    EXPECT_EQ(program.held.state(), lock_state::held);
    program.close();
    loop.run_for(20s);
}

INSTANTIATE_TEST_SUITE_P(Each, FirstRenewal,
                         testing::Values(lock_mode::exclusive, lock_mode::shared),
                         [](const auto& test) {
                             return test.param == lock_mode::shared ? "Reader" : "Writer";
                         });

}  // namespace
}  // namespace pawl::simulation
