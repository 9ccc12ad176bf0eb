// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A reachable server refuses every request for longer than any pause, in virtual time.
#include "server/refusals.hpp"
#include "world/simulated_program.hpp"

#include <redis_scripts.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace pawl::simulation {
namespace {

using namespace std::chrono_literals;

// A script that the server received.
struct seen_request {
    instant received_at{};
    std::string script, first_argument;
    bool refused = false;
};

class refusal_scenario : public simulated_network::observer {
public:
    explicit refusal_scenario(network_faults faults = {})
        : random_(1), network_(loop_, random_.fork(), faults) {
        network_.set_observer(this);
    }
    ~refusal_scenario() override {
        for (auto& each : users_)
            each->close();
        pass_time(10s);
    }
    refusal_scenario(const refusal_scenario&) = delete;
    refusal_scenario& operator=(const refusal_scenario&) = delete;

    single_user& add(const redis::limits& limits = {}) {
        users_.push_back(
            std::make_unique<single_user>(loop_, network_, options_, random_.fork(), limits));
        return *users_.back();
    }
    void pass_time(instant period) { loop_.run_for(period); }
    void refuse(const refusal& refusal) {
        network_.refuse(std::string(refusal.error), refusal.at_once);
    }
    void accept() { network_.refuse({}, false); }
    [[nodiscard]] instant now() const { return loop_.now(); }
    [[nodiscard]] simulated_network& network() noexcept { return network_; }
    [[nodiscard]] std::string value_of(const std::string& name) {
        return network_.server().data().text_of("pawl:{" + name + "}");
    }
    // The number of refused requests in each second since `begin`.
    [[nodiscard]] std::vector<int> refused_since(instant begin) const {
        std::vector<int> counts;
        for (const auto& each : requests) {
            if (!each.refused || each.received_at < begin) continue;
            const auto second = static_cast<std::size_t>((each.received_at - begin) / 1s);
            counts.resize(std::max(counts.size(), second + 1));
            ++counts[second];
        }
        return counts;
    }
    [[nodiscard]] long count(const std::string& script) const {
        return std::ranges::count(requests, script, &seen_request::script);
    }

    std::vector<seen_request> requests;

private:
    void on_executed(simulated_network& /*server*/, simulated_process& /*process*/,
                     const words& command, const redis::reply& reply) override {
        if (command[0] != "EVALSHA" && command[0] != "EVAL") return;
        const bool error = reply.type == redis::reply::kind::error;
        if (error && reply.text.starts_with("NOSCRIPT")) return;
        const auto script = std::ranges::find_if(redis::scripts::all, [&](const auto& each) {
            return command[1] == each.sha1 || command[1] == each.text;
        });
        const auto first = 3 + std::stoul(command[2]);
        requests.push_back({loop_.now(), std::string(script->name),
                            first < command.size() ? command[first] : "", error});
    }

