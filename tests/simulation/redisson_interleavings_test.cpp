// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One interleaving each of a program with Pawl and the scripts of a Java program.
#include "java/java_scripts.hpp"
#include "server/known_scripts.hpp"
#include "server/replies.hpp"
#include "server/simulated_redis.hpp"
#include "world/simulated_program.hpp"

#include <boost/asio/bind_executor.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::simulation {

namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

redis::options redisson_options() {
    redis::options result;
    result.layout = redis::key_layout::redisson;
    return result;
}

// The owners of Pawl's requests for permits, in the order of their execution.
class request_log final : public simulated_network::observer {
public:
    void on_executed(simulated_network& /*server*/, simulated_process& process,
                     const words& command, const redis::reply& reply) override {
        const auto* const script =
            command[0].starts_with("EVAL") ? find_script(command[1]) : nullptr;
        if (script == nullptr || script->name != "redisson/permits_acquire") return;
        if (reply.text.starts_with("NOSCRIPT")) return;
        owners.push_back(command[3 + std::stoul(command[2])]);
        times.push_back(process.loop().now());
    }
    [[nodiscard]] auto count_since(instant when) const {
        return std::ranges::count_if(times, [when](instant each) { return each >= when; });
    }
    std::vector<std::string> owners;
    std::vector<instant> times;
};

class RedissonInterleavings : public testing::Test {
protected:
    RedissonInterleavings() { network_.set_observer(&log_); }
    ~RedissonInterleavings() override {
        pawl_.process.post([this] {
            held_ = {};
            pawl_.locks.reset();
        });
        loop_.run_for(60s);
    }

    redis::reply run_java(java_script script, const words& keys, const words& arguments) {
        words command{"EVAL", text_of(script), std::to_string(keys.size())};
        command.insert(command.end(), keys.begin(), keys.end());
        command.insert(command.end(), arguments.begin(), arguments.end());
        redis::reply reply;
        network_.change_data([&](simulated_redis& server) { reply = server.execute(0, command); });
        return reply;
    }
    // RPermitExpirableSemaphore.acquire(), which has no lease, and release().
    bool acquire_java_permit(const std::string& id) {
        const auto reply = run_java(java_script::permits_acquire, {"s", "{s}:timeout", channel},
                                    {"1", never_ms, now_ms(), never_ms, publish_command_, id});
        return reply.text == "OK";
    }
    void release_java_permit(const std::string& id) {
        run_java(java_script::permits_release, {"s", channel, "{s}:timeout"},
                 {id, "1", now_ms(), publish_command_});
    }
    void acquire(const lock_options& options) {
        pawl_.process.post([this, options] {
            pawl_.locks->async_acquire(
                "s", options,
                asio::bind_executor(pawl_.process.get_executor(),
                                    [this](const boost::system::error_code& ec, held_lock lock) {
                                        outcome_ = ec;
                                        held_ = std::move(lock);
                                    }));
        });
    }
    [[nodiscard]] std::int64_t subscribers(const std::string& count_command) {
        return network_.server().execute(0, {"PUBSUB", count_command, channel}).items[1].number;
    }
    [[nodiscard]] std::string now_ms() const { return std::to_string(network_.wall_us() / 1000); }

    static constexpr auto never_ms = "922337203685477";
    static constexpr auto channel = "redisson_sc:{s}";
    request_log log_;
    scheduler loop_;
    prng random_{1};
    simulated_network network_{loop_, random_.fork(), network_faults{}};
    single_client_process pawl_{loop_, network_, redisson_options(), random_.fork()};
    std::string publish_command_ = "PUBLISH";  // Java's
    std::optional<boost::system::error_code> outcome_;
    held_lock held_;
};

constexpr lock_options one_of_two{
    .ttl = 1s, .mode = lock_mode::permits, .permits = 1, .total_permits = 2};

// Java: acquire() takes both permits without a lease. Pawl: acquire waits, and no lease's end can
// wake it. A day later Java releases one of them: Pawl must get that one at once, and the other
// must still be lent.
TEST_F(RedissonInterleavings, APermitWithoutALeaseIsLentUntilItsRelease) {
    run_java(java_script::permits_try_set, {"s", channel}, {"2", publish_command_});
    ASSERT_TRUE(acquire_java_permit("java's permit 01"));
    ASSERT_TRUE(acquire_java_permit("java's permit 02"));
    acquire(one_of_two);
    loop_.run_for(1s);
    network_.jump_clock(24h / 1us);
    loop_.run_for(5s);
    EXPECT_FALSE(outcome_);
    release_java_permit("java's permit 01");
    loop_.run_for(20ms);
    ASSERT_TRUE(outcome_);
    EXPECT_TRUE(held_);
    EXPECT_FALSE(acquire_java_permit("java's permit 03"));
    EXPECT_EQ(network_.server().data().text_of("s"), "0");
}

