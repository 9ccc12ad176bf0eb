// What every backend must do, asked of the backend itself. `World` has `service()` and starts
// empty.
#pragma once

#include "backend_runner.hpp"
#include "support/eventually.hpp"

#include <gtest/gtest.h>

#include <boost/system/system_error.hpp>

#include <deque>
#include <random>

namespace backend_tests {

using pawl::loss_reason;
using pawl::release_result;
using pawl::renewal;
using support::eventually;

template <class World>
class backend_promises : public testing::Test {
protected:
    static bool waiters(client& eyes, const std::string& name, std::uint64_t count) {
        return eventually([&] { return eyes.inspect(name).waiters == count; });
    }
    static bool is_free(client& eyes, const std::string& name) {
        const auto found = eyes.inspect(name);
        return !found.held_by && found.waiters == 0;
    }
    static bool was_cancelled(client::pending& one) {
        try {
            one.get();
            return false;
        } catch (const boost::system::system_error& failed) {
            return failed.code() == asio::error::operation_aborted;
        }
    }

    World world;
};

TYPED_TEST_SUITE_P(backend_promises);

TYPED_TEST_P(backend_promises, only_one_has_it) {
    client mine(this->world.service()), other(this->world.service());
    const auto lock = mine.take("it");
    EXPECT_FALSE(other.acquire(ask("it")));
    EXPECT_TRUE(other.acquire(ask("another")));
    EXPECT_EQ(mine.release(lock), release_result::released);
    EXPECT_EQ(mine.release(lock), release_result::expired);
    EXPECT_TRUE(other.acquire(ask("it")));
    EXPECT_EQ(mine.release(lock), release_result::taken_over);
}

TYPED_TEST_P(backend_promises, the_deadline_is_exact) {
    client mine(this->world.service());
    const auto before = now();
    const auto lock = mine.take("it", 30s);
    const auto margin = pawl::drift(30s);
    EXPECT_GE(lock.grant.deadline, before + 30s - margin);
    EXPECT_LE(lock.grant.deadline, now() + 30s - margin);
    EXPECT_FALSE(lock.grant.confirm);
}

TYPED_TEST_P(backend_promises, waiters_are_served_in_order) {
    client holder(this->world.service());
    const auto first = holder.take("it");
    std::deque<client> clients;
    std::deque<client::pending> line;
    for (std::uint64_t i = 0; i < 4; ++i) {
        clients.emplace_back(this->world.service());
        line.push_back(clients.back().start(ask("it")));
        ASSERT_TRUE(this->waiters(holder, "it", i + 1));
    }
    auto last = first.grant.token;
    EXPECT_EQ(holder.release(first), release_result::released);
    for (std::size_t i = 0; i < line.size(); ++i) {
        const auto lock = line[i].get().value();
        EXPECT_GT(lock.grant.token, last);
        last = lock.grant.token;
        for (std::size_t later = i + 1; later < line.size(); ++later)
            EXPECT_FALSE(line[later].done());
        EXPECT_EQ(clients[i].release(lock), release_result::released);
    }
}

TYPED_TEST_P(backend_promises, a_lease_that_is_not_renewed_ends) {
    client mine(this->world.service()), other(this->world.service());
    const auto lock = mine.take("it", 300ms);
    const auto next = other.take("it");
    EXPECT_GE(now(), lock.grant.deadline);
    EXPECT_GT(next.grant.token, lock.grant.token);
    EXPECT_EQ(mine.renew(lock, 300ms).result, renewal::outcome::refused);
    EXPECT_EQ(mine.release(lock), release_result::taken_over);
    EXPECT_EQ(other.renew(next, 60s).result, renewal::outcome::extended);
}

TYPED_TEST_P(backend_promises, a_renewal_extends_and_never_creates) {
    client mine(this->world.service());
    const auto lock = mine.take("it", 10s);
    const auto before = now();
    const auto line = mine.renew(lock, 40s);
    EXPECT_EQ(line.result, renewal::outcome::extended);
    EXPECT_GE(line.deadline, before + 40s - pawl::drift(40s));
    EXPECT_GT(mine.inspect("it").held_by.value().remaining, 30s);
    mine.release(lock);
    EXPECT_EQ(mine.renew(lock, 40s).result, renewal::outcome::refused);
    EXPECT_TRUE(this->is_free(mine, "it"));
}

TYPED_TEST_P(backend_promises, a_wait_ends_in_time_and_leaves_nothing) {
    client mine(this->world.service()), other(this->world.service());
    const auto lock = mine.take("it");
    const auto begun = now();
    EXPECT_FALSE(other.acquire(ask("it"), 150ms));
    EXPECT_GE(now(), begun + 150ms);
    EXPECT_EQ(mine.inspect("it").waiters, 0U);
    mine.release(lock);
    EXPECT_TRUE(this->is_free(mine, "it"));
}

TYPED_TEST_P(backend_promises, a_hold_may_be_without_token) {
    client mine(this->world.service());
    auto what = ask("it");
    what.fenced = false;
    EXPECT_FALSE(mine.acquire(what).value().grant.token);
}

TYPED_TEST_P(backend_promises, a_cancelled_wait_leaves_nothing) {
    client mine(this->world.service()), other(this->world.service());
    const auto lock = mine.take("it");
    auto waiting = other.start(ask("it"));
    ASSERT_TRUE(this->waiters(mine, "it", 1));
    waiting.cancel();
    EXPECT_TRUE(this->was_cancelled(waiting));
    EXPECT_EQ(mine.inspect("it").waiters, 0U);
    EXPECT_EQ(mine.release(lock), release_result::released);
    EXPECT_TRUE(this->is_free(mine, "it"));
}

// Whatever the instant: in the first attempt, in the wait, beside the hand-off, or after it.
TYPED_TEST_P(backend_promises, cancelling_at_any_instant_leaves_nothing) {
    client mine(this->world.service()), other(this->world.service());
    std::minstd_rand dice(3);
    std::uniform_int_distribution<int> microseconds(0, 2500);
    for (int round = 0; round < 100; ++round) {
        const bool held = round % 3 != 0;
        std::optional<pawl::hold> lock;
        if (held) lock = mine.take("it");
        auto waiting = other.start(ask("it"));
        std::thread stopping([&waiting, pause = microseconds(dice)] {
            // Anywhere in the course of the acquire and of the release below.
            std::this_thread::sleep_for(std::chrono::microseconds(pause));
            waiting.cancel();
        });
        // As above.
        std::this_thread::sleep_for(std::chrono::microseconds(microseconds(dice)));
        if (held) {
            EXPECT_EQ(mine.release(*lock), release_result::released);
        }
        stopping.join();
        std::optional<pawl::hold> got;
        try {
            got = waiting.get();
        } catch (const boost::system::system_error& failed) {
            EXPECT_EQ(failed.code(), asio::error::operation_aborted);
        }
        if (got) other.release(*got);
        ASSERT_TRUE(this->is_free(mine, "it")) << "round " << round;
    }
}

TYPED_TEST_P(backend_promises, tokens_never_go_back) {
    client mine(this->world.service()), other(this->world.service());
    pawl::fencing_token last;
    for (int round = 0; round < 5; ++round) {
        const auto kept = mine.take("it", 60s);
        EXPECT_GT(kept.grant.token, last);
        mine.release(kept);
        const auto expiring = mine.take("it", 20ms);
        EXPECT_GT(expiring.grant.token, kept.grant.token);
        const auto forced = other.take("it", 60s);
        EXPECT_GT(forced.grant.token, expiring.grant.token);
        EXPECT_TRUE(mine.force("it"));
        last = forced.grant.token;
    }
}

TYPED_TEST_P(backend_promises, force_tells_the_victim_and_passes_it_on) {
    client victim(this->world.service()), other(this->world.service()), by(this->world.service());
    EXPECT_FALSE(by.force("it"));
    const auto lock = victim.take("it");
    auto waiting = other.start(ask("it"));
    ASSERT_TRUE(this->waiters(by, "it", 1));
    EXPECT_TRUE(by.force("it"));
    EXPECT_TRUE(
        eventually([&] { return victim.was_told_of(lock.claim.owner, loss_reason::forced); }));
    EXPECT_GT(waiting.get().value().grant.token, lock.grant.token);
    EXPECT_EQ(victim.renew(lock, 60s).result, renewal::outcome::refused);
    EXPECT_EQ(victim.release(lock), release_result::taken_over);
}

TYPED_TEST_P(backend_promises, shows_who_holds_what) {
    client mine(this->world.service());
    const auto lock = mine.take("a/1", 30s);
    mine.take("a/2");
    mine.take("b");
    mine.take("a0");
    const auto found = mine.list("a/");
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].name, "a/1");
    EXPECT_EQ(found[1].name, "a/2");
    EXPECT_EQ(mine.list("").size(), 4U);
    const auto who = mine.inspect("a/1").held_by.value();
    EXPECT_EQ(who.host, "here");
    EXPECT_EQ(who.pid, ::getpid());
    EXPECT_EQ(who.command, "test");
    EXPECT_EQ(who.token, lock.grant.token);
    EXPECT_LE(who.remaining, 30s);
    EXPECT_GT(who.remaining, 0s);
    EXPECT_TRUE(lock.claim.owner.starts_with(who.owner));
    EXPECT_LT(who.owner.size(), lock.claim.owner.size());
    EXPECT_FALSE(mine.inspect("c").held_by);
}

