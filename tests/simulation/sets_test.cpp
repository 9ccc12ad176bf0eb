// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Several locks or none, if a reply is late, lost or never arrives. The simulation found these
// interleavings; here they are tested step by step.
#include "world/simulated_program.hpp"

#include <pawl/error.hpp>
#include <redis/common/keys.hpp>
#include <redis_scripts.hpp>

#include <boost/asio/bind_executor.hpp>

#include <gtest/gtest.h>

#include <functional>

namespace pawl::simulation {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

struct set_result {
    bool completed = false;
    boost::system::error_code ec;
    held_locks locks;
    instant completed_at{};
};

class Sets : public testing::Test, protected simulated_network::observer {
protected:
    Sets() { network.set_observer(this); }

    void TearDown() override {
        network.set_observer(nullptr);
        for (auto* each : {&first_result, &second_result, &third_result})
            each->locks = {};
        for (auto* each : {&first_program, &second_program})
            each->process.post([each] { each->locks.reset(); });
        loop.run_ready();
        const auto limit = loop.now() + 48h;
        while (loop.next_event_at() <= limit && loop.step()) {}
        EXPECT_TRUE(loop.is_idle());
    }

    void on_executed(simulated_network& /*server*/, [[maybe_unused]] simulated_process& process,
                     const words& command, [[maybe_unused]] const redis::reply& reply) override {
        for (const auto& each : redis::scripts::all)
            if (command.size() > 1 && (command[1] == each.sha1 || command[1] == each.text) &&
                reply.type != redis::reply::kind::error && each.name == awaited_script)
                std::exchange(after_execution, [] {})();
    }
    // The work runs right after the execution of the script, before its reply is sent.
    void after_script(std::string_view script, std::function<void()> work) {
        awaited_script = script;
        after_execution = std::move(work);
    }

    void start_acquire(single_client_process& program, std::vector<std::string> names,
                       const lock_options& options, set_result& result) {
        auto handler = [&result, this](const boost::system::error_code& ec, held_locks locks) {
            result = {true, ec, std::move(locks), loop.now()};
        };
        program.locks->async_acquire_all(
            std::move(names), options,
            asio::bind_executor(program.process.get_executor(), handler));
    }
    // Connects the program; afterwards the server also knows the scripts.
    void connect(single_client_process& program) {
        start_acquire(program, {"y", "z"}, {}, first_result);
        ASSERT_TRUE(completes_within(first_result, 1s));
        first_result = {};
        loop.run_for(100ms);
    }
    bool completes_within(const set_result& result, instant within) {
        const auto until = loop.now() + within;
        loop.run_ready();
        while (!result.completed && loop.next_event_at() <= until && loop.step()) {}
        return result.completed;
    }
    bool is_free(const std::string& name) {
        const redis::key_scheme scheme(service_options.name_space, service_options.key);
        return network.server().data().find(scheme.keys_of(name).lock()) == nullptr;
    }

