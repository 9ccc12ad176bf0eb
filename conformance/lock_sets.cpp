// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "test_groups.hpp"

#include <algorithm>

namespace pawl::conformance {

namespace {

constexpr lock_options options{.ttl = long_ttl, .wait = wait_bound};
constexpr try_options no_wait{.ttl = long_ttl};

bool all_free(blocking::client& observer, const std::vector<std::string>& names) {
    return std::all_of(names.begin(), names.end(), [&](const std::string& each) {
        const auto info = observer.inspect(each);
        return !info.held_by && info.waiters == 0;
    });
}

void a_set_is_acquired_as_one(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    // each server may have to load the script first
    for (const std::string name : {"a", "b", "c"})
        (void)locks.acquire(name, options).release();
    const auto before = locks.statistics().requests;
    auto locked = locks.acquire_all({"c", "a", "b", "a"}, options);
    require_equal(locked.size(), std::size_t{3}, "the locks of four names with one twice");
    for (const std::string name : {"a", "b", "c"}) {
        require(!other.try_acquire(name, no_wait).owns_lock(), name + " is not acquired");
        require_equal(locked.token(name), other.inspect(name).held_by->token,
                      "the token of " + name);
    }
    require(locked.owns_lock() && !locked.lost().stop_requested(),
            "the set is acquired but not held");
    require(!locked.token("d"), "a name outside the set has a token");
    require_equal(locked.release(), release_result::released, "release of the set");
    require_equal(locked.state(), lock_state::released, "the state after it");
    // A release without a hand-over may need a second request for its cleanup. Where waiters poll,
    // the service has no scripts, and a token takes three requests more.
    const std::uint64_t requests_per_lock = service_fixture.capabilities().hands_over ? 2
                                            : service_fixture.shows_waiters()         ? 3
                                                                                      : 5;
    const auto servers = service_fixture.servers_per_request();
    require(locks.statistics().requests <= before + 3 * requests_per_lock * servers,
            "more than " + std::to_string(requests_per_lock) + " requests for each of three locks");
    require(all_free(other, {"a", "b", "c"}), "a lock or a waiter is left");
}

void a_set_is_renewed_as_one(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), observer(env.target, long_tries);
    auto locked = locks.acquire_all({"a", "b"}, options);
    const time_point renewed_at = boot_clock::now();
    locked.renew();
    require(locked.safe_until() >= renewed_at + long_ttl - drift(long_ttl),
            "a lock of the set was not renewed");
    require(observer.force_release("b"), "force_release of the second lock reported no holder");
    require_equal(failure_of([&] { locked.renew(); }), errc::lost,
                  "renew after the loss of one lock");
    require(is_free(observer, "b"), "renew made a new hold");
}

bool acquires_sets_atomically(const capabilities& supported) { return supported.acquire_batch; }

void a_free_set_is_one_request(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    // a server may have to load the script first
    (void)locks.acquire_all({"a", "b"}, options).release();
    const auto before = locks.statistics().requests;
    auto locked = locks.acquire_all({"a", "b", "c", "d"}, options);
    const auto servers = service_fixture.servers_per_request();
    const auto sent = locks.statistics().requests - before;
    // The last of several servers may have missed the first set, and be asked twice.
    require(sent >= servers && sent <= (servers == 1 ? 1 : 2 * servers),
            "the requests for four free locks are " + std::to_string(sent));
    (void)locked.release();
    auto busy = other.acquire("d", options);
    const auto requests_before = locks.statistics().requests;
    require(!locks.try_acquire_all({"a", "b", "c", "d"}, no_wait).owns_lock(),
            "a busy lock was acquired");
    // Of several servers, one may have all of them free, and gets them back.
    require(locks.statistics().requests - requests_before <= (servers == 1 ? 1 : 2 * servers),
            "too many requests to find one of four busy");
    require(all_free(other, {"a", "b", "c"}), "a failed try left a lock");
}

void a_busy_member_leaves_none(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    auto busy = other.acquire("b", options);
    require(!locks.try_acquire_all({"a", "b", "c"}, no_wait).owns_lock(),
            "a set with a busy lock was acquired");
    require(eventually([&] { return all_free(other, {"a", "c"}); }), "a failed try left a lock");
    const auto why = failure_of([&] {
        (void)locks.acquire_all({"a", "b", "c"}, {.ttl = long_ttl, .wait = 50ms});
    });
    require_equal(why, errc::timed_out, "a bounded wait for the set");
    require(eventually([&] { return all_free(other, {"a", "c"}); }), "a bounded wait left a lock");
    require(eventually([&] { return other.inspect("b").waiters == 0; }), "a waiter is left");
    require_equal(busy.release(), release_result::released, "release of the busy lock");
}

// This client gets two of three, another one holds the third: the cancellation comes there.
void cancelled_before_the_last_leaves_none(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    for (int round = 0; round < 10; ++round) {
        auto busy = other.acquire("c", options);
        std::stop_source stop;
        std::optional<errc> why;
        const auto granted_before = locks.statistics().grants;
        background_task waiting([&] {
            why = failure_of([&] {
                (void)locks.acquire_all({"a", "b", "c"}, options, stop.get_token());
            });
        });
        require(eventually([&] { return locks.statistics().grants == granted_before + 2; }),
                "the first two locks are not granted");
        require(has_waiters(service_fixture, other, "c", 1),
                "no waiter for the third lock is seen");
        require(!other.try_acquire("a", no_wait).owns_lock() &&
                    !other.try_acquire("b", no_wait).owns_lock(),
                "the first two locks are not acquired");
        // In some rounds the third lock is granted and cancelled at the same time.
        background_task stopping([&] { stop.request_stop(); });
        if (round % 2 == 1) (void)busy.release();
        stopping.get();
        waiting.get();
        require(why == errc::cancelled || round % 2 == 1, "a cancelled wait did not end");
        if (busy.owns_lock()) (void)busy.release();
        require(eventually([&] {
                    return all_free(other, {"a", "b", "c"});
                }),
                "a cancelled wait left a lock");
    }
}

// One thread acquires a, b, c, the other c, b, a: after sorting, neither holds a lock that the
// other waits for.
void opposite_orders_do_not_block(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    overlap_detector gate;
    const auto lock_in_order = [&](blocking::client& locking_client,
                                   const std::vector<std::string>& names) {
        for (int round = 0; round < 25; ++round) {
            auto locked = locking_client.acquire_all(names, options);
            gate.enter();
            std::this_thread::yield();
            gate.leave();
            (void)locked.release();
        }
    };
    background_task forward_task([&] { lock_in_order(locks, {"a", "b", "c"}); });
    background_task backward_task([&] { lock_in_order(other, {"c", "b", "a"}); });
    forward_task.get();
    backward_task.get();
    require(!gate.has_overlapped(), "two clients held the same three locks");
    require(all_free(locks, {"a", "b", "c"}), "a lock or a waiter is left");
}

void the_loss_of_one_is_the_loss_of_all(fixture& service_fixture) {
    const duration ttl = supported_ttl(service_fixture, 3s);
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), operator_client(env.target, long_tries);
    auto locked = locks.acquire_all({"a", "b", "c"}, {.ttl = ttl, .wait = wait_bound});
    std::atomic<int> loss_count = 0;
    const std::stop_callback on_loss(locked.lost(), [&] { ++loss_count; });
    require(operator_client.force_release("b"), "force_release of one lock reported no holder");
    require(eventually([&] { return loss_count == 1; }),
            "the loss of one lock did not fire `lost` of the set");
    require_equal(locked.state(), lock_state::lost, "the state of the set");
    const time_point until = locked.safe_until();
    require(until <= boot_clock::now(), "safe_until of the set is in the future");
    require(locked.why_lost() != loss_reason::none, "the loss has no reason");
    require(!operator_client.try_acquire("a", no_wait).owns_lock(),
            "the other locks were released before the work ended");
    require(locked.release() != release_result::released, "release of the set returned `released`");
    require(all_free(operator_client, {"a", "b", "c"}), "a lock or a waiter is left");
}

