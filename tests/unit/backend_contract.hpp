// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What every backend must do, tested at the backend itself. `Environment` has `service()` and
// starts empty.
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
using pawl::spi::renewal;
using support::eventually;

template <class Environment>
class BackendContract : public testing::Test {
protected:
    static bool has_waiters(backend_runner& observer, const std::string& name,
                            std::uint64_t count) {
        return eventually([&] { return observer.inspect(name).waiters == count; });
    }
    static bool is_free(backend_runner& observer, const std::string& name) {
        const auto info = observer.inspect(name);
        return !info.held_by && info.waiters == 0;
    }
    static bool was_cancelled(backend_runner::pending& pending_wait) {
        try {
            pending_wait.get();
            return false;
        } catch (const boost::system::system_error& failed) {
            return failed.code() == asio::error::operation_aborted;
        }
    }

    Environment environment;
};

TYPED_TEST_SUITE_P(BackendContract);

TYPED_TEST_P(BackendContract, OnlyOneHasIt) {
    backend_runner holder(this->environment.service()), other(this->environment.service());
    const auto lock = holder.acquire_hold("it");
    EXPECT_FALSE(other.acquire(make_claim("it")));
    EXPECT_TRUE(other.acquire(make_claim("another")));
    EXPECT_EQ(holder.release(lock), release_result::released);
    EXPECT_EQ(holder.release(lock), release_result::expired);
    EXPECT_TRUE(other.acquire(make_claim("it")));
    EXPECT_EQ(holder.release(lock), release_result::taken_over);
}

TYPED_TEST_P(BackendContract, TheDeadlineIsExact) {
    backend_runner holder(this->environment.service());
    const auto before = now();
    const auto lock = holder.acquire_hold("it", 30s);
    const auto margin = pawl::spi::drift(30s);
    EXPECT_GE(lock.grant.deadline, before + 30s - margin);
    EXPECT_LE(lock.grant.deadline, now() + 30s - margin);
    EXPECT_FALSE(lock.grant.needs_renewal);
}

TYPED_TEST_P(BackendContract, WaitersAreServedInOrder) {
    backend_runner holder(this->environment.service());
    const auto first = holder.acquire_hold("it");
    std::deque<backend_runner> clients;
    std::deque<backend_runner::pending> pending_waits;
    for (std::uint64_t i = 0; i < 4; ++i) {
        clients.emplace_back(this->environment.service());
        pending_waits.push_back(clients.back().start(make_claim("it")));
        ASSERT_TRUE(this->has_waiters(holder, "it", i + 1));
    }
    auto last = first.grant.token;
    EXPECT_EQ(holder.release(first), release_result::released);
    for (std::size_t i = 0; i < pending_waits.size(); ++i) {
        const auto lock = pending_waits[i].get().value();
        EXPECT_GT(lock.grant.token, last);
        last = lock.grant.token;
        for (std::size_t behind = i + 1; behind < pending_waits.size(); ++behind)
            EXPECT_FALSE(pending_waits[behind].is_done());
        EXPECT_EQ(clients[i].release(lock), release_result::released);
    }
}

TYPED_TEST_P(BackendContract, ALeaseThatIsNotRenewedEnds) {
    backend_runner holder(this->environment.service()), other(this->environment.service());
    const auto lock = holder.acquire_hold("it", 300ms);
    const auto next = other.acquire_hold("it");
    EXPECT_GE(now(), lock.grant.deadline);
    EXPECT_GT(next.grant.token, lock.grant.token);
    EXPECT_EQ(holder.renew(lock, 300ms).result, renewal::outcome::refused);
    EXPECT_EQ(holder.release(lock), release_result::taken_over);
    EXPECT_EQ(other.renew(next, 60s).result, renewal::outcome::extended);
}

TYPED_TEST_P(BackendContract, ARenewalExtendsAndNeverCreates) {
    backend_runner holder(this->environment.service());
    const auto lock = holder.acquire_hold("it", 10s);
    const auto before = now();
    const auto renewed = holder.renew(lock, 40s);
    EXPECT_EQ(renewed.result, renewal::outcome::extended);
    EXPECT_GE(renewed.deadline, before + 40s - pawl::spi::drift(40s));
    EXPECT_GT(holder.inspect("it").held_by.value().remaining, 30s);
    (void)holder.release(lock);
    EXPECT_EQ(holder.renew(lock, 40s).result, renewal::outcome::refused);
    EXPECT_TRUE(this->is_free(holder, "it"));
}

