// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Changes of a hold: renewed on request, downgraded, released by force; and unsupported features.
#include "test_groups.hpp"

namespace pawl::conformance {

namespace {

using blocking::held_lock;

constexpr lock_options writing{.ttl = long_ttl, .wait = wait_bound};
constexpr lock_options reading{.ttl = long_ttl, .wait = wait_bound, .mode = lock_mode::shared};
constexpr try_options try_reading{.ttl = long_ttl, .mode = lock_mode::shared};
constexpr try_options try_writing{.ttl = long_ttl};

bool with_downgrades(const capabilities& supported) {
    return supported.downgrades && supported.shared;
}
bool with_queued_downgrades(const capabilities& supported) {
    return with_downgrades(supported) && supported.modes_share_queue;
}
bool with_sharing(const capabilities& supported) { return supported.shared; }
bool with_queued_permits(const capabilities& supported) {
    return supported.permits && supported.modes_share_queue;
}
bool without_downgrades(const capabilities& supported) { return !supported.downgrades; }
bool without_sharing(const capabilities& supported) { return !supported.shared; }
bool without_permits(const capabilities& supported) { return !supported.permits; }
bool without_strict_fairness(const capabilities& supported) { return !supported.strictly_fair; }

void renew_moves_the_end(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    auto lock = locks.acquire("it", writing);
    for (int i = 0; i < 3; ++i) {
        const time_point before = lock.safe_until();
        const time_point renewed_at = boot_clock::now();
        lock.renew();
        require(lock.safe_until() > before, "renew did not move safe_until");
        require(lock.safe_until() >= renewed_at + long_ttl - drift(long_ttl),
                "safe_until is not a ttl from the renewal");
    }
    require_equal(lock.state(), lock_state::held, "the state after a renewal");
    require_equal(lock.release(), release_result::released, "release");
}

// Also if the client has not learned of the loss yet.
void renew_after_a_loss_throws(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), observer(env.target, long_tries);
    auto lock = locks.acquire("it", writing);
    require(observer.force_release("it"), "force_release of a held lock reported no holder");
    require_equal(failure_of([&] { lock.renew(); }), errc::lost, "renew after a forced release");
    require_equal(lock.state(), lock_state::lost, "the state after that");
    require_equal(failure_of([&] { lock.renew(); }), errc::lost, "renew of a lost lock");
    require(is_free(observer, "it"), "renew made a new hold");
}

// The queue is R1, W, R2: R1 joins the holder, W waits, and R2 waits behind W.
void a_downgrade_lets_readers_in(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), other(env.target, long_tries);
    auto lock = client.acquire("it", writing);
    const fencing_token token = lock.token();
    held_lock first, writer, last;
    background_task reads([&] { first = other.acquire("it", reading); });
    require(has_waiters(service_fixture, client, "it", 1), "the reader is not seen in the queue");
    background_task writes([&] { writer = other.acquire("it", writing); });
    require(has_waiters(service_fixture, client, "it", 2), "the writer is not seen in the queue");
    background_task reads_late([&] { last = other.acquire("it", reading); });
    require(has_waiters(service_fixture, client, "it", 3),
            "the late reader is not seen in the queue");
    lock.downgrade();
    reads.get_soon("the reader's turn");
    require_equal(lock.token(), token, "the token after a downgrade");
    require_equal(first.token(), token, "the token of a reader beside it");
    require_equal(lock.state(), lock_state::held, "the state after a downgrade");
    const lock_info info = other.inspect("it");
    require(info.held_by && info.others.size() == 1 && info.waiters == 2,
            "inspect does not show two readers and two waiters");
    require(info.held_by->mode == lock_mode::shared && info.others[0].mode == lock_mode::shared,
            "a hold that was downgraded is not shown as shared");
    lock.downgrade();
    require_equal(lock.release(), release_result::released, "release after a downgrade");
    require_equal(first.release(), release_result::released, "release of the reader beside it");
    writes.get_soon("the writer's turn");
    require(writer.token() > token || !token, "the next writer's token is not later");
    require_equal(writer.release(), release_result::released, "the writer's release");
    reads_late.get_soon("the late reader's turn");
}

void a_downgraded_hold_is_renewed_and_lost_as_any(fixture& service_fixture) {
    const duration ttl = supported_ttl(service_fixture, 2s);
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), other(env.target, long_tries);
    auto lock = client.acquire("it", {.ttl = ttl, .wait = soon});
    const time_point before = lock.safe_until();
    lock.downgrade();
    require(lock.safe_until() > before, "a downgrade did not renew");
    const auto why = failure_of([&] { (void)other.acquire("it", {.ttl = ttl, .wait = ttl + 1s}); });
    require_equal(why, errc::timed_out, "waiting for a downgraded hold for longer than its ttl");
    auto beside = other.try_acquire("it", try_reading);
    require(static_cast<bool>(beside), "no reader is granted beside a downgraded hold");
    lock.renew();
    require(other.force_release("it"), "force_release of a shared lock reported no holder");
    require(eventually([&] { return lock.lost().stop_requested(); }),
            "a downgraded hold was not notified of its loss");
    require_equal(failure_of([&] { lock.renew(); }), errc::lost, "renew of a lost reader");
}

