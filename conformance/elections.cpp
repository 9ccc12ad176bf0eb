// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "test_groups.hpp"

#include <pawl/blocking/election.hpp>

namespace pawl::conformance {

namespace {

using blocking::election;

constexpr lease_options options{.ttl = long_ttl};

void a_leader_leads_until_it_resigns(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    election own_election(locks, "it", options), other_election(other, "it", options);
    auto leadership = own_election.campaign(wait_bound);
    require_equal(other_election.leader().held_by->token, leadership.token(),
                  "the leader that others see");
    blocking::held_lock next;
    background_task campaigning([&] { next = other_election.campaign(wait_bound); });
    require(has_waiters(service_fixture, locks, "it", 1), "a candidate is not in the queue");
    require_equal(leadership.release(), release_result::released, "a resignation");
    campaigning.get();
    require(next.owns_lock(), "the next candidate does not lead");
    require(!leadership.token() || next.token() > leadership.token(),
            "the next leader has no later token");
}

void an_election_outlives_the_move_of_its_client(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    std::optional<blocking::client> first(std::in_place, env.target, long_tries);
    election own_election(*first, "it", options);
    const blocking::client second(std::move(*first));
    first.reset();
    auto leadership = own_election.campaign(wait_bound);
    require_equal(own_election.leader().held_by->token, leadership.token(),
                  "the leader that observers see");
}

// 1. A candidate leads. 2. It is deposed by force. 3. Observers see the next leader, and the old
// leader learns of its loss.
void a_deposed_leader_has_a_successor(fixture& service_fixture) {
    const duration ttl = supported_ttl(service_fixture, 3s);
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries),
        observer(env.target, long_tries);
    election own_election(locks, "it", {.ttl = ttl}), other_election(other, "it", options);
    election observed_election(observer, "it");
    auto leadership = own_election.campaign(wait_bound);
    blocking::held_lock next;
    background_task campaigning([&] { next = other_election.campaign(wait_bound); });
    require(has_waiters(service_fixture, observer, "it", 1), "a candidate is not in the queue");
    lock_info leader_change;
    background_task observing([&] {
        leader_change = observed_election.wait_change(leadership.token(), 5ms);
        // If a release frees the lock before the next acquisition, there is no leader in between.
        if (!leader_change.held_by) leader_change = observed_election.wait_change({}, 5ms);
    });
    require(observer.force_release("it"), "there was no leader");
    observing.get();
    campaigning.get();
    // Where waiters poll, a token may be counted after the lock was taken, and is seen late.
    require(!service_fixture.shows_waiters() ||
                (leader_change.held_by && leader_change.held_by->token == next.token()),
            "an observer did not see the next leader");
    require(eventually([&] { return leadership.lost().stop_requested(); }),
            "the old leader was not notified");
}

void observers_see_that_nobody_leads(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), observer(env.target, long_tries);
    election own_election(locks, "it", options), observed_election(observer, "it");
    auto leadership = own_election.campaign(wait_bound);
    require_equal(observed_election.wait_change({}, 5ms).held_by->token, leadership.token(),
                  "the first leader");
    lock_info leader_change;
    background_task observing(
        [&] { leader_change = observed_election.wait_change(leadership.token(), 5ms); });
    (void)leadership.release();
    observing.get();
    require(!leader_change.held_by, "a leader is seen after the only one resigned");
    std::stop_source stop;
    std::optional<errc> why;
    background_task waiting([&] {
        why = failure_of([&] { (void)observed_election.wait_change({}, 1h, stop.get_token()); });
    });
    stop.request_stop();
    waiting.get();
    require_equal(why, errc::cancelled, "a cancelled observer");
    require_equal(failure_of([&] { (void)observed_election.wait_change({}, 0ms); }),
                  errc::bad_option, "observing without a pause");
}

constexpr test_case list[] = {
    {"a_leader_leads_until_it_resigns", every_backend, a_leader_leads_until_it_resigns},
    {"an_election_outlives_the_move_of_its_client", every_backend,
     an_election_outlives_the_move_of_its_client},
    // Observers tell the terms apart by their tokens.
    {"a_deposed_leader_has_a_successor", with_fencing, a_deposed_leader_has_a_successor},
    {"observers_see_that_nobody_leads", with_fencing, observers_see_that_nobody_leads},
};

}  // namespace

std::span<const test_case> election_tests() noexcept { return list; }

}  // namespace pawl::conformance
