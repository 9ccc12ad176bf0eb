// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "test_groups.hpp"

#include <random>

namespace pawl::conformance {

namespace {

void cancelled_before_it_began(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    std::stop_source stop;
    stop.request_stop();
    const auto why = failure_of([&] {
        (void)locks.acquire("it", {.ttl = long_ttl, .wait = wait_bound}, stop.get_token());
    });
    require_equal(why, errc::cancelled, "an acquire whose stop was requested before");
    require(eventually([&] { return is_free(locks, "it"); }), "a cancelled acquire left a lock");
}

void cancelled_wait_ends_at_once(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), other(env.target, long_tries);
    auto lock = client.acquire("it", {.ttl = long_ttl, .wait = wait_bound});
    std::stop_source stop;
    std::optional<errc> why;
    background_task waiting([&] {
        why = failure_of([&] {
            (void)other.acquire("it", {.ttl = long_ttl, .wait = wait_bound}, stop.get_token());
        });
    });
    require(has_waiters(service_fixture, client, "it", 1), "a waiter is not seen");
    stop.request_stop();
    waiting.get();
    require_equal(why, errc::cancelled, "a cancelled wait");
    require(has_waiters(service_fixture, client, "it", 0),
            "a cancelled wait left a place in the queue");
    require_equal(lock.state(), lock_state::held, "the holder, after another one's cancelled wait");
    require_equal(lock.release(), release_result::released, "release");
    require(other.try_acquire("it", {.ttl = long_ttl}).owns_lock(), "the lock is not free");
}

// One round: a waiter is cancelled and the holder releases, in any order and at any distance.
void cancel_near_release(blocking::client& client, blocking::client& other,
                         std::minstd_rand& random_numbers) {
    std::uniform_int_distribution<int> microseconds(0, 3000);
    auto lock = client.acquire("it", {.ttl = long_ttl, .wait = wait_bound});
    std::stop_source stop;
    std::optional<errc> why;
    background_task waiting([&] {
        why = failure_of([&] {
            (void)other.acquire("it", {.ttl = long_ttl, .wait = wait_bound}, stop.get_token());
        });
    });
    const int until_stop = microseconds(random_numbers),
              until_release = microseconds(random_numbers);
    background_task stopping([&] {
        std::this_thread::sleep_for(std::chrono::microseconds(until_stop));
        stop.request_stop();
    });
    std::this_thread::sleep_for(std::chrono::microseconds(until_release));
    require_equal(lock.release(), release_result::released, "release");
    stopping.get();
    waiting.get();
    require(!why || *why == errc::cancelled, "a cancelled wait ended with: " + to_text(why));
}

// Whatever the instant, the lock is free afterwards although its ttl is a minute.
void cancelled_at_any_moment_leaves_nothing(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), other(env.target, long_tries);
    std::minstd_rand random_numbers(7);
    for (int round = 0; round < 80; ++round) {
        cancel_near_release(client, other, random_numbers);
        require(eventually([&] { return is_free(client, "it"); }),
                "round " + std::to_string(round) + ": a cancelled wait left a lock");
        require(has_waiters(service_fixture, client, "it", 0),
                "round " + std::to_string(round) + ": a cancelled wait left a place in the queue");
    }
}

// The lock is free: the stop comes during the request, during the reply, or too late.
void cancelled_while_it_is_granted_leaves_nothing(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), observer(env.target, long_tries);
    std::minstd_rand random_numbers(11);
    std::uniform_int_distribution<int> microseconds(0, 300);
    for (int round = 0; round < 150; ++round) {
        std::stop_source stop;
        const int until_stop = microseconds(random_numbers);
        background_task stopping([&] {
            std::this_thread::sleep_for(std::chrono::microseconds(until_stop));
            stop.request_stop();
        });
        const auto why = failure_of([&] {
            (void)locks.acquire("it", {.ttl = long_ttl, .wait = wait_bound}, stop.get_token());
        });
        stopping.get();
        require(!why || *why == errc::cancelled, "a cancelled acquire ended with: " + to_text(why));
        require(eventually([&] { return is_free(observer, "it"); }),
                "round " + std::to_string(round) + ": a cancelled acquire left a lock");
    }
}

// Many waiters give up at random; the waiters behind them still get the lock.
void cancelled_waiters_do_not_stop_the_queue(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), other(env.target, long_tries),
        third(env.target, long_tries);
    std::minstd_rand random_numbers(13);
    std::uniform_int_distribution<int> microseconds(0, 20000);
    auto lock = client.acquire("it", {.ttl = long_ttl, .wait = wait_bound});
    std::atomic<int> served = 0;
    std::vector<std::unique_ptr<background_task>> crowd;
    for (int i = 0; i < 24; ++i) {
        blocking::client& locks = i % 2 == 0 ? other : third;
        const int until_stop = microseconds(random_numbers);
        const bool patient = i % 3 == 0;
        crowd.push_back(std::make_unique<background_task>([&locks, &served, until_stop, patient] {
            std::stop_source stop;
            std::jthread stopping;
            if (!patient)
                stopping = std::jthread([&stop, until_stop] {
                    std::this_thread::sleep_for(std::chrono::microseconds(until_stop));
                    stop.request_stop();
                });
            const auto why = failure_of([&] {
                (void)locks.acquire("it", {.ttl = long_ttl, .wait = wait_bound}, stop.get_token());
            });
            if (!why && patient) ++served;
        }));
    }
    std::this_thread::sleep_for(10ms);
    (void)lock.release();
    require(eventually([&] { return served == 8; }),
            "waiters that gave up stopped those behind them");
    for (auto& each : crowd)
        each->get();
    require(eventually([&] { return is_free(client, "it"); }), "a waiter that gave up left a lock");
    require(has_waiters(service_fixture, client, "it", 0),
            "a waiter that gave up left a place in the queue");
}

constexpr test_case list[] = {
    {"cancelled_before_it_began", every_backend, cancelled_before_it_began},
    {"cancelled_wait_ends_at_once", every_backend, cancelled_wait_ends_at_once},
    {"cancelled_at_any_moment_leaves_nothing", every_backend,
     cancelled_at_any_moment_leaves_nothing},
    {"cancelled_while_it_is_granted_leaves_nothing", every_backend,
     cancelled_while_it_is_granted_leaves_nothing},
    {"cancelled_waiters_do_not_stop_the_queue", every_backend,
     cancelled_waiters_do_not_stop_the_queue},
};

}  // namespace

std::span<const test_case> cancelling_tests() noexcept { return list; }

}  // namespace pawl::conformance
