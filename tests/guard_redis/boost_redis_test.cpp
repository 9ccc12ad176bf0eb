// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "redis_fixture.hpp"

#include <pawl/client.hpp>
#include <pawl/guard/async_counters.hpp>
#include <pawl/guard/async_redis_fence.hpp>
#include <pawl/guard/async_redis_once.hpp>
#include <pawl/guard/async_script.hpp>
#include <pawl/guard/boost_redis.hpp>
#include <pawl/guard/connection.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <support/eventually.hpp>

#include <exception>
#include <stdexcept>
#include <thread>

namespace {

using namespace guard_tests;
using namespace pawl::guard;
using boost::asio::awaitable;
using pawl::errc;

class BoostRedis : public redis_test {
protected:
    BoostRedis() {
        boost::redis::config config;
        config.addr.host = server.host();
        config.addr.port = std::to_string(server.port());
        link.async_run(config, boost::asio::detached);
    }
    // Runs the coroutine to its end.
    void run(awaitable<void> coroutine) {
        std::exception_ptr failure;
        boost::asio::co_spawn(context, std::move(coroutine), [&](std::exception_ptr ended) {
            failure = ended;
            context.stop();
        });
        context.restart();
        context.run();
        if (failure) std::rethrow_exception(failure);
    }
    errc failure_of(awaitable<void> coroutine) {
        return code_of([&] { run(std::move(coroutine)); });
    }

