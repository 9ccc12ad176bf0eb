// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One connection carries everything: requests at once, in pieces, in vain, or too late.
#include "redis_fixture.hpp"

#include <pawl/client.hpp>
#include <redis_scripts.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>

namespace {

using namespace chaos;
namespace asio = boost::asio;
namespace scripts = pawl::redis::scripts;
using boost::system::error_code;

class Pipeline : public testing::Test, protected redis_fixture {
protected:
    // The results of the calls of `start_acquire`, each of which acquires and releases a lock.
    struct pipeline_run {
        std::size_t acquired = 0;
        std::size_t released = 0;
        std::size_t failed = 0;
    };
    static void start_acquire(pipeline_run& all, pawl::client& locks, const std::string& name) {
        locks.async_acquire(name, {.ttl = long_ttl, .wait = patience},
                            [&all, name](error_code ec, pawl::held_lock lock) {
                                if (ec || lock.name() != name) {
                                    ++all.failed;
                                    return;
                                }
                                ++all.acquired;
                                lock.async_release([&all](release_result release_outcome) {
                                    if (release_outcome == release_result::released) ++all.released;
                                });
                            });
    }
    template <class Condition>
    static void run_until(asio::io_context& loop, Condition reached) {
        const auto end = boot_clock::now() + patience;
        while (!reached() && boot_clock::now() < end)
            loop.run_one_for(10ms);
        EXPECT_TRUE(reached());
    }
};

TEST_F(Pipeline, EveryAnswerGoesToItsQuestion) {
    asio::io_context loop;
    pawl::client locks(loop.get_executor(), pawl::from_url(server.url()));
    pipeline_run all;
    for (auto i = 0; i < 1000; ++i)
        start_acquire(all, locks, "it/" + std::to_string(i));
    run_until(loop, [&] { return all.released + all.failed == 1000; });
    EXPECT_EQ(all.acquired, 1000u);
    EXPECT_EQ(all.released, 1000u);
    EXPECT_TRUE(becomes_clean());
}

// More than the sockets' buffers hold, to a server that does not read yet.
TEST_F(Pipeline, WhatDoesNotFitIsSentLater) {
    asio::io_context loop;
    pawl::client locks(loop.get_executor(), pawl::from_url(server.url("?reply_timeout=30000")));
    pipeline_run all;
    start_acquire(all, locks, "first");
    run_until(loop, [&] { return all.released == 1; });
    server.freeze();
    constexpr std::size_t many = 5000;
    for (std::size_t i = 0; i < many; ++i)
        start_acquire(all, locks, std::string(480, 'x') + std::to_string(i));
    loop.poll();
    server.thaw();
    run_until(loop, [&] { return all.released + all.failed == many + 1; });
    EXPECT_EQ(all.released, many + 1);
    EXPECT_TRUE(becomes_clean());
}

// A reply of some hundred kilobytes, which comes in many pieces.
TEST_F(Pipeline, ALongAnswerIsReadToItsEnd) {
    client locks = direct_client();
    for (auto i = 0; i < 1500; ++i)
        server.execute(
            {"SET", "pawl:{" + std::string(200, 'y') + std::to_string(i) + "}", "owner"});
    EXPECT_EQ(locks.list("").size(), 1500u);
}

// acquire(a) … its reply is held back … cancelled … acquire(b) … both replies arrive
TEST_F(Pipeline, TheAnswerToACancelledQuestionIsNobodyElses) {
    asio::io_context loop;
    pawl::client locks(loop.get_executor(), pawl::from_url(proxy.url()));
    pipeline_run all;
    start_acquire(all, locks, "first");
    run_until(loop, [&] { return all.released == 1; });
    proxy.inject({.matches = named("EVALSHA"), .kind = fault_kind::delay_reply, .delay = 300ms});
    asio::cancellation_signal stop;
    error_code ended;
    auto given_up = [&ended](error_code ec, pawl::held_lock) { ended = ec; };
    locks.async_acquire("a", {.ttl = long_ttl, .wait = patience},
                        asio::bind_cancellation_slot(stop.slot(), std::move(given_up)));
    const auto acquires = script(scripts::acquire);
    run_until(loop, [&] { return proxy.count(acquires) >= 2; });
    start_acquire(all, locks, "b");
    stop.emit(asio::cancellation_type::terminal);
    run_until(loop, [&] { return ended && all.released == 2; });
    EXPECT_EQ(ended, asio::error::operation_aborted);
    EXPECT_EQ(all.failed, 0u);
    run_until(loop, [&] { return leftovers().empty(); });
}

// Nothing is left for the sanitizer to report, whatever was still waiting.
TEST_F(Pipeline, AnEventLoopMayEndWhileQuestionsWait) {
    auto reply_count = 0;
    {
        asio::io_context loop;
        pawl::client locks(loop.get_executor(), pawl::from_url(proxy.url()));
        proxy.inject({.matches = script(scripts::acquire), .kind = fault_kind::swallow});
        for (const std::string name : {"a", "a", "b"})
            locks.async_acquire(name, {.ttl = 2s, .wait = patience},
                                [&reply_count](error_code, pawl::held_lock) { ++reply_count; });
        run_until(loop, [&] { return proxy.count(script(scripts::acquire)) >= 1; });
    }
    EXPECT_EQ(reply_count, 0);
    proxy.heal();
}

}  // namespace
