// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// pawl/testing.hpp: each fault, and the clock, for both APIs. No test waits for time to pass.
#include <pawl/blocking.hpp>
#include <pawl/client.hpp>
#include <pawl/testing.hpp>

#include <boost/asio/io_context.hpp>

#include <gtest/gtest.h>

#include <future>
#include <optional>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using boost::system::error_code;
using pawl::errc;
using pawl::lock_state;
using pawl::loss_reason;

class TestKit : public testing::Test {
protected:
    pawl::blocking::client make_client() {
        return pawl::blocking::client(service.service(), {.time = clock.time()});
    }
    static errc reason_of(const std::function<void()>& call) {
        try {
            call();
        } catch (const pawl::error& failed) {
            return failed.reason();
        }
        return errc{};
    }
    // Waits for the callback of the loss.
    static void wait_for_loss(const pawl::blocking::held_lock& lock) {
        std::promise<void> lost;
        const std::stop_callback on_loss(lock.lost(), [&] { lost.set_value(); });
        lost.get_future().wait();
    }

    pawl::testing::manual_clock clock;
    pawl::testing::faulty_service service;
};

TEST_F(TestKit, WithoutAFaultItIsAServiceInMemory) {
    auto locks = make_client();
    auto other = make_client();
    auto lock = locks.acquire("it");
    EXPECT_FALSE(other.try_acquire("it").owns_lock());
    EXPECT_EQ(lock.release(), pawl::release_result::released);
    EXPECT_GT(other.acquire("it").token(), lock.token());
}

TEST_F(TestKit, EachRequestFailsWithTheReasonUntilTheServiceRecovers) {
    auto locks = make_client();
    for (const auto reason : {errc::unreachable, errc::unavailable, errc::refused}) {
        service.fail(reason);
        EXPECT_EQ(reason_of([&] { (void)locks.try_acquire("it"); }), reason);
        EXPECT_EQ(reason_of([&] { (void)locks.inspect("it"); }), reason);
        EXPECT_EQ(reason_of([&] { (void)locks.list(); }), reason);
        EXPECT_EQ(reason_of([&] { (void)locks.force_release("it"); }), reason);
        EXPECT_EQ(reason_of([&] { (void)pawl::blocking::latch(locks, "it").try_set(1); }), reason);
    }
    service.recover();
    EXPECT_TRUE(locks.try_acquire("it").owns_lock());
}

//   A holds | the service is down | the ttl passes: A has lost it | the service is back: B gets it
TEST_F(TestKit, ALeaseEndsAfterItsTtlWhileTheServiceIsDown) {
    auto locks = make_client();
    auto lock = locks.acquire("it", {.ttl = 30s});
    service.fail();
    clock.advance(29s);
    EXPECT_TRUE(lock.owns_lock());
    clock.advance(1s);
    EXPECT_EQ(lock.state(), lock_state::lost);
    wait_for_loss(lock);
    EXPECT_EQ(lock.why_lost(), loss_reason::expired);
    service.recover();
    EXPECT_TRUE(make_client().try_acquire("it").owns_lock());
}

TEST_F(TestKit, AHoldIsEndedForAnyReasonOfAService) {
    auto locks = make_client();
    for (const auto reason : {loss_reason::missing, loss_reason::taken_over,
                              loss_reason::failed_over, loss_reason::forced}) {
        const auto lock = locks.acquire("it");
        EXPECT_TRUE(service.end_hold("it", reason));
        wait_for_loss(lock);
        EXPECT_EQ(lock.why_lost(), reason);
    }
    EXPECT_FALSE(service.end_hold("it"));
}

TEST_F(TestKit, AFailoverEndsAllHolds) {
    auto locks = make_client();
    const auto first = locks.acquire("one");
    const auto second = locks.acquire("two");
    service.fail_over();
    wait_for_loss(first);
    wait_for_loss(second);
    EXPECT_EQ(first.why_lost(), loss_reason::failed_over);
    EXPECT_GT(locks.acquire("one").token(), first.token());
}

TEST_F(TestKit, WhatNoServiceDoesIsRefused) {
    EXPECT_EQ(reason_of([&] { service.fail(errc::timed_out); }), errc::bad_option);
    EXPECT_EQ(reason_of([&] { service.delay(-1s); }), errc::bad_option);
    for (const auto reason : {loss_reason::none, loss_reason::expired, loss_reason::max_hold,
                              loss_reason::forked, loss_reason::client_closed})
        EXPECT_EQ(reason_of([&] { (void)service.end_hold("it", reason); }), errc::bad_option);
}

TEST_F(TestKit, TimesAndNamesThatAreNoneAreRefused) {
    for (const pawl::duration by : {pawl::duration(-1s), pawl::forever}) {
        EXPECT_EQ(reason_of([&] { clock.advance(by); }), errc::bad_option);
        EXPECT_EQ(reason_of([&] { service.delay(by); }), errc::bad_option);
    }
    const auto before = clock.now();
    clock.advance(0s);
    EXPECT_EQ(clock.now(), before);
    EXPECT_EQ(reason_of([&] { (void)service.end_hold(""); }), errc::bad_name);
}

