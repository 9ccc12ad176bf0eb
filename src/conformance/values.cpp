// Holds under a value of the caller's own.
#include "lists.hpp"

#include <pawl/backend.hpp>

namespace pawl::conformance {

namespace {

using blocking::held_lock;

constexpr lock_options options{.ttl = long_ttl, .wait = patience};
constexpr try_options once{.ttl = long_ttl};

bool with_chosen_values(const promises& promised) { return promised.chosen_values; }

bool with_values_and_processes(const promises& promised) {
    return promised.chosen_values && promised.across_processes;
}

bool without_chosen_values(const promises& promised) { return !promised.chosen_values; }

void a_chosen_value_holds_as_any_other(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    auto lock = locks.try_acquire_as("it", "ticket 1", once);
    require(lock.owns_lock() && lock.token(), "a free lock was not given, with a token");
    require(!other.try_acquire("it", once).owns_lock(), "it did not keep another client out");
    require(!other.try_acquire_as("it", "ticket 2", once).owns_lock(),
            "nor one under another value");
    require(!locks.try_acquire_as("it", "ticket 1", once).owns_lock(),
            "nor one under the same value");
    lock.renew();
    require_equal(lock.release(), release_result::released, "its release");
    auto next = other.acquire("it", options);
    require(next.token() > lock.token(), "the next hold has no later token");
}

// Its release wakes who stands in line, and a wait of its own finds a lock that becomes free.
void a_chosen_value_may_wait(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    auto first = locks.acquire_as("it", "ticket 1", options);
    held_lock second;
    aside waiting([&] { second = other.acquire("it", options); });
    require(has_waiters(locks, "it", 1), "nobody stands in line");
    (void)first.release();
    waiting.get();
    held_lock third;
    aside polling([&] { third = locks.acquire_as("it", "ticket 3", options); });
    (void)second.release();
    polling.get();
    require(third.token() > second.token(), "who polled did not get it");
    const auto why = failure_of(
        [&] { (void)other.acquire_as("it", "ticket 4", {.ttl = long_ttl, .wait = 50ms}); });
    require_equal(why, errc::timed_out, "a bounded wait");
}

void a_cancelled_wait_under_a_chosen_value_leaves_nothing(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    for (int round = 0; round < 10; ++round) {
        auto busy = other.acquire("it", options);
        std::stop_source stop;
        std::optional<errc> why;
        const auto value = "ticket " + std::to_string(round);
        aside waiting([&] {
            why =
                failure_of([&] { (void)locks.acquire_as("it", value, options, stop.get_token()); });
        });
        // In some rounds it is free and cancelled at the same time.
        aside stopping([&] { stop.request_stop(); });
        if (round % 2 == 1) (void)busy.release();
        stopping.get();
        waiting.get();
        require(why == errc::cancelled || round % 2 == 1, "a cancelled wait went on");
        if (busy.owns_lock()) (void)busy.release();
        require(eventually([&] { return is_free(other, "it"); }), "something is left behind");
    }
}

void who_knows_the_value_can_adopt_the_hold(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    require(!other.adopt("it", "ticket 1", once).owns_lock(), "a free lock was adopted");
    require(is_free(other, "it"), "adopting made a lock");
    auto first = locks.acquire_as("it", "ticket 1", {.ttl = 3s, .wait = patience});
    require(!other.adopt("it", "ticket", once).owns_lock(), "half a value was enough");
    require(!other.adopt("it", "ticket 12", once).owns_lock(), "a longer value was enough");
    auto second = other.adopt("it", "ticket 1", once);
    require(second.owns_lock(), "the right value was not enough");
    require(second.token() > first.token(), "adopting has no later token");
    const time_point until = second.safe_until();
    require(until > boot_clock::now() + long_ttl / 2, "adopting did not extend it");
    require_equal(second.release(), release_result::released, "release by who adopted it");
    require(first.release() != release_result::released, "the one hold was given back twice");
    require(is_free(locks, "it"), "something is left behind");
}

// A process takes it and tells its value; another adopts it; the first one is killed.
void an_adopted_hold_outlives_its_taker(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where), other(here.where);
    agent taker(here);
    const auto first = token_in(taker.ask("try it 1000 ticket"));
    auto mine = locks.adopt("it", "ticket", {.ttl = 1s});
    require(mine.token() > first, "adopting has no later token");
    taker.process().kill9();
    const auto then = boot_clock::now() + 2s;
    require(eventually([&] { return mine.safe_until() > then; }), "it is not renewed");
    require(mine.owns_lock() && !other.try_acquire("it", once).owns_lock(),
            "it ended with its taker");
    require_equal(mine.release(), release_result::released, "release by who adopted it");
}

void senseless_values_are_refused(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    const auto refused = [&](const std::string& value, lock_options how = options) {
        return failure_of([&] { (void)locks.acquire_as("it", value, how); });
    };
    require_equal(refused(""), errc::bad_option, "an empty value");
    require_equal(refused(std::string(257, 'v')), errc::bad_option, "257 bytes");
    require_equal(refused("two\nlines"), errc::bad_option, "a control character");
    require_equal(refused("v", {.mode = lock_mode::shared}), errc::bad_option, "a shared lock");
    require_equal(refused("v", {.fair = true}), errc::bad_option, "a fair lock");
    require_equal(failure_of([&] { (void)locks.adopt("it", ""); }), errc::bad_option,
                  "adopting without a value");
    require(is_free(locks, "it"), "a refused value left a lock");
    const std::string longest(256, ';');
    require(locks.try_acquire_as("it", longest, once).owns_lock(), "256 bytes are refused");
}

// Rather than to hold it under another value than the caller believes.
void chosen_values_are_refused(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    const auto taking = failure_of([&] { (void)locks.try_acquire_as("it", "ticket", once); });
    require_equal(taking, errc::unsupported, "taking under a chosen value");
    const auto adopting = failure_of([&] { (void)locks.adopt("it", "ticket", once); });
    require_equal(adopting, errc::unsupported, "adopting by a value");
    require(is_free(locks, "it"), "a refused value left a lock");
}

constexpr promise list[] = {
    {"chosen_values_are_refused", without_chosen_values, chosen_values_are_refused},
    {"a_chosen_value_holds_as_any_other", with_chosen_values, a_chosen_value_holds_as_any_other},
    {"a_chosen_value_may_wait", with_chosen_values, a_chosen_value_may_wait},
    {"a_cancelled_wait_under_a_chosen_value_leaves_nothing", with_chosen_values,
     a_cancelled_wait_under_a_chosen_value_leaves_nothing},
    {"who_knows_the_value_can_adopt_the_hold", with_chosen_values,
     who_knows_the_value_can_adopt_the_hold},
    {"an_adopted_hold_outlives_its_taker", with_values_and_processes,
     an_adopted_hold_outlives_its_taker},
    {"senseless_values_are_refused", with_chosen_values, senseless_values_are_refused},
};

}  // namespace

std::span<const promise> value_promises() noexcept { return list; }

}  // namespace pawl::conformance