TYPED_TEST_P(backend_promises, threads_never_overlap) {
    int unprotected = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            client locks(this->world.service());
            for (int round = 0; round < 50; ++round) {
                const auto lock = locks.take("it");
                ++unprotected;
                EXPECT_EQ(locks.release(lock), release_result::released);
            }
        });
    }
    for (auto& one : threads)
        one.join();
    EXPECT_EQ(unprotected, 200);
}

// As in a program that ends without waiting for anything.
TYPED_TEST_P(backend_promises, the_event_loop_may_go_first) {
    client eyes(this->world.service());
    const auto lock = eyes.take("it");
    const auto what = ask("it");
    const auto free_one = ask("free");
    auto loop = std::make_unique<asio::io_context>();
    pawl::backend_context context;
    context.strand = asio::make_strand(*loop);
    context.time = &pawl::real_runtime();
    auto one = this->world.service().open(std::move(context));
    asio::co_spawn(*loop, one->acquire(what, pawl::time_point::max()), asio::detached);
    asio::co_spawn(*loop, one->acquire(free_one, pawl::time_point::max()), asio::detached);
    loop->poll();
    one.reset();
    loop.reset();
    EXPECT_EQ(eyes.release(lock), release_result::released);
}

// The waiter says 3 of 3 while that is so, and then there are only 2.
TYPED_TEST_P(backend_promises, a_number_that_was_right_is_not_held_against_a_waiter) {
    client mine(this->world.service()), other(this->world.service());
    auto asked = ask("it");
    asked.mode = pawl::lock_mode::permits;
    asked.permits = 1;
    asked.of = 3;
    ASSERT_TRUE(mine.acquire(asked));
    asked.owner = ask("it").owner;
    asked.permits = 3;
    auto waiting = other.start(asked);
    ASSERT_TRUE(this->waiters(mine, "it", 1));
    mine.resize("it", 2);
    try {
        waiting.get();
        ADD_FAILURE() << "three of two permits were had";
    } catch (const pawl::error& told) {
        EXPECT_EQ(told.reason(), pawl::errc::bad_option);
        EXPECT_NE(std::string(told.what()).find("has 2 permits, and you ask for 3"),
                  std::string::npos)
            << told.what();
    }
}

REGISTER_TYPED_TEST_SUITE_P(backend_promises, only_one_has_it, the_deadline_is_exact,
                            waiters_are_served_in_order, a_lease_that_is_not_renewed_ends,
                            a_renewal_extends_and_never_creates,
                            a_wait_ends_in_time_and_leaves_nothing, a_hold_may_be_without_token,
                            a_cancelled_wait_leaves_nothing,
                            cancelling_at_any_instant_leaves_nothing, tokens_never_go_back,
                            force_tells_the_victim_and_passes_it_on, shows_who_holds_what,
                            threads_never_overlap, the_event_loop_may_go_first,
                            a_number_that_was_right_is_not_held_against_a_waiter);

}  // namespace backend_tests
