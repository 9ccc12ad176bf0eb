#include "lists.hpp"

namespace pawl::conformance {

namespace {

void a_lease_is_renewed_while_held(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), other(here.where);
    auto lock = mine.acquire("it", {.ttl = 1s});
    const time_point first = lock.safe_until();
    const auto why = failure_of([&] { (void)other.acquire("it", {.ttl = 1s, .wait = 3500ms}); });
    require_equal(why, errc::timed_out, "somebody who waited for longer than the holder's ttl");
    require(lock.state() == lock_state::held || lock.state() == lock_state::at_risk,
            std::string("a holder of 3.5 s with a ttl of 1 s is ") + to_string(lock.state()));
    require(lock.safe_until() > first + 2s, "safe_until did not move on with the renewals");
    require_equal(lock.release(), release_result::released, "release after many renewals");
}

void safe_until_is_within_the_ttl(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    const time_point before = boot_clock::now();
    auto lock = locks.acquire("it", {.ttl = 5s});
    const time_point until = lock.safe_until();
    require(until <= boot_clock::now() + 5s, "safe_until is later than now + ttl");
    require(until > before, "a fresh lock's safe_until is in the past");
}

void max_hold_ends_it(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), other(here.where);
    const time_point begun = boot_clock::now();
    auto lock = mine.acquire("it", {.ttl = 1s, .max_hold = 2s});
    std::atomic<duration::rep> lost_after = 0;
    const std::stop_callback told(lock.lost(),
                                  [&] { lost_after = (boot_clock::now() - begun).count(); });
    const fencing_token first = lock.token();
    auto next = other.acquire("it", {.ttl = long_ttl, .wait = patience});
    const duration waited = boot_clock::now() - begun;
    require_equal(lock.state(), lock_state::lost, "a holder whose max_hold is over");
    require_equal(lock.why_lost(), loss_reason::max_hold, "the reason of its loss");
    require(lost_after.load() > 0, "`lost` did not fire before the next one had the lock");
    require(duration(lost_after) <= waited, "`lost` fired after the next one had the lock");
    require(waited > 1s, "a lock with max_hold = 2 s was given away within its first ttl");
    require(!first || next.token() > first, "the next token is not later");
}

void max_hold_below_the_ttl_ends_it(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where);
    auto lock = mine.acquire("it", {.ttl = 10s, .max_hold = 500ms});
    require(eventually([&] { return lock.lost().stop_requested(); }, 5s),
            "a lock with max_hold = 500 ms and ttl = 10 s was not lost");
    require_equal(lock.state(), lock_state::lost, "its state");
    const time_point until = lock.safe_until();
    require(until <= boot_clock::now(), "a lost lock's safe_until is in the future");
}

void release_says_the_same_twice(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = patience});
    require_equal(lock.release(), release_result::released, "the first release");
    require_equal(lock.state(), lock_state::released, "the state after it");
    require_equal(lock.release(), release_result::released, "the second release");
    require(!lock.lost().stop_requested(), "a released lock says that it was lost");
    require(static_cast<bool>(lock), "a released handle became empty");
}

void release_after_the_end_does_not_say_released(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    auto lock = locks.acquire("it", {.ttl = 600ms, .max_hold = 600ms});
    require(eventually([&] { return lock.state() == lock_state::lost; }),
            "max_hold did not end it");
    const release_result found = lock.release();
    require(found == release_result::expired || found == release_result::taken_over,
            std::string("release after the lease ended said ") + to_string(found));
    require_equal(lock.release(), found, "a second release");
    require_equal(lock.state(), lock_state::lost,
                  "loss must be for ever; the state after the release");
}

void a_lost_lock_tells_once(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), operators(here.where);
    auto lock = mine.acquire("it", {.ttl = 3s});
    std::atomic<int> told = 0;
    const std::stop_callback one(lock.lost(), [&] { ++told; });
    const std::stop_callback two(lock.lost(), [&] { ++told; });
    require(operators.force_release("it"), "force_release of a held lock said that nobody had it");
    require(eventually([&] { return told == 2; }), "`lost` did not fire");
    require_equal(lock.state(), lock_state::lost, "the state after `lost` fired");
    (void)lock.release();
    require_equal(told.load(), 2, "how often two callbacks ran");
}

// The ttl is a minute: if the victim hears in time, it was told and did not just see its lease end.
void forced_release_is_pushed_to_the_victim(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), operators(here.where);
    auto lock = mine.acquire("it", {.ttl = long_ttl, .wait = patience});
    require(operators.force_release("it"), "force_release of a held lock said that nobody had it");
    require(eventually([&] { return lock.lost().stop_requested(); }, 5s),
            "the victim of a forced release was not told before its next renewal");
    require_equal(lock.why_lost(), loss_reason::forced, "the reason of its loss");
}

void forced_release_passes_the_lock_on(fixture& of) {
    const world here = of.fresh();
    blocking::client mine(here.where), other(here.where), operators(here.where);
    auto lock = mine.acquire("it", {.ttl = 3s});
    blocking::held_lock next;
    aside waiting([&] { next = other.acquire("it", {.ttl = long_ttl, .wait = patience}); });
    require(has_waiters(operators, "it", 1), "a waiter is not to be seen");
    require(operators.force_release("it"), "force_release of a held lock said that nobody had it");
    waiting.get();
    require(!lock.token() || next.token() > lock.token(), "the next token is not later");
    require(eventually([&] { return lock.state() == lock_state::lost; }),
            "the victim was not told");
    const release_result found = lock.release();
    require(found != release_result::released, "the victim's release says `released`");
    require_equal(next.state(), lock_state::held, "the next holder, after the victim's release");
}

void force_release_of_a_free_lock_says_so(fixture& of) {
    const world here = of.fresh();
    blocking::client locks(here.where);
    require(!locks.force_release("it"), "force_release of a free lock said that somebody had it");
}

constexpr promise list[] = {
    {"a_lease_is_renewed_while_held", everybody, a_lease_is_renewed_while_held},
    {"safe_until_is_within_the_ttl", everybody, safe_until_is_within_the_ttl},
    {"max_hold_ends_it", everybody, max_hold_ends_it},
    {"max_hold_below_the_ttl_ends_it", everybody, max_hold_below_the_ttl_ends_it},
    {"release_says_the_same_twice", everybody, release_says_the_same_twice},
    {"release_after_the_end_does_not_say_released", everybody,
     release_after_the_end_does_not_say_released},
    {"a_lost_lock_tells_once", everybody, a_lost_lock_tells_once},
    {"forced_release_is_pushed_to_the_victim", with_pushed_loss,
     forced_release_is_pushed_to_the_victim},
    {"forced_release_passes_the_lock_on", everybody, forced_release_passes_the_lock_on},
    {"force_release_of_a_free_lock_says_so", everybody, force_release_of_a_free_lock_says_so},
};

}  // namespace

std::span<const promise> lease_promises() noexcept { return list; }

}  // namespace pawl::conformance
