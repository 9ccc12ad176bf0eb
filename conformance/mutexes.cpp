// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "test_groups.hpp"

#include <mutex>

namespace pawl::conformance {

namespace {

using blocking::mutex;
using blocking::recursive_mutex;
using blocking::timed_mutex;

void a_mutex_is_lockable(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    mutex own_mutex(locks, "it", {.ttl = long_ttl}), same(other, "it", {.ttl = long_ttl});
    {
        const std::unique_lock lock(own_mutex);
        require(!same.try_lock(), "two mutexes of one name were locked at once");
        require(own_mutex.handle().state() == lock_state::held, "a locked mutex is not held");
    }
    require(same.try_lock(), "an unlocked mutex cannot be locked");
    require(!own_mutex.try_lock(), "a mutex was locked although the other object holds the lock");
    same.unlock();
}

// A thread without a hold gets an error, also while another thread has a hold.
void a_missing_mutex_hold_is_reported(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    mutex tested_mutex(locks, "it", {.ttl = long_ttl});
    recursive_mutex recursive(locks, "again", {.ttl = long_ttl});
    const auto require_no_hold = [&] {
        require_equal(failure_of([&] { (void)tested_mutex.token(); }), errc::not_held, "a token");
        require_equal(failure_of([&] { (void)tested_mutex.lost(); }), errc::not_held, "a loss");
        require_equal(failure_of([&] { (void)recursive.token(); }), errc::not_held, "a token");
        require_equal(failure_of([&] { (void)recursive.lost(); }), errc::not_held, "a loss");
        require(!tested_mutex.handle(), "a handle without a hold");
    };
    require_no_hold();
    const std::scoped_lock both(tested_mutex, recursive);
    require(tested_mutex.token() == tested_mutex.handle().token() &&
                !tested_mutex.lost().stop_requested(),
            "the owner's hold");
    require(!recursive.lost().stop_requested(), "the owner's other hold");
    background_task(require_no_hold).get();
}

void threads_share_one_mutex(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    mutex shared(locks, "it", {.ttl = long_ttl});
    overlap_detector gate;
    std::vector<std::unique_ptr<background_task>> crowd;
    for (int i = 0; i < 4; ++i)
        crowd.push_back(std::make_unique<background_task>([&] {
            for (int round = 0; round < 25; ++round) {
                const std::scoped_lock lock(shared);
                gate.enter();
                std::this_thread::yield();
                gate.leave();
            }
        }));
    for (auto& each : crowd)
        each->get();
    require(!gate.has_overlapped(), "two threads were inside one mutex");
}

// Opposite orders, many times: std::scoped_lock must not deadlock.
void scoped_lock_takes_several(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    overlap_detector gate;
    const auto lock_in_order = [&](blocking::client& locking_client, bool forward) {
        mutex a(locking_client, "a", {.ttl = long_ttl}), b(locking_client, "b", {.ttl = long_ttl}),
            c(locking_client, "c", {.ttl = long_ttl});
        for (int round = 0; round < 20; ++round) {
            const auto lock_and_count = [&](auto& first, auto& second, auto& third) {
                const std::scoped_lock scoped(first, second, third);
                gate.enter();
                std::this_thread::yield();
                gate.leave();
            };
            forward ? lock_and_count(a, b, c) : lock_and_count(c, b, a);
        }
    };
    background_task forward_task([&] { lock_in_order(locks, true); });
    background_task backward_task([&] { lock_in_order(other, false); });
    forward_task.get();
    backward_task.get();
    require(!gate.has_overlapped(), "two threads held the same three locks");
    require(nothing_is_listed(service_fixture, locks), "a lock is held after scoped_lock");
}

void std_lock_backs_off(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    mutex a(locks, "a", {.ttl = long_ttl}), b(locks, "b", {.ttl = long_ttl});
    auto first_lock = other.acquire("b", {.ttl = long_ttl});
    require_equal(std::try_lock(a, b), 1, "std::try_lock when the second of two is held");
    require(is_free(other, "a"), "std::try_lock kept the first of two");
    (void)first_lock.release();
    std::lock(a, b);
    require(!other.try_acquire("a", {.ttl = long_ttl}).owns_lock() &&
                !other.try_acquire("b", {.ttl = long_ttl}).owns_lock(),
            "std::lock did not lock both");
    a.unlock();
    b.unlock();
}

void a_timed_mutex_waits_for_its_time(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    timed_mutex own_mutex(locks, "it", {.ttl = long_ttl}), same(other, "it", {.ttl = long_ttl});
    require(own_mutex.try_lock_for(5s), "a free timed_mutex");
    require(!same.try_lock(), "a timed_mutex was locked twice");  // connects first
    const auto begun = std::chrono::steady_clock::now();
    require(!same.try_lock_for(200ms), "a timed_mutex was locked twice");
    require(std::chrono::steady_clock::now() - begun >= 200ms,
            "try_lock_for ended before its time");
    require(!same.try_lock_until(std::chrono::system_clock::now() + 100ms),
            "try_lock_until of a held timed_mutex");
    require(!same.try_lock_until(std::chrono::system_clock::now() - 1s),
            "try_lock_until with a time in the past");
    own_mutex.unlock();
    require(same.try_lock_for(10s), "an unlocked timed_mutex");
    same.unlock();
}

template <class Mutex>
void a_mutex_renews_its_hold(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    Mutex tested_mutex(locks, "it", {.ttl = long_ttl});
    const std::unique_lock lock(tested_mutex);
    require_renewal(tested_mutex, other);
}

void a_plain_mutex_is_renewed(fixture& service_fixture) {
    a_mutex_renews_its_hold<mutex>(service_fixture);
}
void a_recursive_mutex_is_renewed(fixture& service_fixture) {
    a_mutex_renews_its_hold<recursive_mutex>(service_fixture);
}

void a_mutex_outlives_the_move_of_its_client(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    std::optional<blocking::client> first(std::in_place, env.target, long_tries);
    mutex tested_mutex(*first, "it", {.ttl = long_ttl});
    recursive_mutex recursive(*first, "again", {.ttl = long_ttl});
    blocking::client second(std::move(*first));
    first.reset();
    const std::scoped_lock both(tested_mutex, recursive);
    require(!is_free(second, "it") && !is_free(second, "again"), "a locked object is free");
}

// Longer than nanoseconds can express: such a wait must not become an empty one.
void a_huge_wait_is_a_wait(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    timed_mutex tested_mutex(locks, "it", {.ttl = long_ttl});
    using hours_of_system = std::chrono::time_point<std::chrono::system_clock, std::chrono::hours>;
    const std::function<bool()> waits[] = {
        [&] { return tested_mutex.try_lock_for(std::chrono::hours::max()); },
        [&] { return tested_mutex.try_lock_for(std::chrono::duration<double>(1e12)); },
        [&] { return tested_mutex.try_lock_until(hours_of_system::max()); },
    };
    for (const auto& wait : waits) {
        auto hold = other.acquire("it", {.ttl = long_ttl});
        background_task waiter([&] {
            require(wait(), "a huge wait ended without the lock");
            tested_mutex.unlock();
        });
        require(!service_fixture.capabilities().modes_share_queue ||
                    has_waiters(service_fixture, other, "it", 1),
                "the waiter is not seen");
        (void)hold.release();
        waiter.get_soon("the grant after a huge wait");
    }
}

void a_recursive_mutex_is_its_threads(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    recursive_mutex own_mutex(locks, "it", {.ttl = long_ttl});
    own_mutex.lock();
    const fencing_token token = own_mutex.token();
    require(own_mutex.try_lock(), "a nested try_lock of the owner");
    own_mutex.lock();
    require_equal(own_mutex.token(), token, "the token of a nested lock");
    background_task stranger(
        [&] { require(!own_mutex.try_lock(), "another thread locked a recursive_mutex"); });
    stranger.get();
    own_mutex.unlock();
    own_mutex.unlock();
    require(!other.try_acquire("it", {.ttl = long_ttl}).owns_lock(),
            "an inner unlock freed the lock");
    own_mutex.unlock();
    auto next = other.acquire("it", {.ttl = long_ttl, .wait = soon});
    require(static_cast<bool>(next), "the last unlock did not free the lock");
}

// A: lock, lock | loss | B: lock, lock | A: a third lock is refused, unlock, unlock | B: still
// alone, unlock, unlock | free. Neither thread's unlock counts for the other.
void a_lost_recursive_mutex_is_each_threads_own(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), observer(env.target, long_tries);
    // Where losses are not pushed, a renewal finds them.
    recursive_mutex tested_mutex(locks, "it", {.ttl = supported_ttl(service_fixture, 6s)});
    tested_mutex.lock();
    tested_mutex.lock();
    const std::stop_token lost = tested_mutex.lost();
    require(observer.force_release("it"), "force_release of a held lock reported no holder");
    require(eventually([&] { return lost.stop_requested(); }), "the loss was not noticed");
    require_equal(failure_of([&] { tested_mutex.lock(); }), errc::lost,
                  "a nested lock after the loss");
    require_equal(failure_of([&] { (void)tested_mutex.try_lock(); }), errc::lost,
                  "a nested try_lock then");
    std::atomic<bool> entered = false, unlocked = false;
    background_task next([&] {
        tested_mutex.lock();
        tested_mutex.lock();
        entered = true;
        require(eventually([&] { return unlocked.load(); }), "the loser never unlocked");
        tested_mutex.unlock();
        require(!tested_mutex.lost().stop_requested(), "the next holder, after the loser's unlock");
        require(tested_mutex.try_lock_for(soon), "the next holder cannot lock it again");
        tested_mutex.unlock();
        require(!is_free(observer, "it"), "an inner unlock released the next holder's lock");
        tested_mutex.unlock();
    });
    require(eventually([&] { return entered.load(); }), "the next holder cannot acquire it");
    require_equal(failure_of([&] { tested_mutex.lock(); }), errc::lost,
                  "a nested lock beside the next holder");
    tested_mutex.unlock();
    tested_mutex.unlock();
    unlocked = true;
    next.get_soon("the next holder's grant");
    require(is_free(observer, "it"), "the lock is held after the last unlock");
    require(tested_mutex.try_lock(), "the loser cannot lock it again");
    tested_mutex.unlock();
}

// Thread ids are reused: 1. A thread ends while it holds the mutex. 2. Another thread gets its id.
void a_recursive_mutex_is_not_inherited(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    recursive_mutex tested_mutex(locks, "it", {.ttl = long_ttl});
    std::thread::id first;
    std::thread([&] {
        first = std::this_thread::get_id();
        tested_mutex.lock();
    }).join();
    bool locked_again = false, inherited = false;
    for (int tried = 0; tried < 100 && !locked_again; ++tried)
        std::thread([&] {
            locked_again = std::this_thread::get_id() == first;
            inherited = tested_mutex.try_lock();
        }).join();
    require(!inherited, "a thread entered the mutex of an ended thread with the same id");
}

// The wait would never end: std::errc::resource_deadlock_would_occur, as the standard allows.
void a_mutex_is_not_locked_twice_by_its_thread(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    mutex tested_mutex(locks, "it", {.ttl = long_ttl});
    tested_mutex.lock();
    require_equal(failure_of([&] { tested_mutex.lock(); }), errc::deadlock, "a second lock");
    require(make_error_code(errc::deadlock) == std::errc::resource_deadlock_would_occur,
            "errc::deadlock is not the standard's");
    require(!tested_mutex.try_lock(), "try_lock of a mutex that this thread holds");
    timed_mutex timed(locks, "timed", {.ttl = long_ttl});
    timed.lock();
    require(!timed.try_lock_for(10ms), "a bounded wait for a mutex that this thread holds");
    timed.unlock();
    tested_mutex.unlock();
    tested_mutex.lock();
    tested_mutex.unlock();
}

void unlock_after_a_loss_does_nothing(fixture& service_fixture) {
    const duration ttl = supported_ttl(service_fixture, 600ms);
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    mutex own_mutex(locks, "it", {.ttl = ttl, .max_hold = 600ms});
    own_mutex.lock();
    auto next = other.acquire("it", {.ttl = long_ttl, .wait = takeover_time(service_fixture, ttl)});
    require(own_mutex.lost().stop_requested(),
            "a mutex was not notified of the end of its max_hold");
    own_mutex.unlock();
    require_equal(next.state(), lock_state::held, "the next holder, after the loser's unlock");
    require(!locks.try_acquire("it", {.ttl = long_ttl}).owns_lock(),
            "the loser's unlock released the next holder's lock");
}

constexpr test_case list[] = {
    {"a_mutex_is_lockable", every_backend, a_mutex_is_lockable},
    {"a_missing_mutex_hold_is_reported", every_backend, a_missing_mutex_hold_is_reported},
    {"threads_share_one_mutex", every_backend, threads_share_one_mutex},
    {"scoped_lock_takes_several", every_backend, scoped_lock_takes_several},
    {"std_lock_backs_off", every_backend, std_lock_backs_off},
    {"a_timed_mutex_waits_for_its_time", every_backend, a_timed_mutex_waits_for_its_time},
    {"a_plain_mutex_is_renewed", every_backend, a_plain_mutex_is_renewed},
    {"a_recursive_mutex_is_renewed", every_backend, a_recursive_mutex_is_renewed},
    {"a_mutex_outlives_the_move_of_its_client", every_backend,
     a_mutex_outlives_the_move_of_its_client},
    {"a_huge_wait_is_a_wait", every_backend, a_huge_wait_is_a_wait},
    {"a_recursive_mutex_is_its_threads", every_backend, a_recursive_mutex_is_its_threads},
    {"a_recursive_mutex_is_not_inherited", every_backend, a_recursive_mutex_is_not_inherited},
    {"a_mutex_is_not_locked_twice_by_its_thread", every_backend,
     a_mutex_is_not_locked_twice_by_its_thread},
    {"a_lost_recursive_mutex_is_each_threads_own", every_backend,
     a_lost_recursive_mutex_is_each_threads_own},
    {"unlock_after_a_loss_does_nothing", every_backend, unlock_after_a_loss_does_nothing},
};

}  // namespace

std::span<const test_case> mutex_tests() noexcept { return list; }

}  // namespace pawl::conformance
