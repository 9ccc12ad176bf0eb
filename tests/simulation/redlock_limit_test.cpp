// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// An attempt over several nodes ends within the limit of its caller, which its error names.
#include "services/redlock/redlock_programs.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace pawl::simulation {
namespace {

using namespace std::chrono_literals;

class RedlockLimit : public testing::Test {
protected:
    static constexpr auto limit = 100ms;

    void freeze(std::vector<std::size_t> nodes) {
        for (const auto node : nodes)
            set.networks[node]->freeze();
    }
    void connect() {
        set.acquire_and_wait(limited, {.ttl = 10s}, "other");
        set.loop.run_for(1s);
    }
    static void expect_end(redlock_programs& programs, const redlock_programs::request& made,
                           instant longest) {
        const auto began = programs.loop.now();
        ASSERT_TRUE(programs.run_until([&] { return made.outcome.has_value(); }));
        EXPECT_LE(programs.loop.now() - began, longest + 1ms);
    }
    // The request fails within this time with an error that names its limit and a node.
    void expect_failure(redlock_programs::request& made, instant longest, std::string_view named) {
        expect_end(set, made, longest);
        EXPECT_TRUE(made.has_failed_with(errc::no_quorum)) << made.outcome->message();
        const std::string text(made.messages.message());
        EXPECT_NE(text.find(named), std::string::npos) << text;
        EXPECT_NE(text.find("node1"), std::string::npos) << text;
    }
    // The frozen nodes execute the requests later, and keep nothing of them.
    void expect_undone() {
        for (auto* const each : set.networks)
            each->thaw();
        set.loop.run_for(1s);
        EXPECT_EQ(set.count_of(), 0U);
    }

    redlock_programs set{3, 0, {}};
    redlock_programs::program& limited = set.add_program(limit);
};

TEST_F(RedlockLimit, EndsATry) {
    connect();
    freeze({0, 1});
    for (int i = 0; i < 2; ++i)
        expect_failure(set.try_acquire(limited, {.ttl = 10s}), limit, "100 ms (try_limit)");
    expect_undone();
}

TEST_F(RedlockLimit, EndsATryThatConnects) {
    freeze({0, 1});
    expect_failure(set.try_acquire(limited, {.ttl = 10s}), limit, "100 ms (try_limit)");
    expect_undone();
}

//   two of three nodes are silent while P connects | one of them answers for a moment, so that P
//   asks the nodes for the lock, and falls silent again | the time to connect counts
TEST_F(RedlockLimit, CountsFromBeforeTheConnection) {
    freeze({0, 1});
    auto& slow = set.add_program(300ms);
    auto& tried = set.try_acquire(slow, {.ttl = 10s});
    set.loop.run_for(60ms);
    set.networks[0]->thaw();
    set.loop.run_for(40ms);
    freeze({0});
    expect_failure(tried, 200ms, "300 ms (try_limit)");
    expect_undone();
}

//   one of three nodes never answers | P connects to the others, and still has time for its try
TEST_F(RedlockLimit, LeavesTimeForTheTryThatConnects) {
    freeze({1});
    auto& tried = set.try_acquire(limited, {.ttl = 10s});
    expect_end(set, tried, limit);
    EXPECT_TRUE(tried.lock.owns_lock()) << tried.messages.message();
}

TEST_F(RedlockLimit, EndsAShortWait) {
    connect();
    freeze({0, 1});
    auto& waited = set.acquire(limited, {.ttl = 10s, .wait = 50ms});
    expect_failure(waited, 350ms, "The wait was 50 ms.");
    expect_undone();
}

TEST_F(RedlockLimit, EndsARequestForSeveralLocks) {
    connect();
    freeze({0, 1});
    redlock_programs::request tried, waited;
    limited.process.post([&] {
        const auto names = std::vector<std::string>{"it", "that"};
        const auto store_in = [&](redlock_programs::request& made) {
            return limited.run_in_process([&made](const boost::system::error_code& ec,
                                                  const held_locks&) { made.outcome = ec; });
        };
        limited.locks->async_try_acquire_all(names, {.ttl = 10s},
                                             redirect_diagnostics(store_in(tried), tried.messages));
        limited.locks->async_acquire_all(names, {.ttl = 10s, .wait = 50ms},
                                         redirect_diagnostics(store_in(waited), waited.messages));
    });
    expect_failure(tried, limit, "100 ms (try_limit)");
    expect_failure(waited, 350ms - limit, "The wait was 50 ms.");
    expect_undone();
    EXPECT_EQ(set.count_of("that"), 0U);
}

//   two clients have two nodes each, and the fifth is down | P contends for them until its limit,
//   and its last answers come in time
TEST_F(RedlockLimit, EndsTheContentionForSplitNodes) {
    for (const auto round_trip : {2ms, 10ms, 30ms}) {
        redlock_programs split(5, 1,
                               {.latency_low = round_trip / 2, .latency_high = round_trip / 2});
        auto& contender = split.add_program(100ms);
        auto& held = split.acquire(contender, {.ttl = 10s}, "other");
        ASSERT_TRUE(split.run_until([&] { return held.outcome.has_value(); }));
        for (const std::size_t node : {0U, 1U, 2U, 3U})
            split.networks[node]->change_data([&](simulated_redis& server) {
                // P's try comes before them.
                const std::string owner(32, node < 2 ? 'f' : 'e');
                (void)server.execute(
                    0, {"SET", "pawl:{it}", owner + ";0000000000000001;1;h;c;1;1", "PX", "60000"});
            });
        split.networks[4]->stop_server();
        split.loop.run_for(1s);
        for (int i = 0; i < 5; ++i) {
            auto& tried = split.try_acquire(contender, {.ttl = 10s});
            expect_end(split, tried, 100ms);
            const std::string text(tried.messages.message());
            EXPECT_NE(text.find("attempts split the nodes"), std::string::npos) << text;
        }
    }
}

}  // namespace
}  // namespace pawl::simulation
