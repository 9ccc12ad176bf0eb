#include "lists.hpp"

#include <mutex>

namespace pawl::conformance {

namespace {

using blocking::mutex;
using blocking::recursive_mutex;
using blocking::timed_mutex;

void a_mutex_is_lockable(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    mutex mine(locks, "it", {.ttl = long_ttl}), same(other, "it", {.ttl = long_ttl});
    {
        const std::unique_lock inside(mine);
        require(!same.try_lock(), "two mutexes of one name were locked at once");
        require(mine.handle().state() == lock_state::held, "a locked mutex is not held");
    }
    require(same.try_lock(), "an unlocked mutex cannot be locked");
    require(!mine.try_lock(), "a mutex was locked although its twin is");
    same.unlock();
}

// A thread that has no hold gets an answer, also beside one that has.
void who_has_no_mutex_is_told(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    mutex it(locks, "it", {.ttl = long_ttl});
    recursive_mutex again(locks, "again", {.ttl = long_ttl});
    const auto without = [&] {
        require_equal(failure_of([&] { (void)it.token(); }), errc::bad_option, "a token");
        require_equal(failure_of([&] { (void)it.lost(); }), errc::bad_option, "a loss");
        require_equal(failure_of([&] { (void)again.token(); }), errc::bad_option, "a token");
        require_equal(failure_of([&] { (void)again.lost(); }), errc::bad_option, "a loss");
        require(!it.handle(), "a handle of nothing");
    };
    without();
    const std::scoped_lock both(it, again);
    require(it.token() == it.handle().token() && !it.lost().stop_requested(), "the owner's hold");
    require(!again.lost().stop_requested(), "the owner's other hold");
    aside(without).get();
}

void threads_share_one_mutex(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    mutex shared(locks, "it", {.ttl = long_ttl});
    turnstile gate;
    std::vector<std::unique_ptr<aside>> crowd;
    for (int i = 0; i < 4; ++i)
        crowd.push_back(std::make_unique<aside>([&] {
            for (int round = 0; round < 25; ++round) {
                const std::scoped_lock inside(shared);
                gate.enter();
                std::this_thread::yield();
                gate.leave();
            }
        }));
    for (auto& each : crowd)
        each->get();
    require(!gate.ever_shared(), "two threads were inside one mutex");
}

// Opposite orders, many times: std::scoped_lock must find its way without a deadlock.
void scoped_lock_takes_several(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    turnstile gate;
    const auto pass = [&](blocking::client& on, bool forward) {
        mutex a(on, "a", {.ttl = long_ttl}), b(on, "b", {.ttl = long_ttl}),
            c(on, "c", {.ttl = long_ttl});
        for (int round = 0; round < 20; ++round) {
            const auto step = [&](auto& first, auto& second, auto& third) {
                const std::scoped_lock all(first, second, third);
                gate.enter();
                std::this_thread::yield();
                gate.leave();
            };
            forward ? step(a, b, c) : step(c, b, a);
        }
    };
    aside one([&] { pass(locks, true); });
    aside two([&] { pass(other, false); });
    one.get();
    two.get();
    require(!gate.ever_shared(), "two threads held the same three locks");
    require(locks.list().empty(), "a lock is left after scoped_lock");
}

void std_lock_backs_off(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    mutex a(locks, "a", {.ttl = long_ttl}), b(locks, "b", {.ttl = long_ttl});
    auto taken = other.acquire("b", {.ttl = long_ttl});
    require_equal(std::try_lock(a, b), 1, "std::try_lock when the second of two is held");
    require(is_free(other, "a"), "std::try_lock kept the first of two");
    (void)taken.release();
    std::lock(a, b);
    require(!other.try_acquire("a", {.ttl = long_ttl}).owns_lock() &&
                !other.try_acquire("b", {.ttl = long_ttl}).owns_lock(),
            "std::lock did not take both");
    a.unlock();
    b.unlock();
}

void a_timed_mutex_waits_for_its_time(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    timed_mutex mine(locks, "it", {.ttl = long_ttl}), same(other, "it", {.ttl = long_ttl});
    require(mine.try_lock_for(5s), "a free timed_mutex");
    const auto begun = std::chrono::steady_clock::now();
    require(!same.try_lock_for(200ms), "a timed_mutex was locked twice");
    require(std::chrono::steady_clock::now() - begun >= 200ms,
            "try_lock_for ended before its time");
    require(!same.try_lock_until(std::chrono::system_clock::now() + 100ms),
            "try_lock_until of a held one");
    require(!same.try_lock_until(std::chrono::system_clock::now() - 1s),
            "try_lock_until of the past");
    mine.unlock();
    require(same.try_lock_for(10s), "a timed_mutex that was unlocked");
    same.unlock();
}

template <class Mutex>
void a_mutex_renews_its_hold(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    Mutex it(locks, "it", {.ttl = long_ttl});
    const std::unique_lock inside(it);
    require_renewal(it, other);
}

void a_plain_mutex_is_renewed(fixture& of) { a_mutex_renews_its_hold<mutex>(of); }
void a_recursive_mutex_is_renewed(fixture& of) { a_mutex_renews_its_hold<recursive_mutex>(of); }

void a_mutex_outlives_the_move_of_its_client(fixture& of) {
    const world here = of.fresh();
    std::optional<blocking::client> first(here.where);
    mutex it(*first, "it", {.ttl = long_ttl});
    recursive_mutex again(*first, "again", {.ttl = long_ttl});
    blocking::client second(std::move(*first));
    first.reset();
    const std::scoped_lock both(it, again);
    require(!is_free(second, "it") && !is_free(second, "again"), "what was locked is free");
}

// Longer than nanoseconds can say: such a wait must not become none.
void a_huge_wait_is_a_wait(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    timed_mutex it(locks, "it", {.ttl = long_ttl});
    using hours_of_system = std::chrono::time_point<std::chrono::system_clock, std::chrono::hours>;
    const std::function<bool()> waits[] = {
        [&] { return it.try_lock_for(std::chrono::hours::max()); },
        [&] { return it.try_lock_for(std::chrono::duration<double>(1e12)); },
        [&] { return it.try_lock_until(hours_of_system::max()); },
    };
    for (const auto& wait : waits) {
        auto hold = other.acquire("it", {.ttl = long_ttl});
        aside waiter([&] {
            require(wait(), "a huge wait ended without the lock");
            it.unlock();
        });
        require(!of.promised().one_line || has_waiters(other, "it", 1), "who waits is not seen");
        (void)hold.release();
        waiter.get_soon("the turn of a huge wait");
    }
}

void a_recursive_mutex_is_its_threads(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    recursive_mutex mine(locks, "it", {.ttl = long_ttl});
    mine.lock();
    const fencing_token token = mine.token();
    require(mine.try_lock(), "a nested try_lock of the owner");
    mine.lock();
    require_equal(mine.token(), token, "the token of a nested lock");
    aside stranger([&] { require(!mine.try_lock(), "another thread locked a recursive_mutex"); });
    stranger.get();
    mine.unlock();
    mine.unlock();
    require(!other.try_acquire("it", {.ttl = long_ttl}).owns_lock(),
            "an inner unlock freed the lock");
    mine.unlock();
    auto next = other.acquire("it", {.ttl = long_ttl, .wait = soon});
    require(static_cast<bool>(next), "the last unlock did not free the lock");
}

// A: lock, lock | loss | B: lock, lock | A: a third lock is refused, unlock, unlock | B: still
// alone, unlock, unlock | free. Neither thread's unlock counts for the other.
void a_lost_recursive_mutex_is_each_threads_own(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), eyes(here.where);
    recursive_mutex it(locks, "it", {.ttl = 6s});  // where losses are not pushed, a renewal tells
    it.lock();
    it.lock();
    const std::stop_token lost = it.lost();
    require(eyes.force_release("it"), "force_release of a held lock said that nobody had it");
    require(eventually([&] { return lost.stop_requested(); }), "the loss was not noticed");
    require_equal(failure_of([&] { it.lock(); }), errc::lost, "a nested lock after the loss");
    require_equal(failure_of([&] { (void)it.try_lock(); }), errc::lost, "a nested try_lock then");
    std::atomic<bool> entered = false, unlocked = false;
    aside next([&] {
        it.lock();
        it.lock();
        entered = true;
        require(eventually([&] { return unlocked.load(); }), "the loser never unlocked");
        it.unlock();
        require(!it.lost().stop_requested(), "the next one's hold after the loser's unlock");
        require(it.try_lock_for(soon), "the next one cannot enter again");
        it.unlock();
        require(!is_free(eyes, "it"), "an inner unlock freed the next one's lock");
        it.unlock();
    });
    require(eventually([&] { return entered.load(); }), "the next one does not get it");
    require_equal(failure_of([&] { it.lock(); }), errc::lost, "a nested lock beside the next one");
    it.unlock();
    it.unlock();
    unlocked = true;
    next.get_soon("the next one's turn");
    require(is_free(eyes, "it"), "the lock is held after all unlocked it");
    require(it.try_lock(), "the loser cannot have it again");
    it.unlock();
}

// Thread ids are used again: 1. A thread ends while it holds the mutex. 2. Another one gets its id.
void a_recursive_mutex_is_not_inherited(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    recursive_mutex it(locks, "it", {.ttl = long_ttl});
    std::thread::id first;
    std::thread([&] {
        first = std::this_thread::get_id();
        it.lock();
    }).join();
    bool again = false, inherited = false;
    for (int tried = 0; tried < 100 && !again; ++tried)
        std::thread([&] {
            again = std::this_thread::get_id() == first;
            inherited = it.try_lock();
        }).join();
    require(!inherited, "a thread entered what another one, with the same id, had locked");
}

// Waiting would be for ever: std::errc::resource_deadlock_would_occur, as the standard allows it.
void a_mutex_is_not_locked_twice_by_its_thread(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    mutex it(locks, "it", {.ttl = long_ttl});
    it.lock();
    require_equal(failure_of([&] { it.lock(); }), errc::deadlock, "a second lock");
    require(make_error_code(errc::deadlock) == std::errc::resource_deadlock_would_occur,
            "errc::deadlock is not the standard's");
    require(!it.try_lock(), "a try of what this thread holds");
    timed_mutex timed(locks, "timed", {.ttl = long_ttl});
    timed.lock();
    require(!timed.try_lock_for(10ms), "a bounded wait for what this thread holds");
    timed.unlock();
    it.unlock();
    it.lock();
    it.unlock();
}

void unlock_after_a_loss_does_nothing(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    mutex mine(locks, "it", {.ttl = 600ms, .max_hold = 600ms});
    mine.lock();
    auto next = other.acquire("it", {.ttl = long_ttl, .wait = 600ms + grace});
    require(mine.lost().stop_requested(), "a mutex whose max_hold is over was not told");
    mine.unlock();
    require_equal(next.state(), lock_state::held, "the next holder, after the loser's unlock");
    require(!locks.try_acquire("it", {.ttl = long_ttl}).owns_lock(),
            "the loser's unlock freed the next one's lock");
}

constexpr promise list[] = {
    {"a_mutex_is_lockable", everybody, a_mutex_is_lockable},
    {"who_has_no_mutex_is_told", everybody, who_has_no_mutex_is_told},
    {"threads_share_one_mutex", everybody, threads_share_one_mutex},
    {"scoped_lock_takes_several", everybody, scoped_lock_takes_several},
    {"std_lock_backs_off", everybody, std_lock_backs_off},
    {"a_timed_mutex_waits_for_its_time", everybody, a_timed_mutex_waits_for_its_time},
    {"a_plain_mutex_is_renewed", everybody, a_plain_mutex_is_renewed},
    {"a_recursive_mutex_is_renewed", everybody, a_recursive_mutex_is_renewed},
    {"a_mutex_outlives_the_move_of_its_client", everybody, a_mutex_outlives_the_move_of_its_client},
    {"a_huge_wait_is_a_wait", everybody, a_huge_wait_is_a_wait},
    {"a_recursive_mutex_is_its_threads", everybody, a_recursive_mutex_is_its_threads},
    {"a_recursive_mutex_is_not_inherited", everybody, a_recursive_mutex_is_not_inherited},
    {"a_mutex_is_not_locked_twice_by_its_thread", everybody,
     a_mutex_is_not_locked_twice_by_its_thread},
    {"a_lost_recursive_mutex_is_each_threads_own", everybody,
     a_lost_recursive_mutex_is_each_threads_own},
    {"unlock_after_a_loss_does_nothing", everybody, unlock_after_a_loss_does_nothing},
};

}  // namespace

std::span<const promise> mutex_promises() noexcept { return list; }

}  // namespace pawl::conformance
