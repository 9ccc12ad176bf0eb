// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "test_groups.hpp"

namespace pawl::conformance {

namespace {

using blocking::held_lock;

void work_has_the_lock_while_it_runs(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), other(env.target, long_tries);
    const int result = with_lock(client, "it", {.ttl = long_ttl}, [&](held_lock& lock) {
        require(lock.owns_lock(), "the work's handle is not held");
        require(!other.try_acquire("it", {.ttl = long_ttl}).owns_lock(),
                "two clients held the lock while the work ran");
        return 42;
    });
    require_equal(result, 42, "the result of the work");
    require(is_free(other, "it"), "the lock is not free when with_lock has returned");
}

void work_that_throws_releases_it(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), other(env.target, long_tries);
    bool caught = false;
    try {
        with_lock(client, "it", {.ttl = long_ttl},
                  [](held_lock&) { throw failure("by the work"); });
    } catch (const failure& failure) {
        caught = std::string_view(failure.what()) == "by the work";
    }
    require(caught, "the work's exception did not come through");
    require(is_free(other, "it"), "the lock is not free when with_lock has thrown");
}

void work_is_skipped_when_busy(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), other(env.target, long_tries);
    bool called = false;
    {
        auto lock = other.acquire("it", {.ttl = long_ttl});
        const auto result = try_with_lock(client, "it", {.ttl = long_ttl}, [&](held_lock&) {
            called = true;
            return 1;
        });
        require(!result && !called, "work ran under a lock that another client holds");
        require_equal(lock.state(), lock_state::held, "the holder afterwards");
        (void)lock.release();
    }
    require(try_with_lock(client, "it", {.ttl = long_ttl}, [&](held_lock&) { called = true; }) &&
                called,
            "work was skipped although the lock was free");
}

// The handle may be released inside the work; with_lock then has nothing left to do.
void work_may_release_it_itself(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries);
    with_lock(client, "it", {.ttl = long_ttl}, [&](held_lock& lock) {
        require_equal(lock.release(), release_result::released, "release inside the work");
        require(!lock.owns_lock(), "a released handle says that it owns the lock");
    });
    require(is_free(client, "it"), "the lock is not free");
}

void polling_acquires_without_queueing(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), other(env.target, long_tries);
    auto lock = other.acquire("it", {.ttl = long_ttl});
    held_lock next;
    background_task polling_attempt([&] {
        const polling often{.tries = 3000, .interval = 5ms, .growth = 1};
        next = client.try_acquire("it", {.ttl = long_ttl, .retry = often});
    });
    require_equal(waiters_of(other, "it"), std::uint64_t{0}, "the waiters during polling");
    require_equal(lock.release(), release_result::released, "release");
    polling_attempt.get();
    require(static_cast<bool>(next), "a polling caller was not granted a free lock");
}

void polling_ends_after_its_tries(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), other(env.target, long_tries);
    auto lock = other.acquire("it", {.ttl = long_ttl});
    const polling three_tries{.tries = 3, .interval = 4ms, .growth = 2, .longest = 6ms};
    require(!client.try_acquire("it", {.ttl = long_ttl, .retry = three_tries}).owns_lock(),
            "a polling caller was granted a held lock");
    require_equal(lock.state(), lock_state::held, "the holder afterwards");
}

void cancelled_polling_ends_at_once(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), other(env.target, long_tries);
    auto lock = other.acquire("it", {.ttl = long_ttl});
    std::stop_source stop;
    std::optional<errc> why;
    background_task polling_attempt([&] {
        const polling hourly{.tries = 9, .interval = 1h, .longest = 1h};
        why = failure_of([&] {
            (void)client.try_acquire("it", {.ttl = long_ttl, .retry = hourly}, stop.get_token());
        });
    });
    stop.request_stop();
    polling_attempt.get();
    require_equal(why, errc::cancelled, "cancelled polling");
}

void bad_polling_is_refused(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    for (const polling& each :
         {polling{.tries = 0}, polling{.tries = 2, .interval = 0ms},
          polling{.tries = 2, .interval = 2s, .longest = 1s}, polling{.tries = 2, .growth = 0.5}})
        require_equal(failure_of([&] { (void)locks.try_acquire("it", {.retry = each}); }),
                      errc::bad_option, "polling out of its range");
}

// Two items are on one of four stripes: two buyers that begin elsewhere find them, the third finds
// none.
void an_empty_stripe_leads_to_the_next(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    const striped stripes("stock", 4);
    std::vector<int> items(4);
    items[(stripes.index_of("buyer") + 3) % 4] = 2;
    int seen = 0;
    const auto take = [&](held_lock& lock, std::size_t index) {
        ++seen;
        require(lock.name() == stripes.name_of(index), "the work has another stripe's lock");
        return items[index] > 0 && items[index]-- > 0;
    };
    const lock_options options{.ttl = long_ttl, .wait = wait_bound};
    require(with_any_stripe(locks, stripes, "buyer", options, take), "the first buyer got nothing");
    require(with_any_stripe(locks, stripes, "buyer", options, take),
            "the second buyer got nothing");
    require(!with_any_stripe(locks, stripes, "buyer", options, take),
            "the third buyer got an item");
    require_equal(seen, 12, "the stripes that were tried");
    require(nothing_is_listed(service_fixture, locks), "a stripe is left locked");
}

constexpr test_case list[] = {
    {"work_has_the_lock_while_it_runs", every_backend, work_has_the_lock_while_it_runs},
    {"work_that_throws_releases_it", every_backend, work_that_throws_releases_it},
    {"work_is_skipped_when_busy", every_backend, work_is_skipped_when_busy},
    {"work_may_release_it_itself", every_backend, work_may_release_it_itself},
    {"polling_acquires_without_queueing", every_backend, polling_acquires_without_queueing},
    {"polling_ends_after_its_tries", every_backend, polling_ends_after_its_tries},
    {"cancelled_polling_ends_at_once", every_backend, cancelled_polling_ends_at_once},
    {"an_empty_stripe_leads_to_the_next", every_backend, an_empty_stripe_leads_to_the_next},
    {"bad_polling_is_refused", every_backend, bad_polling_is_refused},
};

}  // namespace

std::span<const test_case> work_tests() noexcept { return list; }

}  // namespace pawl::conformance
