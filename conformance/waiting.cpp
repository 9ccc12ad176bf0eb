// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "test_groups.hpp"

namespace pawl::conformance {

namespace {

void try_sends_one_request(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), other(env.target, long_tries);
    require(other.try_acquire("it", {.ttl = long_ttl}).owns_lock(), "try_acquire of a free lock");
    require(eventually([&] { return is_free(other, "it"); }), "a dropped handle kept its lock");
    auto lock = client.acquire("it", {.ttl = long_ttl, .wait = wait_bound});
    require(!other.try_acquire("it", {.ttl = long_ttl}).owns_lock(),
            "try_acquire got a lock that is held");
    require(has_waiters(service_fixture, client, "it", 0), "try_acquire left a place in the queue");
}

void wait_of_zero_sends_one_request(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), other(env.target, long_tries);
    auto free_lock = other.acquire("free", {.ttl = long_ttl, .wait = 0s});
    require(static_cast<bool>(free_lock), "wait = 0 on a free lock");
    auto lock = client.acquire("it", {.ttl = long_ttl, .wait = wait_bound});
    const auto why = failure_of([&] { (void)other.acquire("it", {.ttl = long_ttl, .wait = 0s}); });
    require_equal(why, errc::timed_out, "wait = 0 on a held lock");
}

void bounded_wait_ends_after_its_time(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), other(env.target, long_tries);
    auto lock = client.acquire("it", {.ttl = long_ttl, .wait = wait_bound});
    const time_point begun = boot_clock::now();
    const auto why =
        failure_of([&] { (void)other.acquire("it", {.ttl = long_ttl, .wait = 300ms}); });
    require_equal(why, errc::timed_out, "a wait of 300 ms on a held lock");
    require(boot_clock::now() - begun >= 300ms, "a wait of 300 ms ended before its time");
    require(has_waiters(service_fixture, client, "it", 0),
            "a wait that timed out left a place in the queue");
    require_equal(lock.release(), release_result::released, "release");
    auto after = other.try_acquire("it", {.ttl = long_ttl});
    require(static_cast<bool>(after), "a wait that timed out left a lock");
}

void bounded_wait_gets_it_in_time(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), other(env.target, long_tries);
    auto lock = client.acquire("it", {.ttl = long_ttl, .wait = wait_bound});
    background_task waiting(
        [&] { (void)other.acquire("it", {.ttl = long_ttl, .wait = long_ttl}); });
    require(has_waiters(service_fixture, client, "it", 1), "a waiter is not seen");
    require_equal(lock.release(), release_result::released, "release");
    waiting.get();
}

// Contention is an answer: an empty handle, and no place in the queue is left.
void try_acquire_for_waits(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), other(env.target, long_tries);
    auto lock = other.try_acquire_for("it", wait_bound, {.ttl = long_ttl});
    require(lock.owns_lock(), "try_acquire_for of a free lock");
    (void)client.try_acquire_for("another", wait_bound, {.ttl = long_ttl});  // it connects
    const time_point begun = boot_clock::now();
    require(!client.try_acquire_for("it", 300ms, {.ttl = long_ttl}).owns_lock(),
            "try_acquire_for got a lock that is held");
    require(boot_clock::now() - begun >= 300ms, "try_acquire_for ended before its time");
    require(!client.try_acquire_for("it", 0s, {.ttl = long_ttl}).owns_lock(),
            "try_acquire_for without a wait got a lock that is held");
    require(has_waiters(service_fixture, client, "it", 0),
            "try_acquire_for left a place in the queue");
    require_equal(failure_of([&] { (void)client.try_acquire_for("it", 1s, {.wait = 0s}); }),
                  errc::bad_option, "two waits");
    background_task waiting([&] {
        require(client.try_acquire_for("it", long_ttl, {.ttl = long_ttl}).owns_lock(),
                "try_acquire_for did not get a lock that was released");
    });
    require(has_waiters(service_fixture, client, "it", 1), "a waiter is not seen");
    require_equal(lock.release(), release_result::released, "release");
    waiting.get();
}

// The ttl is a minute: only a wake-up, not the end of a lease, can end the wait in time.
void release_wakes_an_endless_wait(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), other(env.target, long_tries);
    for (int round = 0; round < 10; ++round) {
        auto lock = client.acquire("it", {.ttl = long_ttl, .wait = wait_bound});
        std::atomic<bool> acquired = false;
        background_task waiting([&] {
            auto granted = other.acquire("it", {.ttl = long_ttl});
            acquired = true;
        });
        require(has_waiters(service_fixture, client, "it", 1), "a waiter is not seen");
        require(!acquired, "a waiter got a lock that is held");
        require_equal(lock.release(), release_result::released, "release");
        require(eventually([&] { return acquired.load(); }), "a release woke no waiter");
        waiting.get();
    }
}

// The same; the wait begins at the very moment of the release.
void no_release_is_missed(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client first_client(env.target, long_tries), second_client(env.target, long_tries);
    std::atomic<int> served = 0;
    const auto trade = [&](blocking::client& locks) {
        for (int i = 0; i < 200; ++i, ++served)
            (void)locks.acquire("it", {.ttl = long_ttl, .wait = wait_bound}).release();
    };
    background_task first([&] { trade(first_client); });
    background_task second([&] { trade(second_client); });
    first.get();
    second.get();
    require_equal(served.load(), 400, "acquisitions of two clients in turn");
    require(has_waiters(service_fixture, first_client, "it", 0),
            "a waiter is left when all are done");
}

void waiters_in_other_processes_are_woken(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client observer(env.target, long_tries);
    agent holder(env), waiter(env);
    const auto first = holder.acquire("it", long_ttl);
    waiter.send("acquire it 60000 forever");
    require(has_waiters(service_fixture, observer, "it", 1),
            "a waiter of another process is not seen");
    require_equal(holder.request("release it"), std::string("release released"), "release");
    require(token_in(waiter.read_reply()) > first || !first,
            "the waiter's token is not later than the holder's");
}

constexpr test_case list[] = {
    {"try_sends_one_request", every_backend, try_sends_one_request},
    {"wait_of_zero_sends_one_request", every_backend, wait_of_zero_sends_one_request},
    {"bounded_wait_ends_after_its_time", every_backend, bounded_wait_ends_after_its_time},
    {"try_acquire_for_waits", every_backend, try_acquire_for_waits},
    {"bounded_wait_gets_it_in_time", every_backend, bounded_wait_gets_it_in_time},
    {"release_wakes_an_endless_wait", every_backend, release_wakes_an_endless_wait},
    {"no_release_is_missed", every_backend, no_release_is_missed},
    {"waiters_in_other_processes_are_woken", with_processes, waiters_in_other_processes_are_woken},
};

}  // namespace

std::span<const test_case> waiting_tests() noexcept { return list; }

}  // namespace pawl::conformance
