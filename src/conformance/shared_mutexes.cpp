// The standard's shapes of the read/write lock and the semaphore.
#include "lists.hpp"

#include <pawl/blocking_semaphore.hpp>
#include <pawl/shared_mutex.hpp>

#include <mutex>
#include <shared_mutex>

namespace pawl::conformance {

namespace {

using blocking::semaphore;
using blocking::shared_mutex;
using blocking::shared_timed_mutex;

constexpr lock_options options{.ttl = long_ttl};

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

bool with_sharing(const promises& promised) { return promised.shared; }
bool with_downgrades(const promises& promised) { return promised.shared && promised.downgrades; }
bool with_permits(const promises& promised) { return promised.permits; }

// All readers are inside one object at the same time: each waits there for the others.
void threads_read_one_shared_mutex_together(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    shared_mutex it(locks, "it", options);
    std::atomic<int> inside = 0;
    std::vector<std::unique_ptr<aside>> crowd;
    for (int i = 0; i < 4; ++i)
        crowd.push_back(std::make_unique<aside>([&] {
            const std::shared_lock reads(it);
            ++inside;
            require(eventually([&] { return inside == 4; }), "threads read one by one");
            require(it.handle().owns_lock() && !it.lost().stop_requested(), "a reader has no hold");
        }));
    for (auto& each : crowd)
        each->get();
    require(is_free(locks, "it"), "the lock is held after its last reader");
}

void a_shared_mutex_keeps_writers_alone(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    shared_mutex it(locks, "it", options);
    long value = 0;
    std::atomic<bool> torn = false;
    std::vector<std::unique_ptr<aside>> crowd;
    for (int i = 0; i < 4; ++i)
        crowd.push_back(std::make_unique<aside>([&] {
            for (int round = 0; round < 25; ++round) {
                {
                    const std::unique_lock writes(it);
                    const long before = value;
                    std::this_thread::yield();
                    value = before + 1;
                }
                const std::shared_lock reads(it);
                const long before = value;
                std::this_thread::yield();
                if (value != before) torn = true;
            }
        }));
    for (auto& each : crowd)
        each->get();
    require(!torn, "a writer came in beside a reader");
    require_equal(value, 100L, "what four writing threads counted together");
}

void a_shared_timed_mutex_waits_for_its_time(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    shared_timed_mutex mine(locks, "it", options), same(other, "it", options);
    require(mine.try_lock_shared_for(5s) && same.try_lock_shared(), "readers keep each other out");
    const time_point begun = boot_clock::now();
    require(!same.try_lock_for(200ms), "a writer came in beside readers");
    require(boot_clock::now() - begun >= 200ms, "try_lock_for ended before its time");
    require(!same.try_lock(), "a writer came in beside readers");
    mine.unlock_shared();
    same.unlock_shared();
    require(mine.try_lock_until(std::chrono::system_clock::now() + 5s),
            "a free shared_timed_mutex");
    require(!same.try_lock_shared_until(std::chrono::system_clock::now() + 100ms) &&
                !same.try_lock_shared_for(100ms) && !same.try_lock_shared(),
            "a reader came in beside a writer");
    mine.unlock();
    require(is_free(other, "it"), "the lock is held after all unlocked it");
}

void a_shared_mutex_is_downgraded(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    shared_mutex mine(locks, "it", options), same(other, "it", options);
    require_equal(failure_of([&] { mine.downgrade(); }), errc::bad_option,
                  "a downgrade of what this thread does not hold");
    mine.lock();
    const fencing_token token = mine.token();
    mine.downgrade();
    require_equal(mine.token(), token, "the token after a downgrade");
    require(same.try_lock_shared() && !same.try_lock(), "no reader beside it, or a writer");
    same.unlock_shared();
    mine.unlock_shared();
    require(is_free(other, "it"), "the lock is held after the last reader");
}

// One thread's hold ends by itself, another has the same object by then: the first one's unlock
// must not be the second's.
template <class Mutex>
void an_unlock_after_a_loss_is_nobody_elses(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), eyes(here.where);
    Mutex it(locks, "it", options);
    it.lock();
    std::atomic<bool> unlocked = false;
    require(eyes.force_release("it"), "force_release of a held lock said that nobody had it");
    aside next([&] {
        const std::unique_lock mine(it);
        require(eventually([&] { return unlocked.load(); }), "the loser never unlocked");
        require(it.handle().owns_lock(), "the loser's unlock took the next one's lock");
        require(!is_free(eyes, "it"), "the loser's unlock freed the next one's lock");
    });
    require(eventually([&] { return !is_free(eyes, "it"); }), "the next one does not get it");
    it.unlock();
    unlocked = true;
    next.get();
}

void a_losers_unlock_is_its_own(fixture& of) {
    an_unlock_after_a_loss_is_nobody_elses<blocking::mutex>(of);
}

void a_losing_writers_unlock_is_its_own(fixture& of) {
    an_unlock_after_a_loss_is_nobody_elses<shared_mutex>(of);
}

// A thread that has no hold gets an answer, also beside one that has.
template <class Lock>
void a_thread_without_a_hold_is_told(Lock& it, const std::function<void()>& lock,
                                     const std::function<void()>& unlock) {
    const auto without = [&] {
        require_equal(failure_of([&] { (void)it.token(); }), errc::bad_option, "a token");
        require_equal(failure_of([&] { (void)it.lost(); }), errc::bad_option, "a loss");
        require(!it.handle(), "a handle of nothing");
    };
    without();
    lock();
    require(it.token() == it.handle().token() && !it.lost().stop_requested(), "the holder's hold");
    aside(without).get();
    unlock();
    without();
}

void who_has_no_shared_mutex_is_told(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    shared_mutex it(locks, "it", options);
    a_thread_without_a_hold_is_told(
        it, [&] { it.lock_shared(); }, [&] { it.unlock_shared(); });
}

void who_has_no_permit_is_told(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    semaphore it(locks, "it", 2, options);
    a_thread_without_a_hold_is_told(
        it, [&] { it.acquire(); }, [&] { it.release(); });
}

void threads_use_one_semaphore(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    semaphore it(locks, "it", 3, options);
    std::atomic<int> inside = 0;
    std::atomic<bool> too_many = false;
    std::vector<std::unique_ptr<aside>> crowd;
    for (int i = 0; i < 6; ++i)
        crowd.push_back(std::make_unique<aside>([&] {
            for (int round = 0; round < 15; ++round) {
                it.acquire();
                if (++inside > 3) too_many = true;
                std::this_thread::yield();
                --inside;
                it.release();
            }
        }));
    for (auto& each : crowd)
        each->get();
    require(!too_many, "more than three threads were inside");
    require(is_free(locks, "it"), "a permit is out when all are done");
}

void a_semaphore_counts(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    semaphore mine(locks, "it", 2, options), same(other, "it", 2, options);
    require(mine.try_acquire() && same.try_acquire_for(5s), "two of two permits are not had");
    require(mine.handle().owns_lock() && !mine.lost().stop_requested(), "a permit has no hold");
    const time_point begun = boot_clock::now();
    require(!mine.try_acquire_for(200ms), "a third of two permits was had");
    require(boot_clock::now() - begun >= 200ms, "try_acquire_for ended before its time");
    require(!same.try_acquire() && !same.try_acquire_until(std::chrono::system_clock::now() + 50ms),
            "a third of two permits was had");
    same.release();
    auto handle = same.take();
    require(handle.owns_lock() && handle.token() >= mine.token(), "a handle is no hold");
    require(!mine.try_take().owns_lock(), "a third of two permits was had");
    mine.release();
    require(!mine.try_take(2).owns_lock() && same.try_take().owns_lock(),
            "a permit did not come back");
    (void)handle.release();
    auto both = mine.take(2);
    require_equal(locks.inspect("it").held_by->permits, std::uint32_t{2},
                  "the permits of one hold");
}

void a_shared_mutex_is_renewed(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    shared_mutex it(locks, "it", options);
    const std::shared_lock inside(it);
    require_renewal(it, other);
}

void a_permit_is_renewed(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    semaphore it(locks, "it", 2, options);
    it.acquire();
    require_renewal(it, other);
    it.release();
}

void a_shared_mutex_outlives_the_move_of_its_client(fixture& of) {
    const world here = of.fresh();
    std::optional<blocking::client> first(here.where);
    shared_mutex it(*first, "it", options);
    blocking::client second(std::move(*first));
    first.reset();
    const std::shared_lock inside(it);
    require(!is_free(second, "it"), "what was locked is free");
}

void a_semaphore_outlives_the_move_of_its_client(fixture& of) {
    const world here = of.fresh();
    std::optional<blocking::client> first(here.where);
    semaphore it(*first, "it", 2, options);
    blocking::client second(std::move(*first));
    first.reset();
    require(it.try_acquire() && !is_free(second, "it"), "a permit of two is not had");
    it.release();
}

// What one process said at its start is not held against it when the number changes later.
void a_semaphore_follows_a_resize(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    semaphore mine(locks, "it", 1, options), same(other, "it", 1, options);
    require(mine.try_acquire() && !same.try_acquire(), "not one of one permit is out");
    same.resize(2);
    require(mine.try_acquire() && !same.try_acquire(), "not two of two permits are out");
    mine.release();
    mine.release();
    require(is_free(locks, "it"), "a permit is out when all were released");
    mine.release();
    semaphore newcomer(other, "it", 1, options);
    require_equal(failure_of([&] { (void)newcomer.try_acquire(); }), errc::bad_option,
                  "a newcomer with the old number");
    semaphore trusting(other, "it", 0, options);
    require(trusting.try_acquire(), "a newcomer without a number");
    trusting.release();
}

constexpr lock_options all_of_three{
    .ttl = long_ttl, .wait = soon, .mode = lock_mode::permits, .permits = 3, .of = 3};

// Until one who began to wait by `on` was answered that there is nothing free yet. Where a line
// cannot be seen, one who waits asks about once a second.
void require_waiting(const world& here, const promises& promised, blocking::client& on,
                     const std::function<void()>& begin) {
    const auto before = on.statistics().requests;
    begin();
    blocking::client eyes(here.where);
    const bool waits = promised.one_line
                           ? has_waiters(eyes, "it", 1)
                           : eventually([&] { return on.statistics().requests >= before + 3; });
    require(waits, "who waits for a permit is not seen");
}

// All permits are out. A: its first acquire, waits | resize | B, by the same object: its first one
// | both come in. What A said was right when it was said, and B does not say it again.
void a_resize_disturbs_nobody_who_waits(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    auto all = other.acquire("it", all_of_three);
    semaphore it(locks, "it", 3, options);
    const auto pass = [&] {
        require(it.try_acquire_for(patience), "a permit that came back is not had");
        it.release();
    };
    std::optional<aside> first;
    require_waiting(here, of.promised(), locks, [&] { first.emplace(pass); });
    other.resize("it", 2);
    aside second(pass);
    require(!of.promised().one_line || has_waiters(other, "it", 2), "who waits too is not seen");
    (void)all.release();
    first->get_soon("the turn of who waited when the number changed");
    second.get_soon("the turn of who came later");
    semaphore newcomer(other, "it", 3, options);
    for (int i = 0; i < 2; ++i)
        require_equal(failure_of([&] { (void)newcomer.try_acquire(); }), errc::bad_option,
                      "a newcomer with the old number");
}

// Whoever gave up waiting has been heard all the same.
void a_resize_disturbs_nobody_who_gave_up(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    auto all = other.acquire("it", all_of_three);
    semaphore it(locks, "it", 3, options);
    std::stop_source enough;
    std::optional<aside> waiter;
    require_waiting(here, of.promised(), locks, [&] {
        waiter.emplace([&] {
            require_equal(failure_of([&] { (void)it.take(1, patience, enough.get_token()); }),
                          errc::cancelled, "a wait that is cancelled");
        });
    });
    enough.request_stop();
    waiter->get_soon("the end of a cancelled wait");
    other.resize("it", 4);
    require(it.try_acquire(), "one of four permits is not had after a resize");
    it.release();
}

constexpr promise list[] = {
    {"threads_read_one_shared_mutex_together", with_sharing,
     threads_read_one_shared_mutex_together},
    {"a_shared_mutex_keeps_writers_alone", with_sharing, a_shared_mutex_keeps_writers_alone},
    {"a_shared_timed_mutex_waits_for_its_time", with_sharing,
     a_shared_timed_mutex_waits_for_its_time},
    {"a_shared_mutex_is_downgraded", with_downgrades, a_shared_mutex_is_downgraded},
    {"a_losers_unlock_is_its_own", everybody, a_losers_unlock_is_its_own},
    {"a_losing_writers_unlock_is_its_own", with_sharing, a_losing_writers_unlock_is_its_own},
    {"who_has_no_shared_mutex_is_told", with_sharing, who_has_no_shared_mutex_is_told},
    {"who_has_no_permit_is_told", with_permits, who_has_no_permit_is_told},
    {"threads_use_one_semaphore", with_permits, threads_use_one_semaphore},
    {"a_semaphore_counts", with_permits, a_semaphore_counts},
    {"a_shared_mutex_is_renewed", with_sharing, a_shared_mutex_is_renewed},
    {"a_permit_is_renewed", with_permits, a_permit_is_renewed},
    {"a_shared_mutex_outlives_the_move_of_its_client", with_sharing,
     a_shared_mutex_outlives_the_move_of_its_client},
    {"a_semaphore_outlives_the_move_of_its_client", with_permits,
     a_semaphore_outlives_the_move_of_its_client},
    {"a_semaphore_follows_a_resize", with_permits, a_semaphore_follows_a_resize},
    {"a_resize_disturbs_nobody_who_waits", with_permits, a_resize_disturbs_nobody_who_waits},
    {"a_resize_disturbs_nobody_who_gave_up", with_permits, a_resize_disturbs_nobody_who_gave_up},
};

}  // namespace

std::span<const promise> shared_mutex_promises() noexcept { return list; }

}  // namespace pawl::conformance