TYPED_TEST_P(BackendContract, AWaitEndsInTimeAndLeavesNothing) {
    backend_runner holder(this->environment.service()), other(this->environment.service());
    const auto lock = holder.acquire_hold("it");
    const auto began = now();
    EXPECT_FALSE(other.acquire(make_claim("it"), 150ms));
    EXPECT_GE(now(), began + 150ms);
    EXPECT_EQ(holder.inspect("it").waiters, 0U);
    (void)holder.release(lock);
    EXPECT_TRUE(this->is_free(holder, "it"));
}

// 1. A downgrade is carried out. 2. Its client does not learn it, for want of memory, and renews an
// exclusive hold. It must not believe in that hold beside readers.
TYPED_TEST_P(BackendContract, ARenewalIsOfTheModeThatIsHeld) {
    backend_runner holder(this->environment.service());
    auto lock = holder.acquire_hold("it");
    ASSERT_TRUE(holder.downgrade(lock));
    EXPECT_EQ(holder.renew(lock, 60s).result, pawl::spi::renewal::outcome::refused);
    lock.claim.mode = pawl::lock_mode::shared;
    EXPECT_EQ(holder.renew(lock, 60s).result, pawl::spi::renewal::outcome::extended);
}

TYPED_TEST_P(BackendContract, ACancelledWaitLeavesNothing) {
    backend_runner holder(this->environment.service()), other(this->environment.service());
    const auto lock = holder.acquire_hold("it");
    auto waiting = other.start(make_claim("it"));
    ASSERT_TRUE(this->has_waiters(holder, "it", 1));
    waiting.cancel();
    EXPECT_TRUE(this->was_cancelled(waiting));
    EXPECT_EQ(holder.inspect("it").waiters, 0U);
    EXPECT_EQ(holder.release(lock), release_result::released);
    EXPECT_TRUE(this->is_free(holder, "it"));
}

// At any instant: in the first attempt, in the wait, during the hand-off, or after it.
TYPED_TEST_P(BackendContract, CancellingAtAnyInstantLeavesNothing) {
    backend_runner holder(this->environment.service()), other(this->environment.service());
    std::minstd_rand dice(3);
    std::uniform_int_distribution<int> microseconds(0, 2500);
    for (int round = 0; round < 100; ++round) {
        const bool is_held = round % 3 != 0;
        std::optional<pawl::spi::hold> lock;
        if (is_held) lock = holder.acquire_hold("it");
        auto waiting = other.start(make_claim("it"));
        std::thread stopping([&waiting, pause = microseconds(dice)] {
            // Anywhere in the course of the acquire and of the release below.
            std::this_thread::sleep_for(std::chrono::microseconds(pause));
            waiting.cancel();
        });
        // As above.
        std::this_thread::sleep_for(std::chrono::microseconds(microseconds(dice)));
        if (is_held) {
            EXPECT_EQ(holder.release(*lock), release_result::released);
        }
        stopping.join();
        std::optional<pawl::spi::hold> acquired;
        try {
            acquired = waiting.get();
        } catch (const boost::system::system_error& failed) {
            EXPECT_EQ(failed.code(), asio::error::operation_aborted);
        }
        if (acquired) (void)other.release(*acquired);
        ASSERT_TRUE(this->is_free(holder, "it")) << "round " << round;
    }
}

TYPED_TEST_P(BackendContract, TokensNeverGoBack) {
    backend_runner holder(this->environment.service()), other(this->environment.service());
    pawl::fencing_token last;
    for (int round = 0; round < 5; ++round) {
        const auto first = holder.acquire_hold("it", 60s);
        EXPECT_GT(first.grant.token, last);
        (void)holder.release(first);
        const auto expiring = holder.acquire_hold("it", 20ms);
        EXPECT_GT(expiring.grant.token, first.grant.token);
        const auto forced = other.acquire_hold("it", 60s);
        EXPECT_GT(forced.grant.token, expiring.grant.token);
        EXPECT_TRUE(holder.force_release("it"));
        last = forced.grant.token;
    }
}

TYPED_TEST_P(BackendContract, ForceTellsTheVictimAndPassesItOn) {
    backend_runner victim(this->environment.service()), other(this->environment.service()),
        operator_client(this->environment.service());
    EXPECT_FALSE(operator_client.force_release("it"));
    const auto lock = victim.acquire_hold("it");
    auto waiting = other.start(make_claim("it"));
    ASSERT_TRUE(this->has_waiters(operator_client, "it", 1));
    EXPECT_TRUE(operator_client.force_release("it"));
    EXPECT_TRUE(eventually([&] { return victim.has_lost(lock.claim.owner, loss_reason::forced); }));
    EXPECT_GT(waiting.get().value().grant.token, lock.grant.token);
    EXPECT_EQ(victim.renew(lock, 60s).result, renewal::outcome::refused);
    EXPECT_EQ(victim.release(lock), release_result::taken_over);
}

