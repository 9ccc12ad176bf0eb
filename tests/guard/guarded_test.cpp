// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The lock in front of the record, with both APIs.
#include "once_fixture.hpp"

#include <pawl/blocking/client.hpp>
#include <pawl/client.hpp>
#include <pawl/guard/async_once.hpp>
#include <pawl/memory.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <thread>

namespace guard_tests {
namespace {

using namespace std::string_literals;
using guard::attempt;
using guard::layers;
using guard::outcome;

class GuardedOnce : public database_test {
protected:
    GuardedOnce() {
        guard::make_tables(first->view());
        first->run("CREATE TABLE effects(id BIGINT)");
    }

    guard::once_work writes(open_connection& where) {
        return [&where](const attempt&) -> outcome {
            where.run("INSERT INTO effects(id) VALUES(1)");
            return "made"s;
        };
    }
    std::int64_t effects() { return first->number("SELECT count(*) FROM effects"); }

    const std::unique_ptr<open_connection> first = database->connect();
    const std::unique_ptr<open_connection> other = database->connect();
    const pawl::service memory = pawl::memory::at();
    pawl::blocking::client locks{memory};
};

TEST_P(GuardedOnce, RunsTheWorkUnderTheLock) {
    const auto made = guard::guarded_once(
        locks, first->view(), "order/7", "order/7", {}, [&](const attempt& claimed) -> outcome {
            EXPECT_FALSE(locks.try_acquire("order/7").owns_lock()) << "the lock is held";
            EXPECT_TRUE(claimed.lost().stop_possible());
            return writes(*first)(claimed);
        });
    EXPECT_EQ(made.state, once_state::done);
    EXPECT_TRUE(locks.acquire("order/7", {.wait = 30s}).owns_lock());
    const auto held = locks.acquire("order/7", {.wait = 30s});
    const auto again =
        guard::guarded_once(locks, other->view(), "order/7", "order/7", {}, writes(*other));
    EXPECT_EQ(again.state, once_state::replayed) << "a replay needs no lock";
    EXPECT_EQ(again.value, "made");
    EXPECT_EQ(guard::guarded_once(locks, other->view(), "order/7", {"order/7", "other"}, {},
                                  writes(*other))
                  .state,
              once_state::mismatch);
    EXPECT_EQ(guard::guarded_once(locks, other->view(), "order/7", "order/8", {.wait = 0s},
                                  writes(*other))
                  .state,
              once_state::running)
        << "the lock is taken";
    EXPECT_EQ(effects(), 1);
}

// Interleaving: the lock goes to the next caller as soon as it is free. That caller must find the
// commit of the one before, so the lock is free only after the commit.
TEST_P(GuardedOnce, CommitsBeforeItReleases) {
    for (int round = 0; round < 20; ++round) {
        const std::string key = "order/" + std::to_string(round);
        int calls = 0;
        const auto work = [&](const attempt&) -> outcome {
            ++calls;  // under the lock: no race
            return "made"s;
        };
        const auto call = [&](open_connection& where) {
            const auto result =
                guard::guarded_once(locks, where.view(), key, key, {.wait = 60s}, work);
            EXPECT_TRUE(result);
        };
        {
            std::jthread beside([&] { call(*other); });
            call(*first);
        }
        EXPECT_EQ(calls, 1);
    }
}

// The record decides, whatever becomes of the lock.
TEST_P(GuardedOnce, IsDoneAlthoughTheLockWasLost) {
    const auto made = guard::guarded_once(locks, first->view(), "order/7", "order/7", {},
                                          [&](const attempt& claimed) -> outcome {
                                              EXPECT_TRUE(locks.force_release("order/7"));
                                              auto next = locks.try_acquire("order/7");
                                              EXPECT_TRUE(next.owns_lock());
                                              return writes(*first)(claimed);
                                          });
    EXPECT_EQ(made.state, once_state::done);
    EXPECT_EQ(effects(), 1);
}

TEST_P(GuardedOnce, RunsWithFewerLayersForTests) {
    guard::once_options options;
    const auto run = [&] {
        return guard::guarded_once(locks, first->view(), "l", "k", options, writes(*first)).state;
    };
    options.with = layers::none;
    EXPECT_EQ(run(), once_state::done);
    options.with = layers::lock;
    EXPECT_EQ(run(), once_state::done);
    EXPECT_EQ(effects(), 2) << "without a record, each call is an effect";
    options.with = layers::record;
    const auto held = locks.acquire("l");
    EXPECT_EQ(run(), once_state::done) << "without the lock";
    EXPECT_EQ(run(), once_state::replayed);
    EXPECT_EQ(effects(), 3);
}

asio::awaitable<outcome> write_effect(guard::async_connection& db, const attempt& claimed) {
    EXPECT_TRUE(claimed.lost().stop_possible());
    const guard::statement insert{"INSERT INTO effects(id) VALUES(1)"};
    co_await db.execute(insert);
    co_return "made"s;
}

asio::awaitable<void> call_twice(pawl::client& async_locks, guard::async_connection& db) {
    const guard::async_once_work work = [&db](const attempt& claimed) {
        return write_effect(db, claimed);
    };
    const guard::once_result made =
        co_await guard::async_guarded_once(async_locks, db, "order/7", "order/7", {}, work);
    EXPECT_EQ(made.state, once_state::done);
    const guard::once_result again =
        co_await guard::async_guarded_once(async_locks, db, "order/7", "order/7", {}, work);
    EXPECT_EQ(again.state, once_state::replayed);
    const guard::once_result sent =
        co_await guard::async_guarded_at_least_once(async_locks, db, "order/7", "mail/7", {}, work);
    EXPECT_EQ(sent.state, once_state::done);
    const guard::once_result busy =
        co_await guard::async_guarded_once(async_locks, db, "held", "mail/8", {.wait = 0s}, work);
    EXPECT_EQ(busy.state, once_state::running);
    EXPECT_EQ(busy.retry_in, 30s) << "the ttl of the lock";
    co_await async_locks.async_close();
}

TEST_P(GuardedOnce, WorksForCoroutines) {
    const auto held = locks.acquire("held");
    asio::io_context loop;
    pawl::client async_locks(loop.get_executor(), memory);
    const auto opened = database->connect(loop.get_executor());
    auto ended = asio::co_spawn(loop, call_twice(async_locks, opened->view()), asio::use_future);
    loop.run();
    ended.get();
    EXPECT_EQ(effects(), 2);
}

EVERY_DATABASE(GuardedOnce);

}  // namespace
}  // namespace guard_tests