void a_downgrade_after_a_loss_throws(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), other(env.target, long_tries);
    auto lock = client.acquire("it", writing);
    require(other.force_release("it"), "force_release of a held lock reported no holder");
    auto next = other.acquire("it", writing);
    require_equal(failure_of([&] { lock.downgrade(); }), errc::lost, "downgrade after a loss");
    require_equal(next.state(), lock_state::held, "the next holder");
    require(!client.try_acquire("it", try_reading).owns_lock(),
            "a reader was granted beside the next holder");
}

// Also if the lock was shared before, where the client need not ask the service.
void a_downgrade_of_a_reader_that_is_over_throws(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    auto lock = locks.acquire("it", reading);
    lock.downgrade();
    require_equal(lock.state(), lock_state::held, "a reader after a downgrade");
    require_equal(lock.release(), release_result::released, "release after a downgrade");
    require_equal(failure_of([&] { lock.downgrade(); }), errc::lost, "downgrade after the release");
}

// All holders lose it at once, and the queue is served. A loss that is not pushed comes with the
// next renewal.
void require_force_takes_it_from_all(fixture& service_fixture, lock_options options) {
    if (!service_fixture.capabilities().loss_is_pushed)
        options.ttl = supported_ttl(service_fixture, 3s);
    const test_service env = service_fixture.make_test_service();
    blocking::client first_client(env.target, long_tries), second_client(env.target, long_tries),
        observer(env.target, long_tries);
    std::vector<held_lock> holds;
    for (int i = 0; i < 3; ++i)
        holds.push_back((i % 2 == 0 ? first_client : second_client).acquire("it", options));
    held_lock next;
    background_task waits([&] { next = observer.acquire("it", writing); });
    require(has_waiters(service_fixture, first_client, "it", 1), "the waiter is not seen");
    require(observer.force_release("it"), "force_release of a held lock reported no holder");
    waits.get_soon("the waiter's turn");
    for (auto& each : holds) {
        require(eventually([&] { return each.lost().stop_requested(); }),
                "a holder was not notified of the forced release");
        require(each.release() != release_result::released,
                "a holder released its lock after the forced release");
    }
    require_equal(next.state(), lock_state::held, "the next holder");
    require_equal(observer.inspect("it").others.size(), std::size_t{0}, "the others beside it");
}

void force_takes_it_from_all_readers(fixture& service_fixture) {
    require_force_takes_it_from_all(service_fixture, reading);
}

void force_takes_it_from_all_permit_holders(fixture& service_fixture) {
    require_force_takes_it_from_all(service_fixture, {.ttl = long_ttl,
                                                      .wait = wait_bound,
                                                      .mode = lock_mode::permits,
                                                      .permits = 2,
                                                      .total_permits = 6});
}

void require_unsupported(fixture& service_fixture, const lock_options& options,
                         const std::string& checked) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    require_equal(failure_of([&] { (void)locks.acquire("it", options); }), errc::unsupported,
                  checked);
    require(is_free(locks, "it"), "a refused request left a lock");
}

void sharing_is_unsupported(fixture& service_fixture) {
    require_unsupported(service_fixture, reading, "a shared lock");
}

void permits_are_unsupported(fixture& service_fixture) {
    require_unsupported(service_fixture, {.mode = lock_mode::permits, .total_permits = 3},
                        "permits");
    blocking::client locks(service_fixture.make_test_service().target);
    require_equal(failure_of([&] { locks.resize("it", 3); }), errc::unsupported, "resize");
}

void strict_fairness_is_unsupported(fixture& service_fixture) {
    require_unsupported(service_fixture, {.fair = true}, "a strictly fair lock");
}

void downgrades_are_unsupported(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    auto lock = locks.acquire("it", writing);
    require_equal(failure_of([&] { lock.downgrade(); }), errc::unsupported, "a downgrade");
    require_equal(lock.state(), lock_state::held, "the state after that");
    require(!other.try_acquire("it", try_writing).owns_lock(), "the lock is free after that");
}

constexpr test_case list[] = {
    {"renew_moves_the_end", every_backend, renew_moves_the_end},
    {"renew_after_a_loss_throws", every_backend, renew_after_a_loss_throws},
    {"a_downgrade_lets_readers_in", with_queued_downgrades, a_downgrade_lets_readers_in},
    {"a_downgraded_hold_is_renewed_and_lost_as_any", with_downgrades,
     a_downgraded_hold_is_renewed_and_lost_as_any},
    {"a_downgrade_after_a_loss_throws", with_downgrades, a_downgrade_after_a_loss_throws},
    {"a_downgrade_of_a_reader_that_is_over_throws", with_downgrades,
     a_downgrade_of_a_reader_that_is_over_throws},
    {"force_takes_it_from_all_readers", with_sharing, force_takes_it_from_all_readers},
    {"force_takes_it_from_all_permit_holders", with_queued_permits,
     force_takes_it_from_all_permit_holders},
    {"sharing_is_unsupported", without_sharing, sharing_is_unsupported},
    {"permits_are_unsupported", without_permits, permits_are_unsupported},
    {"strict_fairness_is_unsupported", without_strict_fairness, strict_fairness_is_unsupported},
    {"downgrades_are_unsupported", without_downgrades, downgrades_are_unsupported},
};

}  // namespace

std::span<const test_case> hold_change_tests() noexcept { return list; }

}  // namespace pawl::conformance
