// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The classes for the standard's read/write lock and semaphore.
#include "test_groups.hpp"

#include <pawl/blocking/semaphore.hpp>
#include <pawl/blocking/shared_mutex.hpp>

#include <mutex>
#include <shared_mutex>

namespace pawl::conformance {

namespace {

using blocking::semaphore;
using blocking::shared_mutex;
using blocking::shared_timed_mutex;

constexpr lease_options options{.ttl = long_ttl};

template <class Mutex>
concept shared_timed_lockable =
    requires(Mutex& m, std::chrono::seconds wait, std::chrono::system_clock::time_point when) {
        m.lock();
        m.unlock();
        { m.try_lock() } -> std::same_as<bool>;
        { m.try_lock_for(wait) } -> std::same_as<bool>;
        { m.try_lock_until(when) } -> std::same_as<bool>;
        m.lock_shared();
        m.unlock_shared();
        { m.try_lock_shared() } -> std::same_as<bool>;
        { m.try_lock_shared_for(wait) } -> std::same_as<bool>;
        { m.try_lock_shared_until(when) } -> std::same_as<bool>;
    };
static_assert(shared_timed_lockable<shared_timed_mutex>);
static_assert(!shared_timed_lockable<shared_mutex>, "as std::shared_mutex");

bool with_sharing(const capabilities& supported) { return supported.shared; }
bool with_downgrades(const capabilities& supported) {
    return supported.shared && supported.downgrades;
}
bool with_permits(const capabilities& supported) { return supported.permits; }

// All readers are inside one object at the same time: each waits there for the others.
void threads_read_one_shared_mutex_together(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    shared_mutex tested_lock(locks, "it", options);
    std::atomic<int> inside = 0;
    std::vector<std::unique_ptr<background_task>> crowd;
    for (int i = 0; i < 4; ++i)
        crowd.push_back(std::make_unique<background_task>([&] {
            const std::shared_lock reads(tested_lock);
            ++inside;
            require(eventually([&] { return inside == 4; }),
                    "the readers were not inside together");
            require(tested_lock.handle().owns_lock() && !tested_lock.lost().stop_requested(),
                    "a reader has no hold");
        }));
    for (auto& each : crowd)
        each->get();
    require(is_free(locks, "it"), "the lock is held after its last reader");
}

void a_shared_mutex_keeps_writers_alone(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    shared_mutex tested_lock(locks, "it", options);
    long value = 0;
    std::atomic<bool> torn = false;
    std::vector<std::unique_ptr<background_task>> crowd;
    for (int i = 0; i < 4; ++i)
        crowd.push_back(std::make_unique<background_task>([&] {
            for (int round = 0; round < 25; ++round) {
                {
                    const std::unique_lock writes(tested_lock);
                    const long before = value;
                    std::this_thread::yield();
                    value = before + 1;
                }
                const std::shared_lock reads(tested_lock);
                const long before = value;
                std::this_thread::yield();
                if (value != before) torn = true;
            }
        }));
    for (auto& each : crowd)
        each->get();
    require(!torn, "a writer was granted beside a reader");
    require_equal(value, 100L, "the sum of four writing threads");
}

void a_shared_timed_mutex_waits_for_its_time(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    shared_timed_mutex own_mutex(locks, "it", options), same(other, "it", options);
    require(own_mutex.try_lock_shared_for(5s) && same.try_lock_shared(),
            "readers exclude each other");
    const time_point begun = boot_clock::now();
    require(!same.try_lock_for(200ms), "a writer was granted beside readers");
    require(boot_clock::now() - begun >= 200ms, "try_lock_for ended before its time");
    require(!same.try_lock(), "a writer was granted beside readers");
    own_mutex.unlock_shared();
    same.unlock_shared();
    require(own_mutex.try_lock_until(std::chrono::system_clock::now() + 5s),
            "a free shared_timed_mutex");
    require(!same.try_lock_shared_until(std::chrono::system_clock::now() + 100ms) &&
                !same.try_lock_shared_for(100ms) && !same.try_lock_shared(),
            "a reader was granted beside a writer");
    own_mutex.unlock();
    // A server that serves its waiters itself may grant one that has just given up, for a moment.
    require(eventually([&] { return is_free(other, "it"); }),
            "the lock is held after the last unlock");
}

void a_shared_mutex_is_downgraded(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    shared_mutex own_mutex(locks, "it", options), same(other, "it", options);
    require_equal(failure_of([&] { own_mutex.downgrade(); }), errc::not_held,
                  "a downgrade without a hold");
    own_mutex.lock();
    const fencing_token token = own_mutex.token();
    own_mutex.downgrade();
    require_equal(own_mutex.token(), token, "the token after a downgrade");
    require(same.try_lock_shared() && !same.try_lock(),
            "after a downgrade, no reader fits or a writer does");
    same.unlock_shared();
    own_mutex.unlock_shared();
    require(is_free(other, "it"), "the lock is held after the last reader");
}

// One thread's hold ends by itself, and another thread holds the same object by then: the unlock of
// the first must not release the hold of the second.
template <class Mutex>
void an_unlock_after_a_loss_is_nobody_elses(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), observer(env.target, long_tries);
    Mutex tested_lock(locks, "it", options);
    tested_lock.lock();
    std::atomic<bool> unlocked = false;
    require(observer.force_release("it"), "force_release of a held lock reported no holder");
    background_task next([&] {
        const std::unique_lock lock(tested_lock);
        require(eventually([&] { return unlocked.load(); }), "the loser never unlocked");
        require(tested_lock.handle().owns_lock(),
                "the loser's unlock reported the next holder's lock");
        require(!is_free(observer, "it"), "the loser's unlock released the next holder's lock");
    });
    require(eventually([&] { return !is_free(observer, "it"); }),
            "the next holder cannot acquire it");
    tested_lock.unlock();
    unlocked = true;
    next.get();
}

void a_losers_unlock_is_its_own(fixture& service_fixture) {
    an_unlock_after_a_loss_is_nobody_elses<blocking::mutex>(service_fixture);
}

void a_losing_writers_unlock_is_its_own(fixture& service_fixture) {
    an_unlock_after_a_loss_is_nobody_elses<shared_mutex>(service_fixture);
}

// A thread without a hold gets an error, also while another thread has a hold.
template <class Lock>
void require_missing_hold_reported(Lock& tested_lock, const std::function<void()>& lock,
                                   const std::function<void()>& unlock) {
    const auto require_no_hold = [&] {
        require_equal(failure_of([&] { (void)tested_lock.token(); }), errc::not_held, "a token");
        require_equal(failure_of([&] { (void)tested_lock.lost(); }), errc::not_held, "a loss");
        require(!tested_lock.handle(), "a handle without a hold");
    };
    require_no_hold();
    lock();
    require(
        tested_lock.token() == tested_lock.handle().token() && !tested_lock.lost().stop_requested(),
        "the holder's hold");
    background_task(require_no_hold).get();
    unlock();
    require_no_hold();
}

void a_missing_shared_mutex_hold_is_reported(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    shared_mutex tested_lock(locks, "it", options);
    require_missing_hold_reported(
        tested_lock, [&] { tested_lock.lock_shared(); }, [&] { tested_lock.unlock_shared(); });
}

void a_missing_permit_is_reported(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    semaphore tested_lock(locks, "it", 2, options);
    require_missing_hold_reported(
        tested_lock, [&] { tested_lock.acquire(); }, [&] { tested_lock.release(); });
}

void threads_use_one_semaphore(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    semaphore tested_lock(locks, "it", 3, options);
    std::atomic<int> inside = 0;
    std::atomic<bool> too_many = false;
    std::vector<std::unique_ptr<background_task>> crowd;
    for (int i = 0; i < 6; ++i)
        crowd.push_back(std::make_unique<background_task>([&] {
            for (int round = 0; round < 15; ++round) {
                tested_lock.acquire();
                if (++inside > 3) too_many = true;
                std::this_thread::yield();
                --inside;
                tested_lock.release();
            }
        }));
    for (auto& each : crowd)
        each->get();
    require(!too_many, "more than three threads were inside");
    require(is_free(locks, "it"), "a permit is in use when all threads are done");
}

void a_semaphore_counts(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    semaphore own_semaphore(locks, "it", 2, options), same(other, "it", 2, options);
    require(own_semaphore.try_acquire() && same.try_acquire_for(5s),
            "two of two permits were not granted");
    require(own_semaphore.handle().owns_lock() && !own_semaphore.lost().stop_requested(),
            "a permit has no hold");
    const time_point begun = boot_clock::now();
    require(!own_semaphore.try_acquire_for(200ms), "a third of two permits was granted");
    require(boot_clock::now() - begun >= 200ms, "try_acquire_for ended before its time");
    require(!same.try_acquire() && !same.try_acquire_until(std::chrono::system_clock::now() + 50ms),
            "a third of two permits was granted");
    same.release();
    auto handle = same.acquire_permits();
    require(handle.owns_lock() && handle.token() >= own_semaphore.token(),
            "a handle does not own its permits");
    require(!own_semaphore.try_acquire_permits().owns_lock(), "a third of two permits was granted");
    own_semaphore.release();
    require(
        !own_semaphore.try_acquire_permits(2).owns_lock() && same.try_acquire_permits().owns_lock(),
        "a permit did not come back");
    (void)handle.release();
    auto both = own_semaphore.acquire_permits(2);
    require_equal(locks.inspect("it").held_by->permits, std::uint32_t{2},
                  "the permits of one hold");
}

void a_shared_mutex_is_renewed(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    shared_mutex tested_lock(locks, "it", options);
    const std::shared_lock inside(tested_lock);
    require_renewal(tested_lock, other);
}

void a_permit_is_renewed(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    semaphore tested_lock(locks, "it", 2, options);
    tested_lock.acquire();
    require_renewal(tested_lock, other);
    tested_lock.release();
}

void a_shared_mutex_outlives_the_move_of_its_client(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    std::optional<blocking::client> first(std::in_place, env.target, long_tries);
    shared_mutex tested_lock(*first, "it", options);
    blocking::client second(std::move(*first));
    first.reset();
    const std::shared_lock inside(tested_lock);
    require(!is_free(second, "it"), "a locked object is free");
}

void a_semaphore_outlives_the_move_of_its_client(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    std::optional<blocking::client> first(std::in_place, env.target, long_tries);
    semaphore tested_lock(*first, "it", 2, options);
    blocking::client second(std::move(*first));
    first.reset();
    require(tested_lock.try_acquire() && !is_free(second, "it"),
            "one permit of two was not granted");
    tested_lock.release();
}

// The total that a process named at its start does not matter after the total has changed.
void a_semaphore_follows_a_resize(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    semaphore own_semaphore(locks, "it", 1, options), same(other, "it", 1, options);
    require(own_semaphore.try_acquire() && !same.try_acquire(), "not one of one permit is in use");
    same.resize(2);
    require(own_semaphore.try_acquire() && !same.try_acquire(),
            "not two of two permits are in use");
    own_semaphore.release();
    own_semaphore.release();
    require(is_free(locks, "it"), "a permit is in use after all were released");
    own_semaphore.release();
    semaphore newcomer(other, "it", 1, options);
    require_equal(failure_of([&] { (void)newcomer.try_acquire(); }), errc::bad_option,
                  "a newcomer that names the old total");
    semaphore trusting(other, "it", 0, options);
    require(trusting.try_acquire(), "a newcomer that names no total");
    trusting.release();
}

constexpr lock_options all_of_three{
    .ttl = long_ttl, .wait = soon, .mode = lock_mode::permits, .permits = 3, .total_permits = 3};

// Calls `start_wait`, in which `waiting_client` begins to wait for a permit. Returns when the
// service has answered that no permit is free. If the queue is not visible, a waiter sends a
// request about once a second.
void require_waiting(const test_service& env, const capabilities& supported,
                     blocking::client& waiting_client, const std::function<void()>& start_wait) {
    const auto before = waiting_client.statistics().requests;
    start_wait();
    blocking::client observer(env.target, long_tries);
    const bool waits =
        supported.modes_share_queue
            ? has_waiters(observer, "it", 1)
            : eventually([&] { return waiting_client.statistics().requests >= before + 3; });
    require(waits, "the waiter for a permit is not seen");
}

// All permits are in use. A: its first acquire, waits | resize | B, by the same object: its first
// acquire | both are granted. The total that A named was right at that time, and B does not name it
// again.
void a_resize_disturbs_no_waiter(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    auto all_permits = other.acquire("it", all_of_three);
    semaphore tested_lock(locks, "it", 3, options);
    const auto pass = [&] {
        require(tested_lock.try_acquire_for(wait_bound), "a released permit is not granted");
        tested_lock.release();
    };
    std::optional<background_task> first;
    require_waiting(env, service_fixture.capabilities(), locks, [&] { first.emplace(pass); });
    other.resize("it", 2);
    background_task second(pass);
    require(!service_fixture.capabilities().modes_share_queue ||
                has_waiters(service_fixture, other, "it", 2),
            "the second waiter is not seen");
    (void)all_permits.release();
    first->get_soon("the grant of the caller that waited during the resize");
    second.get_soon("the grant of the later caller");
    semaphore newcomer(other, "it", 3, options);
    for (int i = 0; i < 2; ++i)
        require_equal(failure_of([&] { (void)newcomer.try_acquire(); }), errc::bad_option,
                      "a newcomer that names the old total");
}

// The service has accepted the total of a caller that then gave up waiting.
void a_resize_disturbs_no_waiter_that_gave_up(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    auto all_permits = other.acquire("it", all_of_three);
    semaphore tested_lock(locks, "it", 3, options);
    std::stop_source enough;
    std::optional<background_task> waiter;
    require_waiting(env, service_fixture.capabilities(), locks, [&] {
        waiter.emplace([&] {
            require_equal(failure_of([&] {
                              (void)tested_lock.acquire_permits(1, wait_bound, enough.get_token());
                          }),
                          errc::cancelled, "a cancelled wait");
        });
    });
    enough.request_stop();
    waiter->get_soon("the result of a cancelled wait");
    other.resize("it", 4);
    require(tested_lock.try_acquire(), "one of four permits was not granted after a resize");
    tested_lock.release();
}

constexpr test_case list[] = {
    {"threads_read_one_shared_mutex_together", with_sharing,
     threads_read_one_shared_mutex_together},
    {"a_shared_mutex_keeps_writers_alone", with_sharing, a_shared_mutex_keeps_writers_alone},
    {"a_shared_timed_mutex_waits_for_its_time", with_sharing,
     a_shared_timed_mutex_waits_for_its_time},
    {"a_shared_mutex_is_downgraded", with_downgrades, a_shared_mutex_is_downgraded},
    {"a_losers_unlock_is_its_own", every_backend, a_losers_unlock_is_its_own},
    {"a_losing_writers_unlock_is_its_own", with_sharing, a_losing_writers_unlock_is_its_own},
    {"a_missing_shared_mutex_hold_is_reported", with_sharing,
     a_missing_shared_mutex_hold_is_reported},
    {"a_missing_permit_is_reported", with_permits, a_missing_permit_is_reported},
    {"threads_use_one_semaphore", with_permits, threads_use_one_semaphore},
    {"a_semaphore_counts", with_permits, a_semaphore_counts},
    {"a_shared_mutex_is_renewed", with_sharing, a_shared_mutex_is_renewed},
    {"a_permit_is_renewed", with_permits, a_permit_is_renewed},
    {"a_shared_mutex_outlives_the_move_of_its_client", with_sharing,
     a_shared_mutex_outlives_the_move_of_its_client},
    {"a_semaphore_outlives_the_move_of_its_client", with_permits,
     a_semaphore_outlives_the_move_of_its_client},
    {"a_semaphore_follows_a_resize", with_permits, a_semaphore_follows_a_resize},
    {"a_resize_disturbs_no_waiter", with_permits, a_resize_disturbs_no_waiter},
    {"a_resize_disturbs_no_waiter_that_gave_up", with_permits,
     a_resize_disturbs_no_waiter_that_gave_up},
};

}  // namespace

std::span<const test_case> shared_mutex_tests() noexcept { return list; }

}  // namespace pawl::conformance
