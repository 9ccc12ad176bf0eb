// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The lock of the guarded forms of `once`: its ttl, its loss, its renewal, and the wait for it.
#include "once_fixture.hpp"
#include "rewriting_connection.hpp"

#include <pawl/blocking/client.hpp>
#include <pawl/client.hpp>
#include <pawl/error.hpp>
#include <pawl/guard/async_once.hpp>
#include <pawl/guard/records.hpp>
#include <pawl/memory.hpp>
#include <support/eventually.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <thread>
#include <utility>

namespace guard_tests {
namespace {

using namespace std::string_literals;
using guard::attempt;
using guard::outcome;

outcome no_work(const attempt&) {
    ADD_FAILURE() << "the work runs without the lock";
    return "no"s;
}

asio::awaitable<outcome> no_async_work() {
    ADD_FAILURE() << "the work runs without the lock";
    co_return "no"s;
}

class GuardedLock : public database_test {
protected:
    GuardedLock() { guard::make_tables(first->view()); }

    [[nodiscard]] bool has_waiter() { return locks.inspect("l").waiters > 0; }

    const std::unique_ptr<open_connection> first = database->connect();
    const std::unique_ptr<open_connection> other = database->connect();
    const pawl::service memory = pawl::memory::at();
    pawl::blocking::client locks{memory};
};

TEST_P(GuardedLock, HasTheTtlOfTheLease) {
    pawl::duration remaining{};
    const auto work = [&](const attempt&) -> outcome {
        if (const auto holder = locks.inspect("l").held_by) remaining = holder->remaining;
        return "done"s;
    };
    EXPECT_TRUE(guard::guarded_once(locks, first->view(), "l", "long", {.lease = 1h}, work));
    EXPECT_GT(remaining, 30min);
    EXPECT_LE(remaining, 1h);
    EXPECT_TRUE(guard::guarded_once(locks, first->view(), "l", "none", {.lease = 0s}, work));
    EXPECT_GT(remaining, 0s) << "the lock is held, too";
    EXPECT_LE(remaining, 30s);
}

TEST_P(GuardedLock, TellsTheWorkOfItsLoss) {
    const auto work = [&](const attempt& claimed) -> outcome {
        EXPECT_FALSE(claimed.lost().stop_requested());
        EXPECT_TRUE(locks.force_release("l"));
        EXPECT_TRUE(support::eventually([&] { return claimed.lost().stop_requested(); }));
        return "done"s;
    };
    const auto made =
        guard::guarded_at_least_once(locks, first->view(), "l", "k", {.lease = 3s}, work);
    EXPECT_EQ(made.state, once_state::done) << "the record decides";
}

// Interleaving: the work lasts longer than the lease of its record, and another caller comes. With
// the lock it waits for its turn; without the lock it takes over. The lease is so long that also a
// busy machine renews the lock in time.
TEST_P(GuardedLock, KeepsASlowAttemptThatLives) {
    const guard::once_options at_once{.wait = 0s};
    const auto slow = [&](const attempt&) -> outcome {
        EXPECT_TRUE(support::eventually([&] { return !guard::unfinished(other->view()).empty(); }));
        const auto guarded =
            guard::guarded_at_least_once(locks, other->view(), "l", "k", at_once, no_work);
        EXPECT_EQ(guarded.state, once_state::running);
        const auto unguarded = guard::at_least_once(
            other->view(), "k", at_once, [](const attempt&) { return outcome("other"); });
        EXPECT_EQ(unguarded.state, once_state::done) << "the lease is not over: nothing is shown";
        return "slow"s;
    };
    const auto late =
        guard::guarded_at_least_once(locks, first->view(), "l", "k", {.lease = 12s}, slow);
    EXPECT_EQ(late.state, once_state::replayed);
    EXPECT_EQ(late.value, "other");
}

// The wait is over before the record is looked at under the lock: that look is the last one.
TEST_P(GuardedLock, SharesItsWaitWithTheRecord) {
    ASSERT_TRUE(guard::claim(other->view(), "k", {.lease = 1h, .keep = 3h}));
    int looks = 0;
    const auto before = [&](const std::string& text) {
        if (!text.starts_with("SELECT") || text.find(" pawl_once ") == std::string::npos) return;
        // The lost time itself is the fault.
        if (++looks == 1) std::this_thread::sleep_for(1100ms);
    };
    rewriting_connection view(first->view(), {}, before);
    guard::check_tables(view);
    const auto result = guard::guarded_once(locks, view, "l", "k", {.wait = 1s}, no_work);
    EXPECT_EQ(result.state, once_state::running);
    EXPECT_GT(result.retry_in, 30min) << "what is left of the other attempt";
    EXPECT_EQ(looks, 2) << "one without the lock, and one with it";
}

TEST_P(GuardedLock, SaysWhenToTryAgainIfItIsBusy) {
    const auto held = locks.acquire("l", {.ttl = 1h});
    for (const auto& [lease, pause] : {std::pair{90s, 90s}, std::pair{0s, 30s}}) {
        const guard::once_options at_once{.lease = lease, .wait = 0s};
        const auto busy = guard::guarded_once(locks, first->view(), "l", "k", at_once, no_work);
        EXPECT_EQ(busy.state, once_state::running);
        EXPECT_EQ(busy.retry_in, pause) << "the ttl of a lock";
    }
}

TEST_P(GuardedLock, HasAWaitThatCanBeCancelled) {
    const auto held = locks.acquire("l", {.ttl = 1h});
    std::stop_source cancel;
    std::jthread canceller([&] {
        EXPECT_TRUE(support::eventually([&] { return has_waiter(); }));
        cancel.request_stop();
    });
    try {
        (void)guard::guarded_once(locks, first->view(), "l", "k", {.wait = 1h}, no_work,
                                  cancel.get_token());
        ADD_FAILURE() << "it was not cancelled";
    } catch (const pawl::error& ended) {
        EXPECT_EQ(ended.reason(), pawl::errc::cancelled);
    }
}

TEST_P(GuardedLock, HasAWaitThatCanBeCancelledForCoroutines) {
    const auto held = locks.acquire("l", {.ttl = 1h});
    asio::io_context loop;
    pawl::client async_locks(loop.get_executor(), memory);
    const auto opened = database->connect(loop.get_executor());
    const guard::async_once_work work = [](const attempt&) { return no_async_work(); };
    asio::cancellation_signal cancel;
    auto ended = asio::co_spawn(
        loop, guard::async_guarded_once(async_locks, opened->view(), "l", "k", {.wait = 1h}, work),
        asio::bind_cancellation_slot(cancel.slot(), asio::use_future));
    EXPECT_TRUE(support::eventually([&] {
        loop.poll();
        return has_waiter();
    }));
    cancel.emit(asio::cancellation_type::terminal);
    EXPECT_TRUE(support::eventually([&] {
        loop.poll();
        return ended.wait_for(0s) == std::future_status::ready;
    }));
    try {
        (void)ended.get();
        ADD_FAILURE() << "it was not cancelled";
    } catch (const pawl::error& aborted) {
        EXPECT_EQ(aborted.reason(), pawl::errc::cancelled);
    }
}

TEST_P(GuardedLock, RefusesItsNameBeforeAnythingIsWritten) {
    try {
        (void)guard::guarded_once(locks, first->view(), "", "k", {}, no_work);
        ADD_FAILURE() << "a lock without a name";
    } catch (const pawl::error& refused) {
        EXPECT_EQ(refused.reason(), pawl::errc::bad_name);
    }
    EXPECT_EQ(first->number("SELECT count(*) FROM pawl_once"), 0);
}

// One database is enough: the lock knows nothing of it.
std::vector<product> one_product() {
    auto all = products();
    if (all.size() > 1) all.resize(1);
    return all;
}
INSTANTIATE_TEST_SUITE_P(On, GuardedLock, testing::ValuesIn(one_product()), name_of);

}  // namespace
}  // namespace guard_tests