// The client holds x and y, and waits for z, which another client holds. y is lost during the wait,
// and z stays with its holder.
void a_loss_ends_the_wait_for_the_rest(fixture& service_fixture) {
    const duration ttl = supported_ttl(service_fixture, 3s);
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    auto busy = other.acquire("z", options);
    std::optional<errc> why;
    background_task waiting([&] {
        why = failure_of([&] {
            (void)locks.acquire_all({"x", "y", "z"}, {.ttl = ttl, .wait = wait_bound});
        });
    });
    require(eventually([&] { return locks.statistics().grants == 2; }),
            "the first two locks are not granted");
    require(has_waiters(service_fixture, other, "z", 1), "no waiter for the last lock is seen");
    require(other.force_release("y"), "force_release of the second lock reported no holder");
    waiting.get_soon("the result of the wait");
    require(why == errc::lost, "the wait did not end with the loss of an acquired lock");
    require(eventually([&] {
                return all_free(other, {"x", "y"});
            }),
            "the other locks were not released");
    require(eventually([&] { return other.inspect("z").waiters == 0; }), "a waiter is left");
    require_equal(busy.state(), lock_state::held, "the lock that was waited for");
}

// 1. The client holds a, and waits for b. 2. An operator takes a by force. 3. b is released. The
// client gets all locks or none, so it gets none.
void lost_before_the_last_came_leaves_none(fixture& service_fixture) {
    const duration ttl = supported_ttl(service_fixture, 1s);
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    auto busy = other.acquire("b", options);
    std::optional<errc> why;
    background_task waiting([&] {
        why = failure_of([&] {
            (void)locks.acquire_all({"a", "b"}, {.ttl = ttl, .wait = wait_bound});
        });
    });
    require(eventually([&] { return locks.statistics().grants == 1; }),
            "the first lock is not granted");
    require(has_waiters(service_fixture, other, "b", 1), "no waiter for the second lock is seen");
    require(other.force_release("a"), "force_release of the first lock reported no holder");
    require(eventually([&] { return locks.statistics().losses == 1; }),
            "the loss was not reported");
    (void)busy.release();
    waiting.get();
    require_equal(why, errc::lost, "a set whose first lock was lost before the last came");
    require(eventually([&] { return all_free(other, {"a", "b"}); }), "a lock or a waiter is left");
}

