// A fork whose child runs its copy of the event loop: every request is refused, and every wait of
// the parent's that the child has a copy of ends there.
#include "async_world.hpp"

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

class AsyncFork : public testing::TestWithParam<tested::place> {
protected:
    // Runs the loop until the started operation has called its handler; the error's category and
    // number in one word.
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
    pawl::held_lock acquire(pawl::client& from, const std::string& name) {
        pawl::held_lock mine;
        outcome_of([&](auto note) {
            from.async_acquire(name, {.ttl = 60s}, [&mine, note](error_code ec, auto lock) mutable {
                mine = std::move(lock);
                note(ec);
            });
        });
        return mine;
    }
    // Every kind of request, each one's outcome once.
    std::set<std::string> outcomes(pawl::client& locks, pawl::held_lock& lock) {
        pawl::latch latch(locks, "latch");
        std::set<std::string> all;
        const auto add = [&](auto start) { all.insert(outcome_of(start)); };
        add([&](auto note) { locks.async_try_acquire("a", {.ttl = 9s}, note); });
        add([&](auto note) { locks.async_acquire("a", {.ttl = 9s, .wait = 9s}, note); });
        add([&](auto note) { locks.async_acquire_all({"a", "b"}, {.ttl = 9s}, note); });
        add([&](auto note) { locks.async_inspect("a", note); });
        add([&](auto note) { locks.async_list("", note); });
        add([&](auto note) { locks.async_force_release("it", note); });
        add([&](auto note) { locks.async_resize("permits", 3, note); });
        add([&](auto note) { locks.async_examine(note); });
        add([&](auto note) { lock.async_renew(note); });
        add([&](auto note) { lock.async_downgrade(note); });
        add([&](auto note) { latch.async_try_set(2, note); });
        add([&](auto note) { latch.async_count_down(1, note); });
        return all;
    }
    // The child's part of a fork, and then the parent's loop goes on.
    std::string in_fork(const std::function<std::string()>& work) {
        loop.notify_fork(asio::execution_context::fork_prepare);
        const auto words = support::in_child([&] {
            loop.notify_fork(asio::execution_context::fork_child);
            return work();
        });
        loop.notify_fork(asio::execution_context::fork_parent);
        return words;
    }

    asio::io_context loop;
    pawl::service where = GetParam().make();
};

TEST_P(AsyncFork, EveryRequestIsRefused) {
    pawl::client locks(loop.get_executor(), where);
    auto lock = acquire(locks, "it");
    ASSERT_TRUE(lock.owns_lock());
    const auto seen = in_fork([&] {
        std::string words;
        for (const auto& each : outcomes(locks, lock))
            words += each + "; ";
        lock.async_release([&](pawl::release_result found) {
            words += std::string("release ") + to_string(found) + "; ";
        });
        locks.async_close([&] { words += "closed"; });
        run_until([&] { return words.ends_with("closed"); });
        return words;
    });
    EXPECT_EQ(seen, "unsupported; release unknown; closed");
    std::optional<pawl::release_result> found;
    lock.async_release([&](pawl::release_result result) { found = result; });
    run_until([&] { return found.has_value(); });
    EXPECT_EQ(found, pawl::release_result::released);
}

// What was under way at the fork ends in the child as well, and there with nothing.
TEST_P(AsyncFork, WhatWasUnderWayEndsInTheChild) {
    pawl::client locks(loop.get_executor(), where);
    auto lock = acquire(locks, "it");
    std::string waiter, loss;
    pawl::held_lock waited;
    locks.async_acquire("it", {.ttl = 60s}, [&](error_code ec, pawl::held_lock mine) {
        waiter = ec ? "refused" : "granted";
        waited = std::move(mine);
    });
    lock.async_wait_lost([&](error_code, pawl::loss_reason why) { loss = to_string(why); });
    const auto waiters = [&] {
        std::uint64_t count = 0;
        outcome_of([&](auto note) {
            locks.async_inspect("it", [&, note](error_code ec, const pawl::lock_info& now) mutable {
                count = now.waiters;
                note(ec);
            });
        });
        return count;
    };
    run_until([&] { return waiters() == 1; });
    const auto seen = in_fork([&] {
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
    const auto redis = tested::async_places().back().make();
    const auto seen = support::in_child([&] {
        asio::io_context own;
        pawl::client locks(own.get_executor(), redis);
        bool held = false;
        locks.async_acquire("it", {.ttl = 9s}, [&](error_code, const pawl::held_lock& lock) {
            held = lock.owns_lock();
            own.stop();
        });
        own.run_for(20s);
        return std::string(held ? "held" : "refused");
    });
    EXPECT_EQ(seen, "held");
}

INSTANTIATE_TEST_SUITE_P(On, AsyncFork, testing::ValuesIn(tested::async_places()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
