// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "test_groups.hpp"

namespace pawl::conformance {

namespace {

using blocking::held_lock;
using blocking::lock_owner;

constexpr lock_options options{.ttl = long_ttl, .wait = wait_bound};
constexpr try_options no_wait{.ttl = long_ttl};

void an_owner_enters_again_without_asking(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    lock_owner owner(locks);
    auto outer = owner.acquire("it", options);
    const auto before = locks.statistics().requests;
    auto inner = owner.acquire("it", options);
    auto third = owner.try_acquire("it", no_wait);
    require(inner.owns_lock() && third.owns_lock(), "an owner could not acquire its lock again");
    require_equal(locks.statistics().requests, before, "the requests for the second acquisition");
    require_equal(inner.token(), outer.token(), "the token of the inner handle");
    require_equal(third.token(), outer.token(), "the token of the third handle");
}

void the_last_handle_releases(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    lock_owner owner(locks);
    auto outer = owner.acquire("it", options);
    { const auto inner = owner.acquire("it", options); }
    auto second = owner.acquire("it", options);
    require_equal(outer.release(), release_result::still_held, "release of the first of two");
    require_equal(outer.release(), release_result::still_held, "the same release again");
    require(!other.try_acquire("it", no_wait).owns_lock(),
            "the lock was free while a handle was left");
    require_equal(second.release(), release_result::released, "release of the last handle");
    require(is_free(other, "it"), "the lock is not free after the last handle");
    auto fresh = owner.acquire("it", options);
    require(!fresh.token() || fresh.token() > second.token(), "a new hold has no later token");
}

void owners_keep_each_other_out(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    lock_owner owner(locks), other_owner(locks);
    auto own_lock = owner.acquire("it", options);
    require(!other_owner.try_acquire("it", no_wait).owns_lock(),
            "two owners of one client held a lock");
    require(!locks.try_acquire("it", no_wait).owns_lock(), "the client acquired its owner's lock");
    held_lock other_lock;
    background_task waiting([&] { other_lock = other_owner.acquire("it", options); });
    require(has_waiters(service_fixture, locks, "it", 1), "the other owner does not wait");
    require(owner.try_acquire("it", no_wait).owns_lock(), "a waiter excluded the owner");
    (void)own_lock.release();
    waiting.get();
    require(other_lock.owns_lock(), "the other owner was not granted the lock");
}

// Copies of a lock_owner in several threads are one owner. If a second thread acquires during the
// first thread's acquire, it waits for the first thread and shares its hold.
void an_owner_may_be_many_threads(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    lock_owner owner(locks);
    auto busy = other.acquire("it", options);
    std::vector<held_lock> handles(4);
    std::vector<std::unique_ptr<background_task>> crowd;
    for (auto& each : handles)
        crowd.push_back(std::make_unique<background_task>(
            [owner = owner, &each]() mutable { each = owner.acquire("it", options); }));
    require(has_waiters(service_fixture, other, "it", 1),
            "more than one thread of the owner waits at the service");
    (void)busy.release();
    for (auto& each : crowd)
        each->get();
    for (const auto& each : handles)
        require_equal(each.token(), handles.front().token(), "the token of a thread's handle");
    require_equal(locks.statistics().grants, std::uint64_t{1}, "grants for one owner");
    for (std::size_t i = 0; i < 3; ++i)
        handles[i] = {};
    require(!other.try_acquire("it", no_wait).owns_lock(),
            "the lock was free while a handle was left");
    handles[3] = {};
    require(eventually([&] { return is_free(other, "it"); }), "the last handle did not free it");
}

// 1. The owner holds the lock. 2. An operator releases it by force. 3. The owner acquires again,
// before or after it has learned of the loss: it gets a handle that is lost as well, or errc::lost,
// and never a new hold beside the lost one. 4. It drops all handles and acquires again: a later
// token.
void entering_again_meets_the_loss(fixture& service_fixture) {
    const duration ttl = supported_ttl(service_fixture, 3s);
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), operator_client(env.target, long_tries);
    lock_owner owner(locks);
    for (int round = 0; round < 10; ++round) {
        auto outer = owner.acquire("it", {.ttl = ttl, .wait = wait_bound});
        const fencing_token first = outer.token();
        background_task forced_release([&] { (void)operator_client.force_release("it"); });
        std::vector<held_lock> inner;
        std::optional<errc> why;
        // As fast as possible at first, while the loss is on its way.
        const auto enter_again = [&] {
            why = failure_of([&] { inner.push_back(owner.acquire("it", options)); });
            return why.has_value();
        };
        while (inner.size() < 100'000 && !enter_again()) {}
        if (!why) (void)eventually(enter_again);
        forced_release.get();
        require_equal(why, errc::lost, "acquiring a lost lock again");
        require(outer.lost().stop_requested(), "the outer handle was not notified");
        for (const auto& each : inner) {
            require_equal(each.state(), lock_state::lost, "the state of an inner handle");
            require_equal(each.token(), first, "the token of an inner handle");
        }
        require(outer.release() != release_result::released,
                "the release of a lost lock returned `released`");
        inner.clear();
        auto next = owner.acquire("it", options);
        require(!first || next.token() > first, "the hold after the loss has no later token");
    }
}

// The owner's first attempt is cancelled in the queue: the second takes its place.
void a_cancelled_attempt_leaves_the_turn_to_the_other(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    lock_owner owner(locks);
    auto busy = other.acquire("it", options);
    std::stop_source stop;
    std::optional<errc> why;
    held_lock own_lock;
    background_task first(
        [&] { why = failure_of([&] { (void)owner.acquire("it", options, stop.get_token()); }); });
    require(has_waiters(service_fixture, other, "it", 1), "the first attempt does not wait");
    require(!owner.try_acquire("it", no_wait).owns_lock(),
            "try_acquire succeeded although its owner has no hold");
    background_task second([&] { own_lock = owner.acquire("it", options); });
    stop.request_stop();
    first.get();
    require_equal(why, errc::cancelled, "the cancelled first attempt");
    (void)busy.release();
    second.get();
    require(own_lock.owns_lock(), "the second attempt was not granted the lock");
    own_lock = {};
    require(eventually([&] { return is_free(other, "it"); }), "a lock or a waiter is left");
}

// The owner holds b, and acquires a, b and c: b is entered again, and stays when the set is
// released.
void an_owner_acquires_a_set_around_its_lock(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    lock_owner owner(locks);
    auto own_lock = owner.acquire("b", options);
    auto locked = owner.acquire_all({"c", "b", "a"}, options);
    require_equal(locked.size(), std::size_t{3}, "the locks of three names");
    require_equal(locked.token("b"), own_lock.token(),
                  "the token of the lock that was held before");
    require(!other.try_acquire_all({"a", "d"}, no_wait).owns_lock(),
            "another client acquired a lock of the set");
    auto locked_again = owner.try_acquire_all({"a", "c"}, no_wait);
    require(locked_again.owns_lock(), "an owner could not acquire its own locks again");
    require_equal(locked.release(), release_result::still_held, "release of the set");
    require(!other.try_acquire("a", no_wait).owns_lock(), "a was free while a handle was left");
    require_equal(locked_again.release(), release_result::released, "release of the last handles");
    require(is_free(other, "a") && is_free(other, "c"), "a or c is left behind");
    require(own_lock.owns_lock() && !other.try_acquire("b", no_wait).owns_lock(),
            "b was released with the set");
    require_equal(own_lock.release(), release_result::released, "release of b");
}

// Another client holds c: a is released, and b stays with its owner.
void a_failed_set_leaves_the_owners_lock(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    lock_owner owner(locks);
    auto own_lock = owner.acquire("b", options);
    auto busy = other.acquire("c", options);
    require(!owner.try_acquire_all({"a", "b", "c"}, no_wait).owns_lock(),
            "a set with a busy lock was acquired");
    const auto why = failure_of([&] {
        (void)owner.acquire_all({"a", "b", "c"}, {.ttl = long_ttl, .wait = 50ms});
    });
    require_equal(why, errc::timed_out, "a bounded wait for the set");
    require(eventually([&] { return is_free(other, "a"); }), "a is left behind");
    require(own_lock.owns_lock() && !other.try_acquire("b", no_wait).owns_lock(),
            "b was released with a");
    require_equal(own_lock.release(), release_result::released, "release of b");
    require(eventually([&] { return is_free(other, "b"); }), "a handle of b is left behind");
}

// b is lost while its owner holds it: a new hold beside it would hide the loss.
void a_set_meets_the_loss_of_an_owned_lock(fixture& service_fixture) {
    const duration ttl = supported_ttl(service_fixture, 3s);
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), operator_client(env.target, long_tries);
    lock_owner owner(locks);
    auto own_lock = owner.acquire("b", {.ttl = ttl, .wait = wait_bound});
    require(operator_client.force_release("b"), "force_release reported no holder");
    require(eventually([&] { return own_lock.lost().stop_requested(); }),
            "the loss was not reported");
    const auto why = failure_of([&] { (void)owner.acquire_all({"a", "b"}, options); });
    require_equal(why, errc::lost, "acquiring a set with a lost lock");
    require(eventually([&] { return is_free(operator_client, "a"); }), "a is left behind");
    own_lock = {};
    require(owner.acquire_all({"a", "b"}, options).owns_lock(),
            "the set cannot be acquired afterwards");
}

// Two of three permits, then all three: the first two would have to be released before.
void an_owner_gets_no_fewer_permits_than_it_asks_for(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    lock_owner owner(locks);
    const auto permit_options = [](std::uint32_t permits) {
        return lock_options{.ttl = long_ttl,
                            .wait = wait_bound,
                            .mode = lock_mode::permits,
                            .permits = permits,
                            .total_permits = 3};
    };
    auto two = owner.acquire("it", permit_options(2));
    require(owner.acquire("it", permit_options(1)).owns_lock(),
            "an owner of two permits was not granted one of them");
    const auto more = failure_of([&] { (void)owner.acquire("it", permit_options(3)); });
    require_equal(more, errc::bad_option, "requesting three permits with two");
    const auto alone = failure_of([&] { (void)owner.acquire("it", options); });
    require_equal(alone, errc::bad_option, "an exclusive request with two permits");
    require_equal(two.release(), release_result::released, "release of two permits");
    require(owner.acquire("it", permit_options(3)).owns_lock(),
            "three permits cannot be acquired afterwards");
}

// One acquire of the owner waits in the queue, while tries of the same owner go on.
void a_second_attempt_of_an_owner_shares_the_hold(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    lock_owner owner(locks);
    auto busy = other.acquire("it", options);
    held_lock first_lock, second_lock;
    background_task waiting([&] { first_lock = owner.acquire("it", options); });
    require(has_waiters(service_fixture, other, "it", 1), "no waiter is in the queue");
    std::atomic<bool> begun = false;
    background_task second_attempt([&] {
        const try_options patient{.ttl = long_ttl,
                                  .retry = {.tries = 1000, .interval = 10ms, .growth = 1}};
        begun = true;
        second_lock = owner.try_acquire("it", patient);
    });
    require(eventually([&] { return begun.load(); }), "there was no try");
    require_equal(busy.release(), release_result::released, "release of the busy lock");
    waiting.get_soon("the owner's turn");
    second_attempt.get_soon("the result of the second attempt");
    require(static_cast<bool>(second_lock), "the second attempt got no hold");
    require_equal(second_lock.token(), first_lock.token(), "the token of the second handle");
}

bool has_permits(const capabilities& supported) { return supported.permits; }

constexpr test_case list[] = {
    {"an_owner_enters_again_without_asking", every_backend, an_owner_enters_again_without_asking},
    {"the_last_handle_releases", every_backend, the_last_handle_releases},
    {"owners_keep_each_other_out", every_backend, owners_keep_each_other_out},
    {"an_owner_may_be_many_threads", every_backend, an_owner_may_be_many_threads},
    {"entering_again_meets_the_loss", with_pushed_loss, entering_again_meets_the_loss},
    {"a_cancelled_attempt_leaves_the_turn_to_the_other", every_backend,
     a_cancelled_attempt_leaves_the_turn_to_the_other},
    {"an_owner_acquires_a_set_around_its_lock", every_backend,
     an_owner_acquires_a_set_around_its_lock},
    {"a_failed_set_leaves_the_owners_lock", every_backend, a_failed_set_leaves_the_owners_lock},
    {"an_owner_gets_no_fewer_permits_than_it_asks_for", has_permits,
     an_owner_gets_no_fewer_permits_than_it_asks_for},
    {"a_second_attempt_of_an_owner_shares_the_hold", every_backend,
     a_second_attempt_of_an_owner_shares_the_hold},
    {"a_set_meets_the_loss_of_an_owned_lock", every_backend, a_set_meets_the_loss_of_an_owned_lock},
};

}  // namespace

std::span<const test_case> owner_tests() noexcept { return list; }

}  // namespace pawl::conformance
