// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Strictly fair locks: the earliest request is served first, whatever its process.
#include "test_groups.hpp"

#include <mutex>

namespace pawl::conformance {

namespace {

using blocking::held_lock;

constexpr lock_options fair_options{.ttl = long_ttl, .wait = wait_bound, .fair = true};

bool with_strict_fairness(const capabilities& supported) { return supported.strictly_fair; }
bool with_strict_fairness_and_processes(const capabilities& supported) {
    return supported.strictly_fair && supported.across_processes;
}
// If the service keeps the queue, a dead waiter does not delay the others by a lease.
bool with_strict_fairness_in_one_queue(const capabilities& supported) {
    return with_strict_fairness_and_processes(supported) && supported.modes_share_queue;
}
bool with_strict_fairness_and_sharing(const capabilities& supported) {
    return supported.strictly_fair && supported.shared;
}

// Three clients have four waiters each, queued in turn. A client's own waiter must not pass the
// waiters of the others when the client's hold ends.
void the_order_of_arrival_is_kept(fixture& service_fixture) {
    require_order_of_arrival(service_fixture.make_test_service(), 3, 12, fair_options);
}

// Twice round: each process queues again as soon as it was served.
void processes_take_turns(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client observer(env.target, long_tries);
    auto lock = observer.acquire("it", fair_options);
    std::vector<std::unique_ptr<agent>> crowd;
    for (std::uint64_t i = 0; i < 5; ++i) {
        crowd.push_back(std::make_unique<agent>(env));
        crowd.back()->send("take fair it 60000 forever");
        require(has_waiters(service_fixture, observer, "it", i + 1), "a waiter is not seen");
    }
    fencing_token newest = lock.token();
    require_equal(lock.release(), release_result::released, "release");
    for (int round = 0; round < 2; ++round)
        for (auto& each : crowd) {
            const fencing_token waiter_token = token_in(each->read_reply());
            require(waiter_token > newest || !waiter_token, "a later turn has no later token");
            newest = waiter_token;
            require_equal(each->request("release it"), std::string("release released"), "release");
            each->send("take fair it 60000 forever");
            require(has_waiters(service_fixture, observer, "it", 4),
                    "a served process is not in the queue again");
        }
}

// The holder dies, and its lease ends while newcomers send requests all the time.
void a_newcomer_never_passes_a_waiter(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), newcomers(env.target, long_tries);
    agent holder(env);
    const auto ttl = supported_ttl(service_fixture, 1500ms);
    (void)token_in(holder.request("take fair it " + milliseconds_text(ttl) + " forever"));
    held_lock next;
    std::atomic<bool> acquired = false;
    background_task waits([&] {
        next = locks.acquire("it", fair_options);
        acquired = true;
    });
    require(has_waiters(service_fixture, newcomers, "it", 1), "the waiter is not seen");
    holder.process().kill_and_reap();
    constexpr lock_options at_once{.ttl = long_ttl, .wait = 0s, .fair = true};
    const bool served = eventually([&] {
        const auto why = failure_of([&] { (void)newcomers.acquire("it", at_once).release(); });
        require(why == errc::timed_out, "a newcomer acquired the lock before the waiter");
        return acquired.load();
    });
    require(served, "the waiter was not served");
    waits.get();
}

// The first waiter was killed, the second is stopped: the third has the lock long before a ttl
// ends.
void dead_waiters_are_passed_over(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries);
    auto lock = client.acquire("it", fair_options);
    agent killed(env), stopped(env), alive(env);
    std::uint64_t waiters = 0;
    for (agent* each : {&killed, &stopped, &alive}) {
        each->send("take fair it 60000 forever");
        require(has_waiters(service_fixture, client, "it", ++waiters), "a waiter is not seen");
    }
    killed.process().kill_and_reap();
    stopped.process().stop();
    require_equal(lock.release(), release_result::released, "release");
    const fencing_token waiter_token = token_in(alive.read_reply());
    stopped.process().resume();
    require(!stopped.process().read_line(1500ms).has_value(),
            "a waiter acquired the lock after its turn was over");
    require_equal(alive.request("release it"), std::string("release released"), "release");
    require(token_in(stopped.read_reply()) > waiter_token || !waiter_token,
            "the late waiter's token is not later");
}

// Readers and writers in one queue: W1, two readers, W2, a reader.
void readers_and_writers_wait_in_one_queue(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client client(env.target, long_tries), other(env.target, long_tries);
    auto lock = client.acquire("it", fair_options);
    std::mutex order_mutex;
    std::string order;
    std::vector<std::unique_ptr<background_task>> crowd;
    const std::string line = "WrrWr";
    for (std::size_t i = 0; i < line.size(); ++i) {
        crowd.push_back(std::make_unique<background_task>([&, i] {
            auto options = fair_options;
            if (line[i] == 'r') options.mode = lock_mode::shared;
            auto turn = (i % 2 == 0 ? client : other).acquire("it", options);
            const std::scoped_lock order_lock(order_mutex);
            order += line[i];
        }));
        require(has_waiters(service_fixture, client, "it", i + 1), "a waiter is not seen");
    }
    require_equal(lock.release(), release_result::released, "release");
    for (auto& each : crowd)
        each->get();
    require_equal(order, line, "the order of service");
}

constexpr test_case list[] = {
    {"the_order_of_arrival_is_kept", with_strict_fairness, the_order_of_arrival_is_kept},
    {"processes_take_turns", with_strict_fairness_and_processes, processes_take_turns},
    {"a_newcomer_never_passes_a_waiter", with_strict_fairness_and_processes,
     a_newcomer_never_passes_a_waiter},
    {"dead_waiters_are_passed_over", with_strict_fairness_in_one_queue,
     dead_waiters_are_passed_over},
    {"readers_and_writers_wait_in_one_queue", with_strict_fairness_and_sharing,
     readers_and_writers_wait_in_one_queue},
};

}  // namespace

std::span<const test_case> fair_tests() noexcept { return list; }

}  // namespace pawl::conformance