TYPED_TEST_P(BackendContract, ShowsWhoHoldsWhat) {
    backend_runner holder(this->environment.service());
    const auto lock = holder.acquire_hold("a/1", 30s);
    holder.acquire_hold("a/2");
    holder.acquire_hold("b");
    holder.acquire_hold("a0");
    const auto infos = holder.list("a/");
    ASSERT_EQ(infos.size(), 2U);
    EXPECT_EQ(infos[0].name, "a/1");
    EXPECT_EQ(infos[1].name, "a/2");
    EXPECT_EQ(holder.list("").size(), 4U);
    const auto found_holder = holder.inspect("a/1").held_by.value();
    EXPECT_EQ(found_holder.host, "here");
    EXPECT_EQ(found_holder.pid, ::getpid());
    EXPECT_EQ(found_holder.command, "test");
    EXPECT_EQ(found_holder.token, lock.grant.token);
    EXPECT_LE(found_holder.remaining, 30s);
    EXPECT_GT(found_holder.remaining, 0s);
    EXPECT_TRUE(lock.claim.owner.starts_with(found_holder.owner));
    EXPECT_LT(found_holder.owner.size(), lock.claim.owner.size());
    EXPECT_FALSE(holder.inspect("c").held_by);
}

TYPED_TEST_P(BackendContract, ThreadsNeverOverlap) {
    int unprotected = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            backend_runner locks(this->environment.service());
            for (int round = 0; round < 50; ++round) {
                const auto lock = locks.acquire_hold("it");
                ++unprotected;
                EXPECT_EQ(locks.release(lock), release_result::released);
            }
        });
    }
    for (auto& thread : threads)
        thread.join();
    EXPECT_EQ(unprotected, 200);
}

// As in a program that ends without waiting for anything.
TYPED_TEST_P(BackendContract, TheEventLoopMayGoFirst) {
    backend_runner observer(this->environment.service());
    const auto lock = observer.acquire_hold("it");
    const auto requested = make_claim("it");
    const auto free_claim = make_claim("free");
    auto loop = std::make_unique<asio::io_context>();
    pawl::spi::backend_context context;
    context.strand = asio::make_strand(*loop);
    context.time = &pawl::spi::real_runtime();
    auto backend = this->environment.service().open(std::move(context));
    asio::co_spawn(*loop, backend->acquire(requested, pawl::time_point::max()), asio::detached);
    asio::co_spawn(*loop, backend->acquire(free_claim, pawl::time_point::max()), asio::detached);
    loop->poll();
    backend.reset();
    loop.reset();
    EXPECT_EQ(observer.release(lock), release_result::released);
}

// The waiter says 3 of 3 while that is true, and then there are only 2.
TYPED_TEST_P(BackendContract, ANumberThatWasRightIsNotHeldAgainstAWaiter) {
    backend_runner holder(this->environment.service()), other(this->environment.service());
    auto requested = make_claim("it");
    requested.mode = pawl::lock_mode::permits;
    requested.permits = 1;
    requested.total_permits = 3;
    ASSERT_TRUE(holder.acquire(requested));
    requested.owner = make_claim("it").owner;
    requested.permits = 3;
    auto waiting = other.start(requested);
    ASSERT_TRUE(this->has_waiters(holder, "it", 1));
    holder.resize("it", 2);
    try {
        waiting.get();
        ADD_FAILURE() << "three of two permits were granted";
    } catch (const pawl::error& refused) {
        EXPECT_EQ(refused.reason(), pawl::errc::bad_option);
        EXPECT_NE(std::string(refused.what()).find("has 2 permits, and you ask for 3"),
                  std::string::npos)
            << refused.what();
    }
}

REGISTER_TYPED_TEST_SUITE_P(BackendContract, OnlyOneHasIt, TheDeadlineIsExact,
                            WaitersAreServedInOrder, ALeaseThatIsNotRenewedEnds,
                            ARenewalExtendsAndNeverCreates, AWaitEndsInTimeAndLeavesNothing,
                            ARenewalIsOfTheModeThatIsHeld, ACancelledWaitLeavesNothing,
                            CancellingAtAnyInstantLeavesNothing, TokensNeverGoBack,
                            ForceTellsTheVictimAndPassesItOn, ShowsWhoHoldsWhat,
                            ThreadsNeverOverlap, TheEventLoopMayGoFirst,
                            ANumberThatWasRightIsNotHeldAgainstAWaiter);

}  // namespace backend_tests
