// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "test_groups.hpp"

namespace pawl::conformance {

namespace {

void a_dropped_handle_frees_it(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), other(env.target, long_tries);
    for (int i = 0; i < 20; ++i) {
        {
            auto lock = client.acquire("it", {.ttl = long_ttl, .wait = wait_bound});
        }
        auto next = other.acquire("it", {.ttl = long_ttl, .wait = soon});
        require(static_cast<bool>(next), "a dropped handle kept its lock");
    }
}

void assigning_over_a_handle_frees_it(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), other(env.target, long_tries);
    auto lock = client.acquire("it", {.ttl = long_ttl, .wait = wait_bound});
    lock = client.acquire("next", {.ttl = long_ttl, .wait = wait_bound});
    require_equal(std::string(lock.name()), std::string("next"), "the name of the handle");
    auto freed = other.acquire("it", {.ttl = long_ttl, .wait = soon});
    require(!other.try_acquire("next", {.ttl = long_ttl}).owns_lock(), "the new lock is not held");
    lock = {};
    require(!lock, "a default-made handle is not empty");
}

void moving_a_handle_keeps_it(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), other(env.target, long_tries);
    auto first = client.acquire("it", {.ttl = long_ttl, .wait = wait_bound});
    const fencing_token token = first.token();
    auto second = std::move(first);
    // NOLINTNEXTLINE(bugprone-use-after-move): this is what is asked
    require(!first, "a handle that was moved from is not empty");
    require_equal(second.token(), token, "the token of a moved handle");
    require(!other.try_acquire("it", {.ttl = long_ttl}).owns_lock(),
            "moving a handle freed its lock");
    require_equal(second.release(), release_result::released, "release of a moved handle");
}

void a_client_that_ends_frees_its_locks(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client other(env.target, long_tries);
    {
        blocking::client client(env.target, long_tries);
        auto first_lock = client.acquire("one", {.ttl = long_ttl});
        auto two = client.acquire("two", {.ttl = long_ttl});
    }
    require(other.acquire("one", {.ttl = long_ttl, .wait = soon}).owns_lock(), "`one` is held");
    require(other.acquire("two", {.ttl = long_ttl, .wait = soon}).owns_lock(), "`two` is held");
}

// The drain time is for outstanding operations, and there are none.
void an_idle_client_ends_at_once(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    const time_point began = boot_clock::now();
    { const blocking::client never_used(env.target, {.drain = 60s}); }
    {
        blocking::client used(env.target, {.drain = 60s});
        (void)used.acquire("it", {.ttl = long_ttl}).release();
    }
    require(boot_clock::now() - began < soon, "an idle client used up its drain time");
}

void a_handle_that_outlives_its_client_is_lost(fixture& service_fixture) {
    const duration ttl = supported_ttl(service_fixture, 2s);
    const test_service env = service_fixture.make_test_service();
    blocking::client other(env.target, long_tries);
    std::optional<blocking::client> client(std::in_place, env.target);
    auto lock = client->acquire("it", {.ttl = ttl});
    client.reset();
    require(lock.state() == lock_state::lost || lock.state() == lock_state::released,
            std::string("a handle without its client is ") + to_string(lock.state()));
    require(lock.release() != release_result::unknown || lock.state() != lock_state::held,
            "release of a handle without its client");
    require(other.acquire("it", {.ttl = long_ttl, .wait = ttl + takeover_time}).owns_lock(),
            "the lock of a destroyed client is still held");
}

void a_waiting_caller_does_not_stop_the_others(fixture& service_fixture) {
    const duration ttl = supported_ttl(service_fixture, 1s);
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), other(env.target, long_tries);
    auto lock = other.acquire("it", {.ttl = long_ttl});
    std::stop_source stop;
    background_task waiting([&] {
        (void)failure_of([&] {
            (void)client.acquire("it", {.ttl = long_ttl, .wait = wait_bound}, stop.get_token());
        });
    });
    require(has_waiters(service_fixture, other, "it", 1), "a waiter is not seen");
    for (int i = 0; i < 20; ++i) {
        auto quick = client.acquire("quick", {.ttl = ttl, .wait = soon});
        require_equal(quick.release(), release_result::released, "release beside a waiting caller");
    }
    stop.request_stop();
    waiting.get();
}

// Renewal must go on although no caller is inside the client.
void renewal_needs_no_caller(fixture& service_fixture) {
    const auto is_renewed = [&](duration ttl) {
        const test_service env = service_fixture.make_test_service();
        blocking::client client(env.target, long_tries);
        auto lock = client.acquire("it", {.ttl = ttl});
        if (eventually([&] { return lock.state() == lock_state::lost; }, 3 * ttl)) return false;
        return lock.release() == release_result::released;
    };
    with_a_lasting_lease(service_fixture, 1s, is_renewed,
                         "each lock is lost within three ttls without a call");
}