// As docs/guide/testing-your-code.md says: a lease that is renewed in small steps lives until its
// max_hold; one long step only ends the lease.
TEST_F(TestKit, AMaxHoldEndsInSmallSteps) {
    auto locks = make_client();
    auto renewed = locks.acquire("renewed", {.ttl = 30s, .max_hold = 60s});
    for (int i = 0; i < 7; ++i) {
        clock.advance(9s);
        if (i < 6) renewed.renew();
    }
    wait_for_loss(renewed);
    EXPECT_EQ(renewed.why_lost(), loss_reason::max_hold);
    const auto another = locks.acquire("another", {.ttl = 30s, .max_hold = 60s});
    clock.advance(60s);
    EXPECT_EQ(another.why_lost(), loss_reason::expired);
}

// With an event loop on the test's own thread, each step is exact.
class AsyncTestKit : public TestKit {
protected:
    void run_ready() {
        loop.restart();
        loop.poll();
    }

    asio::io_context loop;
    pawl::client_options options{.time = clock.time()};
    pawl::client locks{loop.get_executor(), service.service(), options};
};

TEST_F(AsyncTestKit, ASlowServiceAnswersAfterTheDelay) {
    service.delay(5s);
    std::optional<pawl::held_lock> lock;
    locks.async_acquire("it", {.ttl = 30s}, [&](error_code, pawl::held_lock received) {
        lock.emplace(std::move(received));
    });
    run_ready();
    clock.advance(4999ms);
    run_ready();
    EXPECT_FALSE(lock);
    const auto asked_at = clock.now() - 4999ms;
    clock.advance(1ms);
    run_ready();
    ASSERT_TRUE(lock && *lock);
    EXPECT_LT(lock->safe_until(), asked_at + 30s) << "the lease counts from the request";
}

// Else a client that closes now waits for the answer, and the clock stands still.
TEST_F(AsyncTestKit, ARecoveryAnswersTheDelayedRequests) {
    service.delay(8s);
    std::optional<pawl::held_lock> lock;
    error_code failure;
    locks.async_acquire("it", {.ttl = 30s}, [&](error_code, pawl::held_lock received) {
        lock.emplace(std::move(received));
    });
    locks.async_try_acquire("other", {},
                            [&](error_code ec, const pawl::held_lock&) { failure = ec; });
    run_ready();
    EXPECT_FALSE(lock);
    service.recover();
    run_ready();
    EXPECT_TRUE(lock && *lock);
    EXPECT_FALSE(failure) << failure.message();
}

TEST_F(AsyncTestKit, ATryEndsAfterItsLimit) {
    service.delay(5s);
    error_code failure;
    locks.async_try_acquire("it", {}, [&](error_code ec, const pawl::held_lock&) { failure = ec; });
    run_ready();
    clock.advance(999ms);
    run_ready();
    EXPECT_FALSE(failure);
    clock.advance(1ms);
    run_ready();
    EXPECT_EQ(failure, error_code(make_error_code(errc::unreachable)));
}

//   A holds | the hold is ended by force | A releases before its client has run: as a server does,
//   the service says that it does not have the hold
TEST_F(TestKit, AReleaseBeforeTheNoticeFindsNoHold) {
    auto locks = make_client();
    auto lock = locks.acquire("it");
    service.end_hold("it", loss_reason::forced);
    const auto result = lock.release();
    // The notice may have come first; then the release says what it said.
    EXPECT_TRUE(
        (result == pawl::release_result::expired && lock.why_lost() == loss_reason::missing) ||
        (result == pawl::release_result::taken_over && lock.why_lost() == loss_reason::forced));
}

//   A waits for the lock | the service goes down, and comes back | the holder releases: A has it
TEST_F(AsyncTestKit, AWaitOutlastsAnOutage) {
    std::optional<pawl::held_lock> holder, waiter;
    locks.async_acquire("it", {.ttl = 10s}, [&](error_code, pawl::held_lock received) {
        holder.emplace(std::move(received));
    });
    run_ready();
    service.fail();
    error_code failure;
    locks.async_acquire("it", {.ttl = 10s}, [&](error_code ec, pawl::held_lock received) {
        failure = ec;
        waiter.emplace(std::move(received));
    });
    for (int i = 0; i < 20; ++i) {
        run_ready();
        clock.advance(1s);
    }
    EXPECT_FALSE(waiter);
    EXPECT_EQ(holder->state(), lock_state::lost);
    service.recover();
    for (int i = 0; i < 20 && !waiter; ++i) {
        clock.advance(1s);
        run_ready();
    }
    ASSERT_TRUE(waiter && *waiter) << failure.message();
}

TEST_F(AsyncTestKit, AnAcquireGivesUpWhenItsWaitIsOver) {
    service.fail();
    error_code failure;
    locks.async_acquire("it", {.wait = 3s},
                        [&](error_code ec, const pawl::held_lock&) { failure = ec; });
    for (int i = 0; i < 10; ++i) {
        run_ready();
        clock.advance(1s);
    }
    run_ready();
    EXPECT_EQ(failure, error_code(make_error_code(errc::unreachable)));
}

// Nothing is left of the clients when their loop ends before their clock.
TEST_F(TestKit, TheEndOfTheLoopEndsTheWaits) {
    const auto mark = std::make_shared<int>(0);
    {
        asio::io_context loop;
        pawl::client_options options;
        options.time = clock.time();
        options.log = [mark](std::string_view) {};
        pawl::client locks(loop.get_executor(), service.service(), options);
        for (int i = 0; i < 3; ++i)
            locks.async_acquire("it", {}, [mark](error_code, const pawl::held_lock&) {});
        loop.poll();
        clock.advance(1s);
        options.log = {};
    }
    EXPECT_EQ(mark.use_count(), 1);
}

}  // namespace