void bad_sets_are_refused(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    const auto refused = [&](std::vector<std::string> names) {
        return failure_of([&] { (void)locks.acquire_all(std::move(names), options); });
    };
    require_equal(refused({}), errc::bad_option, "no names at all");
    require_equal(refused(std::vector<std::string>(257, "a")), errc::bad_option, "257 names");
    require_equal(refused({"a", ""}), errc::bad_name, "an empty name after a valid one");
    require(is_free(locks, "a"), "a refused set left a lock");
}

constexpr test_case list[] = {
    {"a_set_is_acquired_as_one", every_backend, a_set_is_acquired_as_one},
    {"a_set_is_renewed_as_one", every_backend, a_set_is_renewed_as_one},
    {"a_free_set_is_one_request", acquires_sets_atomically, a_free_set_is_one_request},
    {"a_busy_member_leaves_none", every_backend, a_busy_member_leaves_none},
    {"cancelled_before_the_last_leaves_none", every_backend, cancelled_before_the_last_leaves_none},
    {"opposite_orders_do_not_block", every_backend, opposite_orders_do_not_block},
    {"the_loss_of_one_is_the_loss_of_all", every_backend, the_loss_of_one_is_the_loss_of_all},
    {"a_loss_ends_the_wait_for_the_rest", every_backend, a_loss_ends_the_wait_for_the_rest},
    {"lost_before_the_last_came_leaves_none", every_backend, lost_before_the_last_came_leaves_none},
    {"bad_sets_are_refused", every_backend, bad_sets_are_refused},
};

}  // namespace

std::span<const test_case> lock_set_tests() noexcept { return list; }

}  // namespace pawl::conformance
