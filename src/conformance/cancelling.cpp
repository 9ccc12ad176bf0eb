#include "lists.hpp"

#include <random>

namespace pawl::conformance {

namespace {

void cancelled_before_it_began(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    std::stop_source stop;
    stop.request_stop();
    const auto why = failure_of(
        [&] { (void)locks.acquire("it", {.ttl = long_ttl, .wait = patience}, stop.get_token()); });
    require_equal(why, errc::cancelled, "an acquire whose stop was asked for before");
    require(eventually([&] { return is_free(locks, "it"); }), "a cancelled acquire left a lock");
}

void cancelled_wait_ends_at_once(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), other(here.where);
    auto lock = mine.acquire("it", {.ttl = long_ttl, .wait = patience});
    std::stop_source stop;
    std::optional<errc> why;
    aside waiting([&] {
        why = failure_of([&] {
            (void)other.acquire("it", {.ttl = long_ttl, .wait = patience}, stop.get_token());
        });
    });
    require(has_waiters(mine, "it", 1), "a waiter is not to be seen");
    stop.request_stop();
    waiting.get();
    require_equal(why, errc::cancelled, "a cancelled wait");
    require(has_waiters(mine, "it", 0), "a cancelled wait left a place in the queue");
    require_equal(lock.state(), lock_state::held, "the holder, after another one's cancelled wait");
    require_equal(lock.release(), release_result::released, "release");
    require(other.try_acquire("it", {.ttl = long_ttl}).owns_lock(), "the lock is not free");
}

// One round: a waiter is cancelled, the holder releases, in any order and at any distance.
void cancel_near_release(blocking::client& mine, blocking::client& other, std::minstd_rand& dice) {
    std::uniform_int_distribution<int> microseconds(0, 3000);
    auto lock = mine.acquire("it", {.ttl = long_ttl, .wait = patience});
    std::stop_source stop;
    std::optional<errc> why;
    aside waiting([&] {
        why = failure_of([&] {
            (void)other.acquire("it", {.ttl = long_ttl, .wait = patience}, stop.get_token());
        });
    });
    const int until_stop = microseconds(dice), until_release = microseconds(dice);
    aside stopping([&] {
        std::this_thread::sleep_for(std::chrono::microseconds(until_stop));
        stop.request_stop();
    });
    std::this_thread::sleep_for(std::chrono::microseconds(until_release));
    require_equal(lock.release(), release_result::released, "release");
    stopping.get();
    waiting.get();
    require(!why || *why == errc::cancelled, "a cancelled wait ended with: " + shown(why));
}

// Whatever the instant, the lock is free afterwards although its ttl is a minute.
void cancelled_at_any_moment_leaves_nothing(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), other(here.where);
    std::minstd_rand dice(7);
    for (int round = 0; round < 80; ++round) {
        cancel_near_release(mine, other, dice);
        require(eventually([&] { return is_free(mine, "it"); }),
                "round " + std::to_string(round) + ": a cancelled wait left a lock");
        require(has_waiters(mine, "it", 0),
                "round " + std::to_string(round) + ": a cancelled wait left a place in the queue");
    }
}

// The lock is free: the stop meets the request, the answer, or comes too late.
void cancelled_while_it_is_granted_leaves_nothing(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), eyes(here.where);
    std::minstd_rand dice(11);
    std::uniform_int_distribution<int> microseconds(0, 300);
    for (int round = 0; round < 150; ++round) {
        std::stop_source stop;
        const int until_stop = microseconds(dice);
        aside stopping([&] {
            std::this_thread::sleep_for(std::chrono::microseconds(until_stop));
            stop.request_stop();
        });
        const auto why = failure_of([&] {
            (void)locks.acquire("it", {.ttl = long_ttl, .wait = patience}, stop.get_token());
        });
        stopping.get();
        require(!why || *why == errc::cancelled, "a cancelled acquire ended with: " + shown(why));
        require(eventually([&] { return is_free(eyes, "it"); }),
                "round " + std::to_string(round) + ": a cancelled acquire left a lock");
    }
}

// Many waiters give up at random; those behind them still get their turn.
void the_cancelled_do_not_stop_the_queue(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), other(here.where), third(here.where);
    std::minstd_rand dice(13);
    std::uniform_int_distribution<int> microseconds(0, 20000);
    auto lock = mine.acquire("it", {.ttl = long_ttl, .wait = patience});
    std::atomic<int> served = 0;
    std::vector<std::unique_ptr<aside>> crowd;
    for (int i = 0; i < 24; ++i) {
        blocking::client& locks = i % 2 == 0 ? other : third;
        const int until_stop = microseconds(dice);
        const bool patient = i % 3 == 0;
        crowd.push_back(std::make_unique<aside>([&locks, &served, until_stop, patient] {
            std::stop_source stop;
            std::jthread stopping;
            if (!patient)
                stopping = std::jthread([&stop, until_stop] {
                    std::this_thread::sleep_for(std::chrono::microseconds(until_stop));
                    stop.request_stop();
                });
            const auto why = failure_of([&] {
                (void)locks.acquire("it", {.ttl = long_ttl, .wait = patience}, stop.get_token());
            });
            if (!why && patient) ++served;
        }));
    }
    std::this_thread::sleep_for(10ms);
    (void)lock.release();
    require(eventually([&] { return served == 8; }),
            "waiters that gave up stopped those behind them");
    for (auto& each : crowd)
        each->get();
    require(eventually([&] { return is_free(mine, "it"); }), "a waiter that gave up left a lock");
    require(has_waiters(mine, "it", 0), "a waiter that gave up left a place in the queue");
}

constexpr promise list[] = {
    {"cancelled_before_it_began", everybody, cancelled_before_it_began},
    {"cancelled_wait_ends_at_once", everybody, cancelled_wait_ends_at_once},
    {"cancelled_at_any_moment_leaves_nothing", everybody, cancelled_at_any_moment_leaves_nothing},
    {"cancelled_while_it_is_granted_leaves_nothing", everybody,
     cancelled_while_it_is_granted_leaves_nothing},
    {"the_cancelled_do_not_stop_the_queue", everybody, the_cancelled_do_not_stop_the_queue},
};

}  // namespace

std::span<const promise> cancelling_promises() noexcept { return list; }

}  // namespace pawl::conformance