    boost::asio::io_context context;
    boost::redis::connection link{context, {boost::redis::logger::level::disabled}};
    boost_redis_connection view{link};
    async_counters stock{view};
};

awaitable<void> convert_replies(boost_redis_connection& view) {
    const std::string bytes("a\0b", 3);
    const redis_command set{"SET", "k", bytes}, get{"GET", "k"}, none{"GET", "none"};
    const redis_command incr{"INCR", "n"}, wrong{"INCR", "k"}, ping{"PING"};
    const redis_command table{"EVAL", "return {1, {'a', {}}, false}", "0"}, hash{"HGETALL", "h"};
    const redis_command fill{"HSET", "h", "f", "v"};
    auto reply = co_await view.execute(set);
    EXPECT_EQ(reply.text, "OK");
    reply = co_await view.execute(get);
    EXPECT_EQ(reply.text, bytes);
    reply = co_await view.execute(none);
    EXPECT_EQ(reply.type, redis_reply::kind::nil);
    reply = co_await view.execute(incr);
    EXPECT_EQ(reply.integer, 1);
    reply = co_await view.execute(wrong);
    EXPECT_EQ(reply.type, redis_reply::kind::error);
    EXPECT_NE(reply.text.find("not an integer"), std::string::npos) << reply.text;
    reply = co_await view.execute(ping);
    EXPECT_EQ(reply.text, "PONG");
    (void)co_await view.execute(fill);
    reply = co_await view.execute(hash);
    EXPECT_EQ(reply.items.size(), 2U) << "a map is its keys and values";
    reply = co_await view.execute(table);
    EXPECT_EQ(reply.items.size(), 3U);
    if (reply.items.size() != 3) co_return;
    EXPECT_EQ(reply.items[1].items.at(0).text, "a");
    EXPECT_EQ(reply.items[1].items.at(1).type, redis_reply::kind::array);
    EXPECT_EQ(reply.items[2].type, redis_reply::kind::nil);
}

TEST_F(BoostRedis, ConvertsEachReply) { run(convert_replies(view)); }

awaitable<void> count(async_counters& stock) {
    const bool is_created = co_await stock.create("stock", 3);
    EXPECT_TRUE(is_created);
    auto left = co_await stock.subtract("stock", 2, {}, "id");
    EXPECT_EQ(left, 1);
    left = co_await stock.subtract("stock", 2, {}, "id");
    EXPECT_EQ(left, 1);
    left = co_await stock.subtract("stock", 2);
    EXPECT_EQ(left, std::nullopt);
    left = co_await stock.add("stock", 2, {.ceiling = 3});
    EXPECT_EQ(left, 3);
    const auto value = co_await stock.get("stock");
    EXPECT_EQ(value, 3);
}

TEST_F(BoostRedis, Counts) { run(count(stock)); }

awaitable<void> subtract_from_nothing(async_counters& stock) {
    (void)co_await stock.subtract("none", 1);
}

TEST_F(BoostRedis, ReportsAMissingCounter) {
    EXPECT_EQ(failure_of(subtract_from_nothing(stock)), errc::lost);
}

awaitable<void> update_disturbed(async_counters& values, support::redis_server& server) {
    (void)server.execute({"SET", "text", "a"});
    int calls = 0;
    const change disturbed = [&](const std::string& old_value) {
        if (++calls <= 2) (void)server.execute({"APPEND", "text", "b"});
        return old_value + "!";
    };
    const auto value = co_await values.update("text", disturbed);
    EXPECT_EQ(value, "abb!");
    EXPECT_EQ(calls, 3);
}

TEST_F(BoostRedis, UpdatesAValueAgainAfterAnotherWrite) { run(update_disturbed(stock, server)); }

awaitable<void> update_in_vain(async_counters& values, support::redis_server& server) {
    (void)server.execute({"SET", "text", "a"});
    const change disturbed = [&](const std::string& old_value) {
        (void)server.execute({"APPEND", "text", "b"});
        return old_value;
    };
    (void)co_await values.update("text", disturbed, {.tries = 3});
}

TEST_F(BoostRedis, GivesUpAnUpdateAfterItsTries) {
    EXPECT_THROW(run(update_in_vain(stock, server)), conflict);
    EXPECT_EQ(stored("text"), "abbb");
}

awaitable<void> run_scripts(async_redis_connection& view) {
    const script<std::int64_t> sum("return tonumber(ARGV[1]) + tonumber(ARGV[2])", 0);
    std::vector<script_argument> arguments{2, 3};
    const auto result = co_await async_run(view, sum, {}, std::move(arguments));
    EXPECT_EQ(result, 5);
}

TEST_F(BoostRedis, RunsScripts) { run(run_scripts(view)); }

awaitable<void> write_fenced(async_redis_connection& view) {
    std::vector<redis_command> commands{{"SET", "price", "a"}, {"INCR", "price"}};
    const auto accepted = co_await async_fenced(view, "price", pawl::fencing_token(9), commands);
    EXPECT_TRUE(accepted.accepted);
    EXPECT_EQ(accepted.replies.size(), 2U);
    EXPECT_EQ(accepted.replies.back().type, redis_reply::kind::error);
    const auto late = co_await async_fenced(view, "price", pawl::fencing_token(8), commands);
    EXPECT_FALSE(late.accepted);
    EXPECT_EQ(late.newest, pawl::fencing_token(9));
}

TEST_F(BoostRedis, FencesWrites) { run(write_fenced(view)); }

awaitable<redis_outcome> add_one(const redis_effect& add) {
    redis_outcome answer = add({"n"}, {1});
    co_return answer;
}

awaitable<redis_outcome> fail_work() {
    throw std::runtime_error("no");
    co_return retry_after{};
}

awaitable<void> run_once(async_redis_connection& view) {
    const redis_effect add("return redis.call('INCRBY', KEYS[1], ARGV[1])", 1);
    const async_redis_once_work work = [&](const attempt&) { return add_one(add); };
    const async_redis_once_work failing = [](const attempt&) { return fail_work(); };
    bool has_failed = false;
    try {
        (void)co_await async_once(view, "k", patient, failing);
    } catch (const std::runtime_error&) {
        has_failed = true;
    }
    EXPECT_TRUE(has_failed);
    auto result = co_await async_once(view, "k", patient, work);
    EXPECT_EQ(result.state, once_state::done);
    EXPECT_EQ(result.value, "1");
    result = co_await async_once(view, "k", patient, work);
    EXPECT_EQ(result.state, once_state::replayed);
    EXPECT_EQ(result.value, "1");
}

TEST_F(BoostRedis, CarriesAnOperationOutOnce) {
    run(run_once(view));
    EXPECT_EQ(stored("n"), "1");
}

awaitable<outcome> pay(int& effects) {
    ++effects;
    outcome paid = std::string("paid");
    co_return paid;
}

awaitable<void> run_at_least_once(async_redis_connection& view) {
    int effects = 0;
    const async_once_work work = [&](const attempt&) { return pay(effects); };
    auto result = co_await async_at_least_once(view, "k", patient, work);
    EXPECT_EQ(result.value, "paid");
    result = co_await async_at_least_once(view, "k", patient, work);
    EXPECT_EQ(result.state, once_state::replayed);
    EXPECT_EQ(effects, 1);
}

TEST_F(BoostRedis, CarriesAnOutsideOperationOutAtLeastOnce) { run(run_at_least_once(view)); }

awaitable<void> run_steps(async_redis_connection& view) {
    once_claim first = co_await async_claim(view, "k", patient);
    EXPECT_TRUE(first.attempt.has_value());
    bool is_changed = co_await async_give_up(view, *first.attempt);
    EXPECT_TRUE(is_changed);
    const auto listed = co_await async_unfinished(view, "");
    EXPECT_EQ(listed.size(), 1U);
    once_claim second = co_await async_claim(view, "k", patient);
    EXPECT_EQ(second.attempt->number(), 2U);
    const outcome result = std::string("result");
    is_changed = co_await async_finish(view, *first.attempt, result, patient);
    EXPECT_FALSE(is_changed);
    is_changed = co_await async_finish(view, *second.attempt, result, patient);
    EXPECT_TRUE(is_changed);
    once_claim third = co_await async_claim(view, "k", patient);
    EXPECT_EQ(third.known.value, "result");
}

TEST_F(BoostRedis, HasTheStepsOfOnce) { run(run_steps(view)); }

awaitable<void> run_guarded(pawl::client& locks, async_redis_connection& view) {
    const redis_effect add("return redis.call('INCRBY', KEYS[1], ARGV[1])", 1);
    const async_redis_once_work work = [&](const attempt&) { return add_one(add); };
    auto result = co_await async_guarded_once(locks, view, "lock", "k", patient, work);
    EXPECT_EQ(result.state, once_state::done);
    auto holder = co_await locks.async_acquire("lock");
    result = co_await async_guarded_once(locks, view, "lock", "k", patient, work);
    EXPECT_EQ(result.state, once_state::replayed);
    constexpr once_options impatient{.lease = std::chrono::minutes(1), .wait = {}};
    result = co_await async_guarded_once(locks, view, "lock", "other", impatient, work);
    EXPECT_EQ(result.state, once_state::running);
    EXPECT_EQ(result.retry_in, std::chrono::minutes(1)) << "the ttl of the lock";
    int effects = 0;
    const async_once_work outside = [&](const attempt&) { return pay(effects); };
    result = co_await async_guarded_at_least_once(locks, view, "free", "p", patient, outside);
    EXPECT_EQ(result.value, "paid");
    (void)co_await holder.async_release();
}

TEST_F(BoostRedis, WaitsForALockInFrontOfOnce) {
    pawl::client locks(context.get_executor(), pawl::from_url(server.url()));
    run(run_guarded(locks, view));
    EXPECT_EQ(stored("n"), "1");
}

awaitable<void> wait_for_another(async_redis_connection& view, int& ended) {
    const redis_effect add("return redis.call('INCRBY', KEYS[1], ARGV[1])", 1);
    const async_redis_once_work work = [&](const attempt&) { return add_one(add); };
    const auto result = co_await async_once(view, "k", patient, work);
    EXPECT_EQ(result.value, "1");
    ++ended;
}

TEST_F(BoostRedis, LetsManyCoroutinesWaitForOneEffect) {
    int ended = 0;
    for (int i = 0; i < 16; ++i)
        boost::asio::co_spawn(context, wait_for_another(view, ended), boost::asio::detached);
    while (ended < 16)
        context.run_one();
    EXPECT_EQ(stored("n"), "1");
}

awaitable<void> sleep_on_the_server(async_redis_connection& view) {
    const redis_command block{"BLPOP", "none", "0"};
    (void)co_await view.execute(block);
}

// The command is at the server before `ended` is called.
class BlockedCommand : public BoostRedis {
protected:
    std::jthread after_it_blocks(std::function<void()> ended) {
        return std::jthread([this, ended = std::move(ended)] {
            (void)support::eventually([this] {
                return server.execute({"CLIENT", "LIST"}).text.find("cmd=blpop") !=
                       std::string::npos;
            });
            ended();
        });
    }
};

TEST_F(BlockedCommand, SaysThatNoAnswerCame) {
    const auto killer = after_it_blocks([&] { server.kill9(); });
    EXPECT_EQ(failure_of(sleep_on_the_server(view)), errc::unreachable);
}

TEST_F(BlockedCommand, SaysThatItWasCancelled) {
    boost::asio::cancellation_signal signal;
    std::exception_ptr failure;
    boost::asio::co_spawn(
        context, sleep_on_the_server(view),
        boost::asio::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr ended) {
            failure = ended;
            context.stop();
        }));
    const auto canceller = after_it_blocks([&] {
        boost::asio::post(context, [&] { signal.emit(boost::asio::cancellation_type::all); });
    });
    context.run();
    EXPECT_EQ(code_of([&] { std::rethrow_exception(failure); }), errc::cancelled);
}

}  // namespace
