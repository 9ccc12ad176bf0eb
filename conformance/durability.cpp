// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Durable acquires. No service of a test has 1000 replicas, so that level is never reached.
#include "test_groups.hpp"

#include <optional>

namespace pawl::conformance {
namespace {

bool with_replicas(const capabilities& supported) { return supported.replica_durability; }
bool without_replicas(const capabilities& supported) { return !supported.replica_durability; }
bool without_disk(const capabilities& supported) { return !supported.disk_durability; }

lock_options options_with(fixture& service_fixture, durability wanted) {
    return {.ttl = supported_ttl(service_fixture, 1s), .wait = 300ms, .durable = wanted};
}

void the_primary_suffices_by_default(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    auto options = options_with(service_fixture, durability::primary);
    options.wait = wait_bound;
    require(locks.acquire("it", options).owns_lock(), "a lock without a durability was refused");
}

void levels_that_the_service_lacks_are_refused(fixture& service_fixture, durability wanted) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    require_equal(
        failure_of([&] { (void)locks.acquire("it", options_with(service_fixture, wanted)); }),
        errc::unsupported, "an acquire");
    require_equal(failure_of([&] { (void)locks.try_acquire("it", {.durable = wanted}); }),
                  errc::unsupported, "a try");
    require_equal(failure_of([&] {
                      (void)locks.acquire_all({"a", "b"}, options_with(service_fixture, wanted));
                  }),
                  errc::unsupported, "an acquire of several locks");
    require(is_free(locks, "it") && is_free(locks, "a"), "a refused acquire left a lock");
}

void replicas_are_refused_without_replicas(fixture& service_fixture) {
    levels_that_the_service_lacks_are_refused(service_fixture, durability::replicas(1));
}

void disk_is_refused_without_disk(fixture& service_fixture) {
    levels_that_the_service_lacks_are_refused(service_fixture, durability::disk);
}

void the_number_of_replicas_has_a_range(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    for (const auto count : {0U, 1001U})
        require_equal(failure_of([&] {
                          (void)locks.acquire(
                              "it", options_with(service_fixture, durability::replicas(count)));
                      }),
                      errc::bad_option, std::to_string(count) + " replicas");
}

void a_grant_without_its_replicas_is_undone(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client first(env.target, long_tries), second(env.target, long_tries);
    const auto options = options_with(service_fixture, durability::replicas(1000));
    require_equal(failure_of([&] { (void)first.acquire("it", options); }), errc::not_durable,
                  "an acquire");
    require_equal(failure_of([&] {
                      (void)first.acquire_all({"a", "b"}, options);
                  }),
                  errc::not_durable, "an acquire of several locks");
    const lock_options plain{.ttl = long_ttl, .wait = wait_bound};
    const auto next = second.acquire_all({"it", "a", "b"}, plain);
    require(next.owns_lock(), "the released locks were not granted again");
}

//   A: holds it | B: waits for it, with a durability that the service never reaches; C: waits | A:
//   releases | B: fails | C: gets it
void a_waiter_without_its_replicas_passes_the_lock_on(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client first(env.target, long_tries), second(env.target, long_tries),
        third(env.target, long_tries);
    auto held = first.acquire("it", {.ttl = long_ttl, .wait = wait_bound});
    std::optional<errc> reason;
    background_task durable([&] {
        auto options = options_with(service_fixture, durability::replicas(1000));
        options.wait = wait_bound;
        reason = failure_of([&] { (void)second.acquire("it", options); });
    });
    background_task plain(
        [&] { (void)third.acquire("it", {.ttl = long_ttl, .wait = wait_bound}).release(); });
    require(held.release() == release_result::released, "the release failed");
    durable.get();
    plain.get();
    require_equal(reason, std::optional(errc::not_durable), "the durable waiter");
}

constexpr test_case list[] = {
    {"a_lock_needs_no_replica_by_default", every_backend, the_primary_suffices_by_default},
    {"replicas_are_refused_without_replicas", without_replicas,
     replicas_are_refused_without_replicas},
    {"disk_is_refused_without_disk", without_disk, disk_is_refused_without_disk},
    {"the_number_of_replicas_has_a_range", every_backend, the_number_of_replicas_has_a_range},
    {"a_grant_without_its_replicas_is_undone", with_replicas,
     a_grant_without_its_replicas_is_undone},
    {"a_waiter_without_its_replicas_passes_the_lock_on", with_replicas,
     a_waiter_without_its_replicas_passes_the_lock_on},
};

}  // namespace

std::span<const test_case> durability_tests() noexcept { return list; }

}  // namespace pawl::conformance