    scheduler loop_;
    prng random_;
    simulated_network network_;
    const redis::options options_;
    std::vector<std::unique_ptr<single_user>> users_;
};

class Refusals : public testing::TestWithParam<refusal>, protected refusal_scenario {};

//   0 s    A waits with a ttl of a minute, and the server refuses attempt after attempt
//   45 s   the server accepts: A holds the lock
//   …      no earlier request of A may end the hold: the server refused each attempt explicitly, so
//          there is nothing to undo, and none of them had the owner of A's hold
TEST_P(Refusals, LeaveNothingBehindThatGivesALiveLockAway) {
    refuse(GetParam());
    auto& a = add();
    auto& b = add();
    a.acquire({.ttl = 60s}, "it");
    pass_time(45s);
    EXPECT_FALSE(a.held);
    accept();
    pass_time(3s);
    ASSERT_TRUE(a.held);
    EXPECT_EQ(count("leave"), 0);
    b.acquire({.ttl = 60s}, "it");
    const auto value = value_of("it");
    for (int second = 0; second < 150; ++second) {
        pass_time(1s);
        ASSERT_EQ(value_of("it"), value) << "after " << second << " s";
    }
    EXPECT_EQ(a.held.state(), lock_state::held);
    EXPECT_FALSE(b.held);
    std::set<std::string> owners;
    for (const auto& each : requests) {
        if (each.script != "acquire") continue;
        EXPECT_TRUE(owners.insert(each.first_argument.substr(0, 32)).second);
    }
    (void)a.release();
    pass_time(100ms);
    EXPECT_TRUE(b.held);
}

// A minute of refusals: a few requests in the first second, then about one per second.
TEST_P(Refusals, AreAskedForLessAndLess) {
    auto& a = add();
    refuse(GetParam());
    const auto begin = now();
    a.acquire({}, "it");
    pass_time(60s);
    const auto refused = refused_since(begin);
    ASSERT_GE(refused.size(), 55U);
    EXPECT_LE(refused[0], 6);
    for (std::size_t second = 4; second < refused.size(); ++second)
        EXPECT_LE(refused[second], 2) << "in second " << second;
    EXPECT_LE(std::accumulate(refused.begin(), refused.end(), 0), 60);
    accept();
    pass_time(2s);
    EXPECT_TRUE(a.held);
}

// The limits of the test above also apply to a queued waiter, to a holder's release, and to undos.
TEST_P(Refusals, AreBearableForAllThatGoesOn) {
    auto& holder = add();
    auto& waiter = add();
    holder.acquire({.ttl = 30s}, "it");
    pass_time(100ms);
    waiter.acquire({.ttl = 30s}, "it");
    pass_time(100ms);
    ASSERT_TRUE(holder.held);
    refuse(GetParam());
    const auto begin = now();
    (void)holder.release();
    pass_time(25s);
    if (GetParam().error.starts_with("OOM")) {
        // Neither a release nor the grant to the next waiter needs memory.
        EXPECT_TRUE(waiter.held);
        return;
    }
    const auto refused = refused_since(begin);
    ASSERT_FALSE(refused.empty());
    EXPECT_LE(refused[0], 12);
    for (std::size_t second = 5; second < refused.size(); ++second)
        EXPECT_LE(refused[second], 4) << "in second " << second;
    EXPECT_FALSE(waiter.held);
    accept();
    pass_time(5s);
    EXPECT_TRUE(waiter.held);
}

//   The server is frozen while A requests twelve locks and gives up, so twelve undos are pending.
//   Then the server continues and refuses all of them. A tries one at a time, less and less often.
//   When the server accepts requests again, A sends all of them.
TEST_P(Refusals, HoldUpAllUndosTogether) {
    auto& a = add();
    a.acquire({}, "warm");
    pass_time(100ms);
    (void)a.release();
    pass_time(100ms);
    network().freeze();
    for (int i = 0; i < 12; ++i)
        a.acquire({.ttl = 60s, .wait = 1ms}, "lock" + std::to_string(i));
    pass_time(1s);
    refuse(GetParam());
    network().thaw();
    const auto begin = now();
    pass_time(30s);
    const auto refused = refused_since(begin);
    if (GetParam().error.starts_with("OOM")) {
        // An undo needs no memory, so all of them succeed at once.
        EXPECT_LE(refused.size(), 1U);
        for (int i = 0; i < 12; ++i)
            EXPECT_EQ(value_of("lock" + std::to_string(i)), "");
        return;
    }
    ASSERT_GE(refused.size(), 20U);
    EXPECT_GE(refused[0], 12);
    for (std::size_t second = 4; second < refused.size(); ++second)
        EXPECT_LE(refused[second], 2) << "in second " << second;
    accept();
    const auto before = count("leave");
    pass_time(5s);
    EXPECT_GE(count("leave") - before, 12);
}

INSTANTIATE_TEST_SUITE_P(OfAll, Refusals, testing::ValuesIn(refusals), [](const auto& test) {
    return std::string(test.param.error.substr(0, test.param.error.find(' ')));
});

// A frozen server: each request may have been executed and must be undone. The undo queue is full
// after two requests. Then the client refuses new requests.
TEST(UndoQueue, ThatIsFullHoldsUpNewRequests) {
    refusal_scenario scenario;
    redis::limits limits;
    limits.max_undos = 2;
    auto& a = scenario.add(limits);
    a.acquire({}, "first");
    scenario.pass_time(100ms);
    ASSERT_TRUE(a.held);
    scenario.requests.clear();
    scenario.network().freeze();
    for (const auto* name : {"one", "two"})
        a.acquire({.wait = 1ms}, name);
    scenario.pass_time(1s);
    EXPECT_EQ(a.failure, make_error_code(errc::unreachable));
    a.acquire({.wait = 1ms}, "three");
    scenario.pass_time(1s);
    EXPECT_EQ(a.failure, make_error_code(errc::unavailable));
    scenario.network().thaw();
    scenario.pass_time(5s);
    for (const auto* name : {"one", "two", "three"})
        EXPECT_EQ(scenario.value_of(name), "");
    a.acquire({}, "three");
    scenario.pass_time(3s);
    EXPECT_EQ(a.failure, boost::system::error_code());
    EXPECT_NE(scenario.value_of("three"), "");
}

//   A requests the lock and its connection breaks; the network keeps the request | A undoes it
//   three times over another connection | seconds later the network delivers the request: no user
//   has the lock, and another undo must free it long before its lease of a minute ends
TEST(UndoQueue, FreesWhatTheNetworkDeliversAfterTheFirstUndos) {
    network_faults slow;
    slow.latency_low = slow.latency_high = 1ms;
    slow.late_delivery = 1;
    slow.longest_late_delay = 12s;
    refusal_scenario scenario(slow);
    auto& a = scenario.add();
    instant latest{};
    for (int i = 0; i < 10; ++i) {
        const auto name = "lock" + std::to_string(i);
        a.acquire({}, "warm" + std::to_string(i));
        scenario.pass_time(10ms);
        (void)a.release();
        scenario.pass_time(10ms);
        scenario.requests.clear();
        const auto broken = scenario.now();
        a.acquire({.ttl = 60s, .wait = 1ms}, name);
        scenario.pass_time(500us);
        scenario.network().break_all(a.process);
        scenario.pass_time(25s);
        EXPECT_EQ(scenario.value_of(name), "") << name;
        for (const auto& each : scenario.requests)
            if (each.script == "acquire") latest = std::max(latest, each.received_at - broken);
        EXPECT_LE(scenario.count("leave"), 16) << name;
        EXPECT_GE(scenario.count("leave"), 4) << name;
    }
    EXPECT_GT(latest, 2s) << "no request was delivered late";
}

}  // namespace
}  // namespace pawl::simulation
