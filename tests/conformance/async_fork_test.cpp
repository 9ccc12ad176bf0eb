// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A fork whose child runs its copy of the event loop. The child's requests are refused, and its
// copies of the parent's waits end there.
#include "async_fixture.hpp"

#include <support/child.hpp>

#include <pawl/election.hpp>
#include <pawl/latch.hpp>

#include <boost/asio/io_context.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <system_error>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using boost::system::error_code;

class AsyncFork : public testing::TestWithParam<tested::service_under_test> {
protected:
    // Runs the loop until the started operation has called its handler. Returns "done",
    // "unsupported", or the message of another error.
    template <class Start>
    std::string outcome_of(Start start) {
        std::string outcome = "no answer";
        bool answered = false;
        start([&](error_code ec, auto&&...) {
            outcome = !ec                                              ? "done"
                      : std::error_code(ec) == pawl::errc::unsupported ? "unsupported"
                                                                       : ec.message();
            answered = true;
        });
        run_until([&] { return answered; });
        return outcome;
    }
    template <class Condition>
    void run_until(Condition is_met) {
        const auto latest = std::chrono::steady_clock::now() + 20s;
        while (!is_met() && std::chrono::steady_clock::now() < latest)
            loop.run_one_for(100ms);
    }
    pawl::held_lock acquire(pawl::client& acquiring_client, const std::string& name) {
        pawl::held_lock own_lock;
        outcome_of([&](auto record) {
            acquiring_client.async_acquire(name, {.ttl = 60s},
                                           [&own_lock, record](error_code ec, auto lock) mutable {
                                               own_lock = std::move(lock);
                                               record(ec);
                                           });
        });
        return own_lock;
    }
    // Every kind of request, and the set of their outcomes.
    std::set<std::string> outcomes(pawl::client& locks, pawl::held_lock& lock) {
        pawl::latch latch(locks, "latch");
        std::set<std::string> results;
        const auto add = [&](auto start) { results.insert(outcome_of(start)); };
        add([&](auto record) { locks.async_try_acquire("a", {.ttl = 9s}, record); });
        add([&](auto record) { locks.async_acquire("a", {.ttl = 9s, .wait = 9s}, record); });
        add([&](auto record) { locks.async_acquire_all({"a", "b"}, {.ttl = 9s}, record); });
        add([&](auto record) { locks.async_inspect("a", record); });
        add([&](auto record) { locks.async_list("", record); });
        add([&](auto record) { locks.async_force_release("it", record); });
        add([&](auto record) { locks.async_resize("permits", 3, record); });
        add([&](auto record) { locks.async_examine(record); });
        add([&](auto record) { lock.async_renew(record); });
        add([&](auto record) { lock.async_downgrade(record); });
        add([&](auto record) { latch.async_try_set(2, record); });
        add([&](auto record) { latch.async_count_down(1, record); });
        return results;
    }
    // Runs the child's part of a fork; then the parent's loop goes on.
    std::string result_in_fork(const std::function<std::string()>& work) {
        loop.notify_fork(asio::execution_context::fork_prepare);
        const auto words = support::run_in_child([&] {
            loop.notify_fork(asio::execution_context::fork_child);
            return work();
        });
        loop.notify_fork(asio::execution_context::fork_parent);
        return words;
    }

    asio::io_context loop;
    pawl::service tested_service = GetParam().make_service();
};

TEST_P(AsyncFork, EveryRequestIsRefused) {
    pawl::client locks(loop.get_executor(), tested_service);
    auto lock = acquire(locks, "it");
    ASSERT_TRUE(lock.owns_lock());
    const auto seen = result_in_fork([&] {
        std::string words;
        for (const auto& each : outcomes(locks, lock))
            words += each + "; ";
        lock.async_release([&](pawl::release_result released) {
            words += std::string("release ") + to_string(released) + "; ";
        });
        locks.async_close([&] { words += "closed"; });
        run_until([&] { return words.ends_with("closed"); });
        return words;
    });
    EXPECT_EQ(seen, "unsupported; release unknown; closed");
    std::optional<pawl::release_result> release_outcome;
    lock.async_release([&](pawl::release_result result) { release_outcome = result; });
    run_until([&] { return release_outcome.has_value(); });
    EXPECT_EQ(release_outcome, pawl::release_result::released);
}

// Operations that are outstanding at the fork end in the child as well, without a result.
TEST_P(AsyncFork, WhatWasUnderWayEndsInTheChild) {
    pawl::client locks(loop.get_executor(), tested_service);
    auto lock = acquire(locks, "it");
    std::string waiter, loss;
    pawl::held_lock waited;
    locks.async_acquire("it", {.ttl = 60s}, [&](error_code ec, pawl::held_lock acquired) {
        waiter = ec ? "refused" : "granted";
        waited = std::move(acquired);
    });
    lock.async_wait_lost([&](error_code, pawl::loss_reason why) { loss = to_string(why); });
    const auto waiters = [&] {
        std::uint64_t count = 0;
        outcome_of([&](auto record) {
            locks.async_inspect("it",
                                [&, record](error_code ec, const pawl::lock_info& now) mutable {
                                    count = now.waiters;
                                    record(ec);
                                });
        });
        return count;
    };
    run_until([&] { return waiters() == 1; });
    const auto seen = result_in_fork([&] {
        locks.async_close([] {});
        run_until([&] { return !waiter.empty() && !loss.empty(); });
        return waiter + ", " + loss + (waited.owns_lock() ? ", owns" : "");
    });
    EXPECT_EQ(seen, std::string("refused, ") + to_string(pawl::loss_reason::forked));
    EXPECT_EQ(waiter + loss, "");
    lock.async_release([](pawl::release_result) {});
    run_until([&] { return !waiter.empty(); });
    EXPECT_EQ(waiter, "granted");
    EXPECT_TRUE(waited.owns_lock());
}

// A client that is made in the child works there.
TEST(AsyncForkOwn, AClientOfTheChildsOwnWorks) {
    const auto redis = tested::async_services().back().make_service();
    const auto seen = support::run_in_child([&] {
        asio::io_context child_loop;
        pawl::client locks(child_loop.get_executor(), redis);
        bool held = false;
        locks.async_acquire("it", {.ttl = 9s}, [&](error_code, const pawl::held_lock& lock) {
            held = lock.owns_lock();
            child_loop.stop();
        });
        child_loop.run_for(20s);
        return std::string(held ? "held" : "refused");
    });
    EXPECT_EQ(seen, "held");
}

INSTANTIATE_TEST_SUITE_P(On, AsyncFork, testing::ValuesIn(tested::async_services()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
