// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "test_groups.hpp"

#include <algorithm>

namespace pawl::conformance {

namespace {

void many_threads_share_a_client(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    std::atomic<int> served = 0;
    std::vector<std::unique_ptr<background_task>> crowd;
    for (int i = 0; i < 32; ++i)
        crowd.push_back(std::make_unique<background_task>([&, i] {
            const std::string own = "own/" + std::to_string(i);
            for (int round = 0; round < 10; ++round, ++served) {
                auto lock = locks.acquire(own, {.ttl = long_ttl, .wait = wait_bound});
                auto shared = locks.acquire("shared/" + std::to_string(i % 4),
                                            {.ttl = long_ttl, .wait = wait_bound});
                release_in_time(std::move(shared), "release of a shared name");
                require_equal(lock.release(), release_result::released,
                              "release of a thread's own name");
            }
        }));
    for (auto& each : crowd)
        each->get();
    require_equal(served.load(), 320, "rounds of 32 threads");
    require(nothing_is_listed(service_fixture, locks), "a lock is held when all threads are done");
}

void a_crowd_is_served_once_each(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client observer(env.target, long_tries);
    std::vector<std::unique_ptr<blocking::client>> clients;
    for (int i = 0; i < 5; ++i)
        clients.push_back(std::make_unique<blocking::client>(env.target, long_tries));
    auto lock = observer.acquire("it", {.ttl = long_ttl});
    overlap_detector gate;
    std::atomic<int> served = 0;
    std::vector<std::unique_ptr<background_task>> crowd;
    for (std::size_t i = 0; i < 50; ++i)
        crowd.push_back(std::make_unique<background_task>([&, i] {
            auto turn = clients[i % 5]->acquire("it", {.ttl = long_ttl, .wait = wait_bound});
            gate.enter();
            ++served;
            gate.leave();
        }));
    require(!service_fixture.shows_waiters() ||
                eventually([&] { return waiters_of(observer, "it") >= 5; }),
            "the waiters are not seen");
    require_equal(lock.release(), release_result::released, "release");
    for (auto& each : crowd)
        each->get();
    require(!gate.has_overlapped(), "two clients held the lock at once");
    require_equal(served.load(), 50, "how many of 50 were served");
    require(has_waiters(service_fixture, observer, "it", 0),
            "waiters are left after all were served");
}

bool a_thousand_are_renewed(fixture& service_fixture, duration ttl) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), other(env.target, long_tries);
    std::vector<blocking::held_lock> held;
    const int count = std::min(1000, service_fixture.most_holds());
    for (int i = 0; i < count; ++i)
        held.push_back(client.acquire("many/" + std::to_string(i), {.ttl = ttl, .wait = soon}));
    const auto why =
        failure_of([&] { (void)other.acquire("many/5", {.ttl = ttl, .wait = 2 * ttl + 1s}); });
    if (client.statistics().losses > 0) return false;
    require_equal(why, errc::timed_out,
                  "waiting for more than two ttls for one of many held locks");
    for (auto& lock : held) {
        require_equal(lock.release(), release_result::released,
                      "release of " + std::string(lock.name()));
    }
    require(nothing_is_listed(service_fixture, other, "many/"),
            "a lock is held after all were released");
    return true;
}

void a_thousand_locks_are_renewed(fixture& service_fixture) {
    const auto test = [&](duration ttl) { return a_thousand_are_renewed(service_fixture, ttl); };
    with_a_lasting_lease(service_fixture, 3s, test, "some of a thousand locks are always lost");
}

constexpr test_case list[] = {
    {"many_threads_share_a_client", every_backend, many_threads_share_a_client},
    {"a_crowd_is_served_once_each", every_backend, a_crowd_is_served_once_each},
    {"a_thousand_locks_are_renewed", every_backend, a_thousand_locks_are_renewed},
};

}  // namespace

std::span<const test_case> contention_tests() noexcept { return list; }

}  // namespace pawl::conformance
