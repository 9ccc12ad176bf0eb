#include "lists.hpp"

namespace pawl::conformance {

namespace {

void try_asks_once(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), other(here.where);
    require(other.try_acquire("it", {.ttl = long_ttl}).owns_lock(), "try_acquire of a free lock");
    require(eventually([&] { return is_free(other, "it"); }), "a dropped handle keeps its lock");
    auto lock = mine.acquire("it", {.ttl = long_ttl, .wait = patience});
    require(!other.try_acquire("it", {.ttl = long_ttl}).owns_lock(),
            "try_acquire got a lock that is held");
    require(has_waiters(mine, "it", 0), "try_acquire left a place in the queue");
}

void wait_of_zero_asks_once(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), other(here.where);
    auto free_one = other.acquire("free", {.ttl = long_ttl, .wait = 0s});
    require(static_cast<bool>(free_one), "wait = 0 on a free lock");
    auto lock = mine.acquire("it", {.ttl = long_ttl, .wait = patience});
    const auto why = failure_of([&] { (void)other.acquire("it", {.ttl = long_ttl, .wait = 0s}); });
    require_equal(why, errc::timed_out, "wait = 0 on a held lock");
}

void bounded_wait_ends_after_its_time(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), other(here.where);
    auto lock = mine.acquire("it", {.ttl = long_ttl, .wait = patience});
    const time_point begun = boot_clock::now();
    const auto why =
        failure_of([&] { (void)other.acquire("it", {.ttl = long_ttl, .wait = 300ms}); });
    require_equal(why, errc::timed_out, "a wait of 300 ms on a held lock");
    require(boot_clock::now() - begun >= 300ms, "a wait of 300 ms ended before its time");
    require(has_waiters(mine, "it", 0), "a wait that timed out left a place in the queue");
    require_equal(lock.release(), release_result::released, "release");
    auto after = other.try_acquire("it", {.ttl = long_ttl});
    require(static_cast<bool>(after), "a wait that timed out left a lock");
}

void bounded_wait_gets_it_in_time(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), other(here.where);
    auto lock = mine.acquire("it", {.ttl = long_ttl, .wait = patience});
    aside waiting([&] { (void)other.acquire("it", {.ttl = long_ttl, .wait = long_ttl}); });
    require(has_waiters(mine, "it", 1), "a waiter is not to be seen");
    require_equal(lock.release(), release_result::released, "release");
    waiting.get();
}

// The ttl is a minute: only a wake-up, not a lease that runs out, can end the wait in time.
void release_wakes_an_endless_wait(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), other(here.where);
    for (int round = 0; round < 10; ++round) {
        auto lock = mine.acquire("it", {.ttl = long_ttl, .wait = patience});
        std::atomic<bool> got = false;
        aside waiting([&] {
            auto mine_now = other.acquire("it", {.ttl = long_ttl});
            got = true;
        });
        require(has_waiters(mine, "it", 1), "a waiter is not to be seen");
        require(!got, "a waiter got a lock that is held");
        require_equal(lock.release(), release_result::released, "release");
        require(eventually([&] { return got.load(); }), "a release woke nobody");
        waiting.get();
    }
}

// As above; the wait begins at the very moment of the release.
void no_release_is_missed(fixture& of) {
    const world here = of.fresh();
    blocking::client one(here.where), two(here.where);
    std::atomic<int> served = 0;
    const auto trade = [&](blocking::client& locks) {
        for (int i = 0; i < 200; ++i, ++served)
            (void)locks.acquire("it", {.ttl = long_ttl, .wait = patience}).release();
    };
    aside first([&] { trade(one); });
    aside second([&] { trade(two); });
    first.get();
    second.get();
    require_equal(served.load(), 400, "acquisitions of two clients in turn");
    require(has_waiters(one, "it", 0), "a waiter is left when all are done");
}

void waiters_in_other_processes_are_woken(fixture& of) {
    const world here = of.fresh();
    blocking::client eyes(here.where);
    agent holder(here), waiter(here);
    const auto first = holder.acquire("it", long_ttl);
    waiter.tell("acquire it 60000 forever");
    require(has_waiters(eyes, "it", 1), "a waiter of another process is not to be seen");
    require_equal(holder.ask("release it"), std::string("release released"), "release");
    require(token_in(waiter.answer()) > first, "the waiter's token is not later than the holder's");
}

constexpr promise list[] = {
    {"try_asks_once", everybody, try_asks_once},
    {"wait_of_zero_asks_once", everybody, wait_of_zero_asks_once},
    {"bounded_wait_ends_after_its_time", everybody, bounded_wait_ends_after_its_time},
    {"bounded_wait_gets_it_in_time", everybody, bounded_wait_gets_it_in_time},
    {"release_wakes_an_endless_wait", everybody, release_wakes_an_endless_wait},
    {"no_release_is_missed", everybody, no_release_is_missed},
    {"waiters_in_other_processes_are_woken", with_processes, waiters_in_other_processes_are_woken},
};

}  // namespace

std::span<const promise> waiting_promises() noexcept { return list; }

}  // namespace pawl::conformance
