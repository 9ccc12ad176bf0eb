// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "test_groups.hpp"

namespace pawl::conformance {

namespace {

bool is_renewed_while_held(fixture& service_fixture, duration ttl) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), other(env.target, long_tries);
    auto lock = client.acquire("it", {.ttl = ttl});
    const time_point first = lock.safe_until();
    const auto why =
        failure_of([&] { (void)other.acquire("it", {.ttl = ttl, .wait = 3 * ttl + ttl / 2}); });
    const time_point last = lock.safe_until();
    const auto released = lock.release();
    if (lock.state() == lock_state::lost) return false;
    require_equal(why, errc::timed_out, "a wait for longer than the holder's ttl");
    require(last > first + 2 * ttl, "safe_until did not move on with the renewals");
    require_equal(released, release_result::released, "release after many renewals");
    return true;
}

void a_lease_is_renewed_while_held(fixture& service_fixture) {
    const auto test = [&](duration ttl) { return is_renewed_while_held(service_fixture, ttl); };
    with_a_lasting_lease(service_fixture, 1s, test, "each holder of three and a half ttls is lost");
}

void safe_until_is_within_the_ttl(fixture& service_fixture) {
    const duration ttl = supported_ttl(service_fixture, 5s);
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    const time_point before = boot_clock::now();
    auto lock = locks.acquire("it", {.ttl = ttl});
    const time_point until = lock.safe_until();
    require(until <= boot_clock::now() + ttl, "safe_until is later than now + ttl");
    require(until > before, "a new lock's safe_until is in the past");
}

void max_hold_ends_it(fixture& service_fixture) {
    const duration ttl = supported_ttl(service_fixture, 1s);
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), other(env.target, long_tries);
    const time_point begun = boot_clock::now();
    auto lock = client.acquire("it", {.ttl = ttl, .max_hold = 2 * ttl});
    std::atomic<bool> was_told = false;
    const std::stop_callback on_loss(lock.lost(), [&] { was_told = true; });
    const fencing_token first = lock.token();
    auto next = other.acquire("it", {.ttl = long_ttl, .wait = wait_bound});
    const duration waited = boot_clock::now() - begun;
    require_equal(lock.state(), lock_state::lost, "a holder whose max_hold is over");
    require_equal(lock.why_lost(), loss_reason::max_hold, "the reason of its loss");
    // The loss is known by then. The thread that tells it may get a processor later.
    require(eventually([&] { return was_told.load(); }), "`lost` did not fire");
    require(waited > ttl,
            "a lock with a max_hold of two ttls was granted to another within the first");
    require(!first || next.token() > first, "the next token is not later");
}

void max_hold_below_the_ttl_ends_it(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries);
    auto lock = client.acquire("it", {.ttl = 10s, .max_hold = 500ms});
    require(eventually([&] { return lock.lost().stop_requested(); }, 5s),
            "a lock with max_hold = 500 ms and ttl = 10 s was not lost");
    require_equal(lock.state(), lock_state::lost, "its state");
    const time_point until = lock.safe_until();
    require(until <= boot_clock::now(), "a lost lock's safe_until is in the future");
}

void release_says_the_same_twice(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    auto lock = locks.acquire("it", {.ttl = long_ttl, .wait = wait_bound});
    require_equal(lock.release(), release_result::released, "the first release");
    require_equal(lock.state(), lock_state::released, "the state after it");
    require_equal(lock.release(), release_result::released, "the second release");
    require(!lock.lost().stop_requested(), "a released lock reports a loss");
    require(static_cast<bool>(lock), "a released handle became empty");
}

void release_after_the_end_does_not_say_released(fixture& service_fixture) {
    const duration ttl = supported_ttl(service_fixture, 600ms);
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    auto lock = locks.acquire("it", {.ttl = ttl, .max_hold = 600ms});
    require(eventually([&] { return lock.state() == lock_state::lost; }),
            "max_hold did not end it");
    const release_result result = lock.release();
    require(result == release_result::expired || result == release_result::taken_over,
            std::string("release after the end of the lease returned ") + to_string(result));
    require_equal(lock.release(), result, "a second release");
    require_equal(lock.state(), lock_state::lost, "the state after the release of a lost lock");
}

void a_lost_lock_tells_once(fixture& service_fixture) {
    const duration ttl = supported_ttl(service_fixture, 3s);
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), operator_client(env.target, long_tries);
    auto lock = client.acquire("it", {.ttl = ttl});
    std::atomic<int> loss_count = 0;
    const std::stop_callback on_loss(lock.lost(), [&] { ++loss_count; });
    const std::stop_callback also_on_loss(lock.lost(), [&] { ++loss_count; });
    require(operator_client.force_release("it"), "force_release of a held lock reported no holder");
    require(eventually([&] { return loss_count == 2; }), "`lost` did not fire");
    require_equal(lock.state(), lock_state::lost, "the state after `lost` fired");
    (void)lock.release();
    require_equal(loss_count.load(), 2, "how often two callbacks ran");
}

