// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "test_groups.hpp"

namespace pawl::conformance {

namespace {

bool with_fifo_queue(const capabilities& supported) {
    return supported.order == fairness::first_in_first_out;
}
bool with_queue_over_processes(const capabilities& supported) {
    return supported.across_processes && with_fifo_queue(supported);
}

bool with_hand_over(const capabilities& supported) { return supported.hands_over; }

// Each waiter has its own client.
void the_queue_is_served_in_order(fixture& service_fixture) {
    require_order_of_arrival(service_fixture.make_test_service(), 7, 6,
                             {.ttl = long_ttl, .wait = wait_bound});
}

// SIGKILL of the first in the queue; the release must reach the second.
void a_killed_waiter_is_passed_over(fixture& service_fixture) {
    const duration ttl = supported_ttl(service_fixture, 2s);
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), observer(env.target, long_tries);
    auto lock = client.acquire("it", {.ttl = ttl});
    agent first(env), second(env);
    first.send("acquire it " + milliseconds_text(ttl) + " forever");
    require(has_waiters(service_fixture, observer, "it", 1), "a waiter is not seen");
    second.send("acquire it " + milliseconds_text(ttl) + " forever");
    require(has_waiters(service_fixture, observer, "it", 2), "the second waiter is not seen");
    first.process().kill_and_reap();
    const fencing_token first_token = lock.token();
    require_equal(lock.release(), release_result::released, "release");
    require(token_in(second.read_reply(takeover_time(service_fixture, ttl))) > first_token ||
                !first_token,
            "the next token is not later");
}

// SIGSTOP of the first in the queue. When it continues, it must not believe that it holds the lock,
// and waits until it does.
void a_stopped_waiter_is_passed_over(fixture& service_fixture) {
    const duration ttl = supported_ttl(service_fixture, 2s);
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), observer(env.target, long_tries);
    auto lock = client.acquire("it", {.ttl = ttl});
    agent first(env), second(env);
    first.send("acquire it " + milliseconds_text(ttl) + " forever");
    require(has_waiters(service_fixture, observer, "it", 1), "a waiter is not seen");
    second.send("acquire it " + milliseconds_text(ttl) + " forever");
    require(has_waiters(service_fixture, observer, "it", 2), "the second waiter is not seen");
    first.process().stop();
    require_equal(lock.release(), release_result::released, "release");
    const fencing_token second_token =
        token_in(second.read_reply(takeover_time(service_fixture, ttl)));
    first.process().resume();
    require(!first.process().read_line(1500ms).has_value(),
            "a waiter acquired the lock after its turn was over");
    const std::string state = second.request("state it");
    require(state == "state held", "the holder, after the stopped waiter woke up: " + state);
    require_equal(second.request("release it"), std::string("release released"), "release");
    require(token_in(first.read_reply()) > second_token || !second_token,
            "the late waiter's token is not later");
}

// Between the release and the waiter's grant no newcomer gets the lock, however quick it is.
void a_release_hands_over_to_a_waiter(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), other(env.target, long_tries);
    for (int round = 0; round < 20; ++round) {
        auto lock = client.acquire("it", {.ttl = long_ttl, .wait = wait_bound});
        std::atomic<bool> tried = false;
        background_task waiting([&] {
            auto turn = other.acquire("it", {.ttl = long_ttl, .wait = wait_bound});
            require(eventually([&] { return tried.load(); }), "the newcomer hangs");
        });
        require(has_waiters(service_fixture, client, "it", 1), "a waiter is not seen");
        require_equal(lock.release(), release_result::released, "release");
        const bool came_in = client.try_acquire("it", {.ttl = long_ttl}).owns_lock();
        tried = true;
        waiting.get();
        require(!came_in, "the holder acquired the lock again before the waiter");
    }
}

// There is no other waiter: the lock must become free, and then be acquired.
void a_lone_killed_waiter_blocks_nobody(fixture& service_fixture) {
    const duration ttl = supported_ttl(service_fixture, 2s);
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), observer(env.target, long_tries);
    auto lock = client.acquire("it", {.ttl = ttl});
    agent waiter(env);
    waiter.send("acquire it " + milliseconds_text(ttl) + " forever");
    require(has_waiters(service_fixture, observer, "it", 1), "a waiter is not seen");
    waiter.process().kill_and_reap();
    require_equal(lock.release(), release_result::released, "release");
    auto next = observer.acquire("it", {.ttl = ttl, .wait = takeover_time(service_fixture, ttl)});
    require(static_cast<bool>(next), "a dead waiter blocks the lock");
}

void the_count_of_waiters_returns_to_nothing(fixture& service_fixture) {
    const duration ttl = supported_ttl(service_fixture, 2s);
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), other(env.target, long_tries);
    auto lock = client.acquire("it", {.ttl = long_ttl, .wait = wait_bound});
    std::vector<std::unique_ptr<background_task>> crowd;
    for (int i = 0; i < 10; ++i)
        crowd.push_back(std::make_unique<background_task>([&] {
            const auto why =
                failure_of([&] { (void)other.acquire("it", {.ttl = ttl, .wait = 500ms}); });
            require_equal(why, errc::timed_out, "a wait on a held lock");
        }));
    require(!service_fixture.shows_waiters() ||
                eventually([&] { return waiters_of(client, "it") >= 1; }),
            "no waiter is seen");
    for (auto& each : crowd)
        each->get();
    require(has_waiters(service_fixture, client, "it", 0),
            "waiters that timed out are still counted");
}

void killed_waiters_are_forgotten(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries);
    auto lock = client.acquire("it", {.ttl = long_ttl, .wait = wait_bound});
    {
        agent first(env), second(env);
        first.send("acquire it 60000 forever");
        second.send("acquire it 60000 forever");
        require(has_waiters(service_fixture, client, "it", 2),
                "waiters of other processes are not seen");
    }
    // The first waiter's place may live longer than the others'.
    require(eventually([&] { return waiters_of(client, "it") == 0; }, wait_bound),
            "killed waiters are still counted");
}

constexpr test_case list[] = {
    {"the_queue_is_served_in_order", with_fifo_queue, the_queue_is_served_in_order},
    {"a_killed_waiter_is_passed_over", with_queue_over_processes, a_killed_waiter_is_passed_over},
    {"a_stopped_waiter_is_passed_over", with_queue_over_processes, a_stopped_waiter_is_passed_over},
    {"a_release_hands_over_to_a_waiter", with_hand_over, a_release_hands_over_to_a_waiter},
    {"a_lone_killed_waiter_blocks_nobody", with_processes, a_lone_killed_waiter_blocks_nobody},
    {"the_count_of_waiters_returns_to_nothing", every_backend,
     the_count_of_waiters_returns_to_nothing},
    {"killed_waiters_are_forgotten", with_processes, killed_waiters_are_forgotten},
};

}  // namespace

std::span<const test_case> queue_tests() noexcept { return list; }

}  // namespace pawl::conformance
