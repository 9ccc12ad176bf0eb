// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Holds under a value that the caller chose.
#include "test_groups.hpp"

#include <pawl/spi/backend.hpp>

namespace pawl::conformance {

namespace {

using blocking::held_lock;

constexpr lock_options options{.ttl = long_ttl, .wait = wait_bound};
constexpr try_options no_wait{.ttl = long_ttl};

bool with_caller_values(const capabilities& supported) { return supported.caller_values; }

bool with_values_and_processes(const capabilities& supported) {
    return supported.caller_values && supported.across_processes;
}

bool without_caller_values(const capabilities& supported) { return !supported.caller_values; }

void a_caller_value_holds_like_any_other(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    auto lock = locks.try_acquire_as("it", "ticket 1", no_wait);
    require(lock.owns_lock() && lock.token(), "a free lock was not granted with a token");
    require(!other.try_acquire("it", no_wait).owns_lock(), "it did not exclude another client");
    require(!other.try_acquire_as("it", "ticket 2", no_wait).owns_lock(),
            "it did not exclude another value");
    require(!locks.try_acquire_as("it", "ticket 1", no_wait).owns_lock(),
            "it did not exclude the same value");
    lock.renew();
    require_equal(lock.release(), release_result::released, "its release");
    auto next = other.acquire("it", options);
    require(next.token() > lock.token(), "the next hold has no later token");
}

// The release of such a hold wakes the waiters, and a polling caller gets a lock that becomes free.
void a_caller_value_may_wait(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    auto first = locks.acquire_as("it", "ticket 1", options);
    held_lock second;
    background_task waiting([&] { second = other.acquire("it", options); });
    require(has_waiters(service_fixture, locks, "it", 1), "no waiter is in the queue");
    (void)first.release();
    waiting.get();
    held_lock third;
    background_task polling([&] { third = locks.acquire_as("it", "ticket 3", options); });
    (void)second.release();
    polling.get();
    require(third.token() > second.token(), "the polling caller was not granted the lock");
    const auto why = failure_of(
        [&] { (void)other.acquire_as("it", "ticket 4", {.ttl = long_ttl, .wait = 50ms}); });
    require_equal(why, errc::timed_out, "a bounded wait");
}

void a_cancelled_wait_under_a_caller_value_leaves_nothing(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    for (int round = 0; round < 10; ++round) {
        auto busy = other.acquire("it", options);
        std::stop_source stop;
        std::optional<errc> why;
        const auto value = "ticket " + std::to_string(round);
        background_task waiting([&] {
            why =
                failure_of([&] { (void)locks.acquire_as("it", value, options, stop.get_token()); });
        });
        // In some rounds the holder's release and the cancellation come at the same time.
        background_task stopping([&] { stop.request_stop(); });
        if (round % 2 == 1) (void)busy.release();
        stopping.get();
        waiting.get();
        require(why == errc::cancelled || round % 2 == 1, "a cancelled wait did not end");
        if (busy.owns_lock()) (void)busy.release();
        require(eventually([&] { return is_free(other, "it"); }), "a lock or a waiter is left");
    }
}

void the_stored_value_adopts_the_hold(fixture& service_fixture) {
    const duration ttl = supported_ttl(service_fixture, 3s);
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    require(!other.adopt("it", "ticket 1", no_wait).owns_lock(), "a free lock was adopted");
    require(is_free(other, "it"), "adopting made a new hold");
    auto first = locks.acquire_as("it", "ticket 1", {.ttl = ttl, .wait = wait_bound});
    require(!other.adopt("it", "ticket", no_wait).owns_lock(), "half a value was accepted");
    require(!other.adopt("it", "ticket 12", no_wait).owns_lock(), "a longer value was accepted");
    auto second = other.adopt("it", "ticket 1", no_wait);
    require(second.owns_lock(), "the right value was not accepted");
    require(second.token() > first.token(), "adopting has no later token");
    const time_point until = second.safe_until();
    require(until > boot_clock::now() + long_ttl / 2, "adopting did not extend it");
    require_equal(second.release(), release_result::released, "release by the adopter");
    require(first.release() != release_result::released, "the hold was released twice");
    require(is_free(locks, "it"), "a lock or a waiter is left");
}

bool outlives_its_first_holder(fixture& service_fixture, duration ttl) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    agent taker(env);
    const auto first = token_in(taker.request("try it " + milliseconds_text(ttl) + " ticket"));
    auto own_lock = locks.adopt("it", "ticket", {.ttl = ttl});
    if (!own_lock) return false;
    require(own_lock.token() > first, "adopting has no later token");
    taker.process().kill_and_reap();
    const auto then = boot_clock::now() + 2 * ttl;
    const auto is_over = [&] { return own_lock.state() == lock_state::lost; };
    require(eventually([&] { return own_lock.safe_until() > then || is_over(); }, 2 * ttl + soon),
            "it is not renewed");
    const bool was_free = other.try_acquire("it", no_wait).owns_lock();
    if (is_over()) return false;
    require(!was_free, "it ended with its first holder");
    require_equal(own_lock.release(), release_result::released, "release by the adopter");
    return true;
}

// A process acquires the lock under a value. Another process adopts the hold, and the first one is
// killed.
void an_adopted_hold_outlives_its_first_holder(fixture& service_fixture) {
    const auto test = [&](duration ttl) { return outlives_its_first_holder(service_fixture, ttl); };
    with_a_lasting_lease(service_fixture, 1s, test, "each adopted hold is lost");
}

void bad_values_are_refused(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    const auto refused = [&](const std::string& value, lock_options lock_settings = options) {
        return failure_of([&] { (void)locks.acquire_as("it", value, lock_settings); });
    };
    require_equal(refused(""), errc::bad_option, "an empty value");
    require_equal(refused(std::string(257, 'v')), errc::bad_option, "257 bytes");
    require_equal(refused("two\nlines"), errc::bad_option, "a control character");
    require_equal(refused("v", {.mode = lock_mode::shared}), errc::bad_option, "a shared lock");
    require_equal(refused("v", {.fair = true}), errc::bad_option, "a fair lock");
    require_equal(failure_of([&] { (void)locks.adopt("it", ""); }), errc::bad_option,
                  "adopting without a value");
    require(is_free(locks, "it"), "a refused value left a lock");
    const std::string longest(256, ';');
    require(locks.try_acquire_as("it", longest, no_wait).owns_lock(), "256 bytes are refused");
}

// The service must not grant the lock under another value than the caller's.
void caller_values_are_refused(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    const auto taking = failure_of([&] { (void)locks.try_acquire_as("it", "ticket", no_wait); });
    require_equal(taking, errc::unsupported, "acquiring under a caller's value");
    const auto adopting = failure_of([&] { (void)locks.adopt("it", "ticket", no_wait); });
    require_equal(adopting, errc::unsupported, "adopting by a value");
    require(is_free(locks, "it"), "a refused value left a lock");
}

constexpr test_case list[] = {
    {"caller_values_are_refused", without_caller_values, caller_values_are_refused},
    {"a_caller_value_holds_like_any_other", with_caller_values,
     a_caller_value_holds_like_any_other},
    {"a_caller_value_may_wait", with_caller_values, a_caller_value_may_wait},
    {"a_cancelled_wait_under_a_caller_value_leaves_nothing", with_caller_values,
     a_cancelled_wait_under_a_caller_value_leaves_nothing},
    {"the_stored_value_adopts_the_hold", with_caller_values, the_stored_value_adopts_the_hold},
    {"an_adopted_hold_outlives_its_first_holder", with_values_and_processes,
     an_adopted_hold_outlives_its_first_holder},
    {"bad_values_are_refused", with_caller_values, bad_values_are_refused},
};

}  // namespace

std::span<const test_case> value_tests() noexcept { return list; }

}  // namespace pawl::conformance