// fork(2) in the holder: the child has the handle, but not the lock; its release and its end change
// nothing.
void a_fork_owns_nothing(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client other(env.target, long_tries);
    agent holder(env);
    (void)holder.acquire("it", 3s);
    const std::string child_line = holder.request("fork it");
    require(child_line.starts_with("child lost forked"),
            "the holder's fork reported: " + child_line);
    require(!child_line.ends_with(" released"),
            "the fork of a holder released its lock: " + child_line);
    const auto why = failure_of([&] {
        (void)other.acquire("it", {.ttl = supported_ttl(service_fixture, 1s), .wait = 4s});
    });
    require_equal(why, errc::timed_out, "waiting for the lock of a holder whose fork has ended");
    const std::string state = holder.request("state it");
    require(state == "state held", "the holder, after its fork ended: " + state);
    require_equal(holder.request("release it"), std::string("release released"),
                  "the holder's own release");
}

// The holder's client is asynchronous, and the child runs its copy of the event loop. It closes its
// copy of the client, or uses it. Neither changes anything for the parent, which works on.
void require_nothing_of_a_looping_fork(fixture& service_fixture, const std::string& child_action,
                                       const std::string& childs_line) {
    const duration ttl = supported_ttl(service_fixture, 3s);
    const test_service env = service_fixture.make_test_service();
    blocking::client other(env.target, long_tries);
    agent holder(env);
    const auto held = holder.request("loop_fork " + child_action + " it " + milliseconds_text(ttl));
    require(held.starts_with("held "), "the async holder reported: " + held);
    require_equal(holder.read_reply(), childs_line,
                  "the child with action " + child_action + " its copy");
    require_equal(holder.request("loop_work"), std::string("worked 50"), "the parent's own work");
    const auto why = failure_of([&] { (void)other.acquire("it", {.ttl = ttl, .wait = ttl + 1s}); });
    require_equal(why, errc::timed_out, "waiting for the lock of a holder whose fork runs a loop");
    require_equal(holder.request("loop_state"), std::string("state held"), "the holder");
    require_equal(holder.request("loop_release"), std::string("release released"),
                  "the holder's own release");
}

void a_fork_that_closes_its_copy_of_a_client_releases_nothing(fixture& service_fixture) {
    require_nothing_of_a_looping_fork(service_fixture, "close", "child lost forked");
}

void a_fork_that_uses_its_copy_of_a_client_is_refused(fixture& service_fixture) {
    require_nothing_of_a_looping_fork(service_fixture, "use", "child lost forked unknown 50");
}

// A child that keeps running the loop renews nothing.
void a_lock_ends_with_its_holder_although_a_fork_lives(fixture& service_fixture) {
    const duration ttl = supported_ttl(service_fixture, 2s);
    const test_service env = service_fixture.make_test_service();
    blocking::client other(env.target, long_tries);
    agent holder(env);
    (void)holder.request("loop_fork keep it " + milliseconds_text(ttl));
    require_equal(holder.read_reply(), std::string("child lost forked"), "the child");
    holder.process().kill_and_reap();
    auto freed = other.acquire("it", {.ttl = long_ttl, .wait = ttl + takeover_time});
    require(freed.owns_lock(), "the lock of a killed holder is held while its fork lives");
}

constexpr test_case list[] = {
    {"a_dropped_handle_frees_it", every_backend, a_dropped_handle_frees_it},
    {"assigning_over_a_handle_frees_it", every_backend, assigning_over_a_handle_frees_it},
    {"moving_a_handle_keeps_it", every_backend, moving_a_handle_keeps_it},
    {"a_client_that_ends_frees_its_locks", every_backend, a_client_that_ends_frees_its_locks},
    {"an_idle_client_ends_at_once", every_backend, an_idle_client_ends_at_once},
    {"a_handle_that_outlives_its_client_is_lost", every_backend,
     a_handle_that_outlives_its_client_is_lost},
    {"a_waiting_caller_does_not_stop_the_others", every_backend,
     a_waiting_caller_does_not_stop_the_others},
    {"renewal_needs_no_caller", every_backend, renewal_needs_no_caller},
    {"a_fork_owns_nothing", with_processes, a_fork_owns_nothing},
    {"a_fork_that_closes_its_copy_of_a_client_releases_nothing", with_processes,
     a_fork_that_closes_its_copy_of_a_client_releases_nothing},
    {"a_fork_that_uses_its_copy_of_a_client_is_refused", with_processes,
     a_fork_that_uses_its_copy_of_a_client_is_refused},
    {"a_lock_ends_with_its_holder_although_a_fork_lives", with_processes,
     a_lock_ends_with_its_holder_although_a_fork_lives},
};

}  // namespace

std::span<const test_case> lifetime_tests() noexcept { return list; }

}  // namespace pawl::conformance