// The ttl is a minute: a client that learns of the loss in time was notified, and did not just see
// its lease end.
void forced_release_is_pushed_to_the_victim(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), operator_client(env.target, long_tries);
    auto lock = client.acquire("it", {.ttl = long_ttl, .wait = wait_bound});
    require(operator_client.force_release("it"), "force_release of a held lock reported no holder");
    require(eventually([&] { return lock.lost().stop_requested(); }, 5s),
            "the victim of a forced release was not notified before its next renewal");
    require_equal(lock.why_lost(), loss_reason::forced, "the reason of its loss");
}

void forced_release_passes_the_lock_on(fixture& service_fixture) {
    const duration ttl = supported_ttl(service_fixture, 3s);
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), other(env.target, long_tries),
        operator_client(env.target, long_tries);
    auto lock = client.acquire("it", {.ttl = ttl});
    blocking::held_lock next;
    background_task waiting(
        [&] { next = other.acquire("it", {.ttl = long_ttl, .wait = wait_bound}); });
    require(has_waiters(service_fixture, operator_client, "it", 1), "a waiter is not seen");
    require(operator_client.force_release("it"), "force_release of a held lock reported no holder");
    waiting.get();
    require(!lock.token() || next.token() > lock.token(), "the next token is not later");
    require(eventually([&] { return lock.state() == lock_state::lost; }),
            "the victim was not notified");
    const release_result result = lock.release();
    require(result != release_result::released, "the victim's release returned `released`");
    require_equal(next.state(), lock_state::held, "the next holder, after the victim's release");
}

void force_release_of_a_free_lock_says_so(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    require(!locks.force_release("it"), "force_release of a free lock reported a holder");
}

// An operator has seen A's token | A releases | B acquires | the operator's forced release arrives:
// B keeps the lock.
void forced_release_compares_the_token(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), other(env.target, long_tries),
        operator_client(env.target, long_tries);
    auto lock = client.acquire("it", {.ttl = long_ttl, .wait = wait_bound});
    const lock_info shown = operator_client.inspect("it");
    require(shown.held_by.has_value(), "a held lock is shown as free");
    const fencing_token seen = shown.held_by->token;
    if (!seen) return;  // the service has no tokens
    require(!operator_client.force_release("it", fencing_token(seen.value() + 1)),
            "a forced release of another token reported that it released");
    require_equal(lock.state(), lock_state::held, "the holder, after a release of another token");
    require_equal(lock.release(), release_result::released, "release");
    require(!operator_client.force_release("it", seen),
            "a forced release of a free lock with a token reported a holder");
    auto next = other.acquire("it", {.ttl = long_ttl, .wait = wait_bound});
    require(!operator_client.force_release("it", seen),
            "a forced release of an ended hold reported that it released");
    next.renew();
    require_equal(next.state(), lock_state::held, "the next holder, after a release of the former");
    require(operator_client.force_release("it", operator_client.inspect("it").held_by->token),
            "a forced release of the present token reported no holder");
    require(!operator_client.inspect("it").held_by, "the lock is still held");
}

constexpr test_case list[] = {
    {"a_lease_is_renewed_while_held", every_backend, a_lease_is_renewed_while_held},
    {"safe_until_is_within_the_ttl", every_backend, safe_until_is_within_the_ttl},
    {"max_hold_ends_it", every_backend, max_hold_ends_it},
    {"max_hold_below_the_ttl_ends_it", every_backend, max_hold_below_the_ttl_ends_it},
    {"release_says_the_same_twice", every_backend, release_says_the_same_twice},
    {"release_after_the_end_does_not_say_released", every_backend,
     release_after_the_end_does_not_say_released},
    {"a_lost_lock_tells_once", every_backend, a_lost_lock_tells_once},
    {"forced_release_is_pushed_to_the_victim", with_pushed_loss,
     forced_release_is_pushed_to_the_victim},
    {"forced_release_passes_the_lock_on", every_backend, forced_release_passes_the_lock_on},
    {"forced_release_compares_the_token", every_backend, forced_release_compares_the_token},
    {"force_release_of_a_free_lock_says_so", every_backend, force_release_of_a_free_lock_says_so},
};

}  // namespace

std::span<const test_case> lease_tests() noexcept { return list; }

}  // namespace pawl::conformance