// A node of a cluster with sharded channels. Pawl waits for the permit that Java has | its
// connection breaks, and the new one must subscribe with SSUBSCRIBE, too | Java's release is a
// SPUBLISH: Pawl must get the permit at once, not with its next check.
TEST_F(RedissonInterleavings, OnANodeOfAClusterAReleaseReachesAWaiterThatReconnected) {
    network_.server().join_cluster();
    publish_command_ = "SPUBLISH";
    run_java(java_script::permits_try_set, {"s", channel}, {"1", publish_command_});
    ASSERT_TRUE(acquire_java_permit("java's permit 01"));
    acquire({.ttl = 1s, .mode = lock_mode::permits, .permits = 1, .total_permits = 1});
    loop_.run_for(100ms);
    EXPECT_EQ(subscribers("SHARDNUMSUB"), 1);
    EXPECT_EQ(subscribers("NUMSUB"), 0);
    network_.break_all(pawl_.process);
    loop_.run_for(100ms);
    release_java_permit("java's permit 01");
    loop_.run_for(20ms);
    ASSERT_TRUE(outcome_);
    EXPECT_TRUE(held_);
}

// Pawl sends a request | the connection breaks | the server executes the request: it grants a
// permit to an owner that no user has. The next request must have another owner, or the undo of the
// first would end its hold, too (I9).
TEST_F(RedissonInterleavings, AnOwnerIsNotUsedAgainAfterALostReply) {
    acquire(one_of_two);
    loop_.run_for(100ms);
    ASSERT_TRUE(held_);
    pawl_.process.post([this] { held_ = {}; });
    loop_.run_for(100ms);
    network_.freeze();
    outcome_.reset();
    acquire(one_of_two);
    loop_.run_for(10ms);
    network_.break_all(pawl_.process);
    network_.thaw();
    loop_.run_for(3s);
    ASSERT_TRUE(held_);
    ASSERT_EQ(log_.owners.size(), 3U);
    EXPECT_NE(log_.owners[1], log_.owners[2]);
    EXPECT_EQ(network_.server().data().text_of("s"), "1") << "the first grant was undone";
}

// The server refuses every script for 20 s: a waiter's attempts must become rarer (I10). Then it
// executes scripts again, and the waiter gets its permit.
TEST_F(RedissonInterleavings, ARefusedWaiterAsksMoreAndMoreRarely) {
    network_.refuse("OOM command not allowed when used memory > 'maxmemory'.", true);
    acquire(one_of_two);
    loop_.run_for(1s);
    EXPECT_LE(log_.times.size(), 7U);
    loop_.run_for(14s);
    const auto later = loop_.now();
    loop_.run_for(5s);
    EXPECT_LE(log_.count_since(later), 5);
    EXPECT_GE(log_.count_since(later), 2);
    EXPECT_FALSE(outcome_);
    network_.refuse({}, false);
    loop_.run_for(3s);
    EXPECT_TRUE(held_);
}

std::string text_of_script(std::string_view name) {
    const auto script = std::ranges::find(known_scripts(), name, &known_script::name);
    return std::string(script->code->text);
}

class NewSemaphore : public testing::TestWithParam<const char*> {};

// Java: acquire() finds no number of permits, subscribes, tries again and sleeps without a limit.
// Pawl: acquire with a total sets the number, and takes one of three permits.
TEST_P(NewSemaphore, IsAnnouncedToWaiters) {
    constexpr simulated_redis::connection java = 1, pawl = 2;
    std::vector<words> pushes;
    simulated_redis server(
        [&](simulated_redis::connection to, words message) {
            if (to == java && message.at(0) == "message") pushes.push_back(std::move(message));
        },
        injected_bug::none);
    server.set_clock(1'900'000'000'000'000);
    static_cast<void>(server.execute(java, {"SUBSCRIBE", "redisson_sc:{s}"}));
    const words acquire{
        "EVAL",    text_of_script(GetParam()), "2", "s", "other", "123456789012", "1000",
        "PUBLISH", "redisson_sc:{s}",          "1", "3"};
    EXPECT_EQ(to_string(server.execute(pawl, acquire)), "[1, 0]");
    EXPECT_EQ(pushes, (std::vector<words>{{"message", "redisson_sc:{s}", "3"}}));
    pushes.clear();
    static_cast<void>(server.execute(pawl, acquire));
    EXPECT_EQ(pushes, std::vector<words>());
}

INSTANTIATE_TEST_SUITE_P(Each, NewSemaphore,
                         testing::Values("redisson/permits_acquire", "redisson/semaphore_acquire"),
                         [](const auto& test) {
                             const std::string_view script(test.param);
                             return std::string(script.substr(script.find('/') + 1));
                         });

}  // namespace

}  // namespace pawl::simulation