    scheduler loop;
    simulated_network network{loop, prng(1), {}};
    redis::options service_options;  // a reply may take 5 s
    single_client_process first_program{loop, network, service_options, prng(2)},
        second_program{loop, network, service_options, prng(3)};
    // Members, so that late completions find them.
    set_result first_result, second_result, third_result;
    std::string_view awaited_script;
    std::function<void()> after_execution = [] {};
};

// 1. The server is frozen. 2. A requests a and b, for 100 ms at most. Without a reply, the request
// ends after that time, not when the server is considered dead. 3. The server continues and
// executes the request. No lock may remain.
TEST_F(Sets, SilenceIsNotWaitedForBeyondTheWait) {
    connect(first_program);
    network.freeze();
    const auto started_at = loop.now();
    start_acquire(first_program, {"a", "b"}, {.ttl = 60s, .wait = 100ms}, first_result);
    ASSERT_TRUE(completes_within(first_result, 20s));
    EXPECT_EQ(first_result.ec, make_error_code(errc::unreachable));
    EXPECT_LE(first_result.completed_at - started_at, 500ms);
    network.thaw();
    loop.run_for(1s);
    EXPECT_TRUE(is_free("a") && is_free("b"));
}

// 1. The server grants a and b to A for 60 ms. 2. The reply takes 80 ms, so others may hold both by
// then. A must not get the set.
TEST_F(Sets, AnAnswerThatComesTooLateIsALoss) {
    connect(first_program);
    after_script("acquire_batch", [this] {
        network.cut_off(first_program.process);
        loop.schedule_after(80ms, [this] { network.reconnect(first_program.process); });
    });
    start_acquire(first_program, {"a", "b"}, {.ttl = 60ms, .wait = 10s}, first_result);
    ASSERT_TRUE(completes_within(first_result, 20s));
    EXPECT_EQ(first_result.ec, make_error_code(errc::lost));
    EXPECT_FALSE(first_result.locks);
    loop.run_for(1s);
    EXPECT_TRUE(is_free("a") && is_free("b"));
}

// 1. The server grants a and b to A for 2 s. 2. The reply comes just before the deadline, when the
// loss of both is reported already. A must not get a set that is lost at once.
TEST_F(Sets, AnAnswerAtTheEndOfTheLeasesIsALoss) {
    connect(first_program);
    after_script("acquire_batch", [this] {
        network.cut_off(first_program.process);
        loop.schedule_after(1965ms, [this] { network.reconnect(first_program.process); });
    });
    start_acquire(first_program, {"a", "b"}, {.ttl = 2s, .wait = 10s}, first_result);
    ASSERT_TRUE(completes_within(first_result, 20s));
    EXPECT_EQ(first_result.ec, make_error_code(errc::lost));
    EXPECT_FALSE(first_result.locks);
}

// 1. The server grants a and b to A. 2. The connection breaks and the reply is lost. 3. A requests
// one after the other. The first grants of both must have been undone, or A waits for itself until
// their leases end.
TEST_F(Sets, AnAnswerThatIsLostLeavesNoneOfThem) {
    connect(first_program);
    after_script("acquire_batch", [this] { network.break_all(first_program.process); });
    const auto started_at = loop.now();
    start_acquire(first_program, {"a", "b"}, {.ttl = 60s}, first_result);
    ASSERT_TRUE(completes_within(first_result, 70s));
    EXPECT_FALSE(first_result.ec);
    EXPECT_LE(first_result.completed_at - started_at, 3s);
    first_result.locks = {};
    loop.run_for(1s);
    EXPECT_TRUE(is_free("a") && is_free("b"));
}

// 1. B holds b. 2. A waits for 100 ms and is granted a; the reply takes 150 ms. 3. The server is
// frozen. A's time is over, and the request for b must not take longer than any other request.
TEST_F(Sets, TheLastQuestionIsNoLongerThanTheOthers) {
    connect(first_program);
    connect(second_program);
    start_acquire(second_program, {"b", "c"}, {.ttl = 60s}, second_result);
    ASSERT_TRUE(completes_within(second_result, 1s));
    after_script("acquire", [this] {
        network.cut_off(first_program.process);
        network.freeze();
        loop.schedule_after(150ms, [this] { network.reconnect(first_program.process); });
    });
    const auto started_at = loop.now();
    start_acquire(first_program, {"a", "b"}, {.ttl = 60s, .wait = 100ms}, first_result);
    ASSERT_TRUE(completes_within(first_result, 20s));
    EXPECT_EQ(first_result.ec, make_error_code(errc::unreachable));
    EXPECT_LE(first_result.completed_at - started_at, 1s);
    network.thaw();
    loop.run_for(5s);
    EXPECT_TRUE(is_free("a"));
}

// 1. A holds a and waits for b. 2. An operator takes a away. 3. b is granted: both or none, so
// none.
TEST_F(Sets, OneThatIsLostBeforeTheLastComesLeavesNone) {
    connect(first_program);
    connect(second_program);
    start_acquire(second_program, {"b", "c"}, {.ttl = 60s}, second_result);
    ASSERT_TRUE(completes_within(second_result, 1s));
    start_acquire(first_program, {"b", "a"}, {.ttl = 60s}, first_result);
    loop.run_for(100ms);
    EXPECT_FALSE(first_result.completed || is_free("a"));
    second_program.locks->async_force_release(
        "a", asio::bind_executor(second_program.process.get_executor(),
                                 [](const boost::system::error_code&, bool) {}));
    loop.run_for(100ms);
    second_result.locks = {};
    ASSERT_TRUE(completes_within(first_result, 1s));
    EXPECT_EQ(first_result.ec, make_error_code(errc::lost));
    loop.run_for(1s);
    EXPECT_TRUE(is_free("a") && is_free("b"));
}

// One program requests a, b, c and the other c, b, a. There is no deadlock, because both acquire
// the locks in the order of the names.
TEST_F(Sets, OppositeOrdersBothEnd) {
    start_acquire(first_program, {"a", "b", "c"}, {.ttl = 60s}, first_result);
    start_acquire(second_program, {"c", "b", "a"}, {.ttl = 60s}, second_result);
    start_acquire(first_program, {"b", "c"}, {.ttl = 60s}, third_result);
    for (int round = 0; round < 3; ++round) {
        loop.run_for(3s);
        for (auto* each : {&first_result, &second_result, &third_result})
            each->locks = {};
    }
    for (const auto* each : {&first_result, &second_result, &third_result})
        EXPECT_TRUE(each->completed && !each->ec);
}

}  // namespace
}  // namespace pawl::simulation
