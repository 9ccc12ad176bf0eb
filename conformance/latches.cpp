// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "test_groups.hpp"

#include <pawl/blocking/latch.hpp>

#include <array>

namespace pawl::conformance {

namespace {

using blocking::barrier;
using blocking::latch;

bool with_latches(const capabilities& supported) { return supported.latches; }
bool with_barriers(const capabilities& supported) { return supported.barriers; }
bool with_latches_and_processes(const capabilities& supported) {
    return supported.latches && supported.across_processes;
}

[[nodiscard]] bool latch_has_waiters(latch& latch_observed, std::uint64_t count) {
    return eventually([&] { return latch_observed.inspect().waiters == count; });
}

void a_latch_opens_at_zero(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), first(env.target, long_tries),
        second(env.target, long_tries);
    latch own_latch(locks, "it"), other_latch(first, "it"), third_latch(second, "it");
    require(own_latch.try_set(4), "a new latch cannot be set");
    std::atomic<int> released_count = 0;
    background_task a([&] { released_count += other_latch.wait_for(wait_bound) ? 1 : 100; });
    background_task b([&] { released_count += third_latch.wait_for(wait_bound) ? 1 : 100; });
    require(latch_has_waiters(own_latch, 2), "the waiters are not seen");
    for (const std::uint64_t left : {3U, 2U, 1U}) {
        require_equal(own_latch.count_down(), left, "the count that is left");
        require(!other_latch.try_wait() && !third_latch.wait_for(0s),
                "it is open before its count is 0");
        require_equal(released_count.load(), 0, "the threads that went on before 0");
    }
    require_equal(own_latch.count_down(), std::uint64_t{0}, "the count that is left");
    a.get();
    b.get();
    require_equal(released_count.load(), 2, "the threads that went on at 0");
    require(other_latch.try_wait(), "it is not open at 0");
    require_equal(own_latch.inspect().count, std::uint64_t{0}, "the count at 0");
}

void a_latch_is_set_only_at_zero(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    latch own_latch(locks, "it"), other_latch(other, "it");
    require(own_latch.try_set(2), "a new latch cannot be set");
    require(!other_latch.try_set(9), "a latch was set while it was counting");
    require_equal(other_latch.count_down(), std::uint64_t{1}, "the count that is left");
    require(!own_latch.try_set(9), "a latch was set while it was counting");
    require_equal(own_latch.count_down(7), std::uint64_t{0}, "the count after a step below 0");
    require(other_latch.try_set(3), "a latch at 0 cannot be set again");
    require_equal(own_latch.count_down(2), std::uint64_t{1}, "the count in the second generation");
    require_equal(latch(locks, "another").try_set(1), true, "setting another latch");
    require_equal(own_latch.inspect().count, std::uint64_t{1}, "the count beside another latch");
}

// 1. A caller arrives, and has yet to begin to wait. 2. The last caller arrives, and the latch is
// set again at once. 3. The first caller waits for a generation that is over, and must not wait for
// the next one.
void a_latch_set_again_lets_the_old_waiters_go(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    latch own_latch(locks, "it"), other_latch(other, "it");
    require(own_latch.try_set(2), "a new latch cannot be set");
    for (int round = 0; round < 100; ++round) {
        std::stop_source stop;
        std::atomic<bool> was_released = false;
        background_task arriving([&] {
            other_latch.arrive_and_wait(stop.get_token());
            was_released = true;
        });
        require(eventually([&] { return own_latch.inspect().count == 1; }), "no caller arrived");
        require_equal(own_latch.count_down(), std::uint64_t{0}, "the count that is left");
        require(own_latch.try_set(2), "a latch at 0 cannot be set again");
        if (!eventually([&] { return was_released.load(); })) stop.request_stop();
        arriving.get();
    }
}

void waiters_of_a_latch_are_pushed(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    latch own_latch(locks, "it");
    require(own_latch.try_set(2), "a new latch cannot be set");
    require(!own_latch.wait_for(0s), "it is open before its count is 0");
    std::vector<std::unique_ptr<blocking::client>> clients;
    std::vector<std::unique_ptr<background_task>> waiting;
    std::atomic<int> released_count = 0;
    for (int i = 0; i < 5; ++i) {
        auto& waiting_client =
            *clients.emplace_back(std::make_unique<blocking::client>(env.target, long_tries));
        waiting.push_back(std::make_unique<background_task>([&released_count, &waiting_client] {
            latch other_latch(waiting_client, "it");
            if (other_latch.wait_for(wait_bound)) ++released_count;
        }));
    }
    require(latch_has_waiters(own_latch, 5), "the waiters are not seen");
    require_equal(own_latch.count_down(), std::uint64_t{1}, "the count that is left");
    std::vector<statistics> before;
    for (const auto& each : clients) {
        // Sent after the waiter's request: its first refresh is over when these are answered.
        for (int i = 0; i < 2; ++i)
            require(!latch(*each, "it").try_wait(), "it is open at 1");
        before.push_back(each->statistics());
    }
    require_equal(own_latch.count_down(), std::uint64_t{0}, "the count that is left");
    for (auto& each : waiting)
        each->get();
    require_equal(released_count.load(), 5, "the threads that went on");
    for (std::size_t i = 0; i < clients.size(); ++i) {
        const auto after = clients[i]->statistics();
        require(after.pushes > before[i].pushes, "a waiter was not notified by a push");
        // It may refresh once because of the push, and send that it leaves.
        require(after.requests <= before[i].requests + 2,
                "a waiter sent requests instead of waiting for the push");
    }
    require(latch_has_waiters(own_latch, 0), "a waiter is left");
}

void a_latch_wait_has_an_end(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    latch own_latch(locks, "it"), other_latch(other, "it");
    require(own_latch.try_set(1), "a new latch cannot be set");
    require(!other_latch.wait_for(50ms), "the wait ended although the count did not change");
    require(!other_latch.wait_for(-1s), "the wait ended although the count did not change");
    require(!other_latch.wait_until(boot_clock::now() + 20ms),
            "the wait ended although the count did not change");
    std::stop_source stop;
    std::optional<errc> why;
    background_task waiting([&] { why = failure_of([&] { other_latch.wait(stop.get_token()); }); });
    require(latch_has_waiters(own_latch, 1), "the waiter is not seen");
    stop.request_stop();
    waiting.get();
    require_equal(why, errc::cancelled, "a cancelled wait");
    require(latch_has_waiters(own_latch, 0), "a cancelled waiter is left");
    background_task arriving([&] { other_latch.arrive_and_wait(); });
    arriving.get();
    require_equal(own_latch.inspect().count, std::uint64_t{0}, "the count after the last arrival");
}

void bad_latches_are_refused(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    latch own_latch(locks, "it"), unnamed_latch(locks, ""), short_lived(locks, "it", {.ttl = 1ms});
    require_equal(failure_of([&] { own_latch.try_set(0); }), errc::bad_option, "a count of 0");
    require_equal(failure_of([&] { own_latch.count_down(0); }), errc::bad_option, "a step of 0");
    require_equal(failure_of([&] { short_lived.try_set(1); }), errc::bad_option, "a ttl of 1 ms");
    require_equal(failure_of([&] { unnamed_latch.try_set(1); }), errc::bad_name, "no name");
    require_equal(failure_of([&] { (void)latch(locks, "a\nb").inspect(); }), errc::bad_name,
                  "a name with a line break");
    require_equal(failure_of([&] { (void)barrier(locks, "it", 0).arrive(); }), errc::bad_option,
                  "a barrier without parties");
}

void an_unknown_latch_is_an_error(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    latch own_latch(locks, "it"), other_latch(other, "it");
    require(!own_latch.inspect().known, "a latch is known before it was set");
    require_equal(failure_of([&] { own_latch.wait(); }), errc::lost,
                  "waiting for an unknown latch");
    require_equal(failure_of([&] { (void)own_latch.try_wait(); }), errc::lost, "inspecting it");
    require_equal(failure_of([&] { own_latch.count_down(); }), errc::lost, "counting it down");
    require(!own_latch.reset(), "it could be reset");
    require(own_latch.try_set(1), "it cannot be set");
    std::optional<errc> why;
    background_task waiting(
        [&] { why = failure_of([&] { (void)other_latch.wait_for(wait_bound); }); });
    require(latch_has_waiters(own_latch, 1), "the waiter is not seen");
    require(own_latch.reset(), "reset reported no latch");
    waiting.get();
    require_equal(why, errc::lost, "a wait for a latch that was reset");
}

// A latch that is set again after it was forgotten is another latch: the waiters of the first one
// fail.
void a_latch_is_forgotten_after_its_ttl(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), other(env.target, long_tries);
    latch own_latch(locks, "it", {.ttl = 1s}), other_latch(other, "it");
    require(own_latch.try_set(1), "a new latch cannot be set");
    std::optional<errc> why;
    background_task waiting(
        [&] { why = failure_of([&] { (void)other_latch.wait_for(wait_bound); }); });
    require(eventually([&] { return !own_latch.inspect().known; }), "it is not forgotten");
    require(own_latch.try_set(1), "it cannot be set after it was forgotten");
    waiting.get();
    require_equal(why, errc::lost, "a wait for a latch that was forgotten");
}

void a_latch_counts_other_processes(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    latch own_latch(locks, "it");
    std::vector<agent> crowd;
    for (int i = 0; i < 6; ++i)
        crowd.emplace_back(env);
    for (int round = 0; round < 5; ++round) {
        require(own_latch.try_set(3), "the latch cannot be set");
        for (std::size_t i = 3; i < 6; ++i)
            crowd[i].send("latch_wait it");
        require(latch_has_waiters(own_latch, 3), "the waiters are not seen");
        for (std::size_t i = 0; i < 3; ++i)
            require_equal(crowd[i].request("latch_down it"), "left " + std::to_string(2 - i),
                          "the count from another process");
        for (std::size_t i = 3; i < 6; ++i)
            require_equal(crowd[i].read_reply(), std::string("open"),
                          "the wait of another process");
        require(latch_has_waiters(own_latch, 0), "a waiter is left");
    }
}

constexpr std::uint32_t parties = 8;
constexpr std::size_t phases = 1000;

// No thread goes on before all have arrived, and none is forgotten: a lost wake-up would cost
// seconds.
void a_barrier_turns_a_thousand_times(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    std::vector<std::unique_ptr<blocking::client>> clients;
    for (int i = 0; i < 4; ++i)
        clients.push_back(std::make_unique<blocking::client>(env.target, long_tries));
    std::array<std::atomic<std::uint32_t>, phases> arrived{};
    std::atomic<int> too_early = 0;
    std::vector<std::unique_ptr<background_task>> crowd;
    for (std::size_t i = 0; i < parties; ++i)
        crowd.push_back(std::make_unique<background_task>([&, i] {
            barrier tested_barrier(*clients[i % 4], "it", parties);
            for (auto& arrivals : arrived) {
                ++arrivals;
                const auto own_phase = tested_barrier.arrive();
                require(tested_barrier.wait_for(own_phase, wait_bound), "a wake-up was lost");
                if (arrivals != parties) ++too_early;
            }
        }));
    for (auto& each : crowd)
        each->get();
    require_equal(too_early.load(), 0, "the threads that went on before all had come");
    require_equal(barrier(*clients[0], "it", parties).inspect().count, std::uint64_t{parties},
                  "the count of the next phase");
}

void a_barrier_knows_its_parties(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    barrier two(locks, "it", 2), three(locks, "it", 3);
    const auto arrival = two.arrive();
    require_equal(failure_of([&] { (void)three.arrive(); }), errc::bad_option,
                  "arriving with another number of parties");
    require(!two.wait_for(arrival, 0s), "a phase is over although a party is missing");
    require_equal(two.inspect().count, std::uint64_t{1}, "the number of missing parties");
    two.arrive_and_wait();
    require(two.wait_for(arrival, 0s), "a wait for a finished phase did not return");
    latch plain_latch(locks, "by hand");
    require(plain_latch.try_set(5), "a new latch cannot be set");
    require_equal(failure_of([&] { (void)barrier(locks, "by hand", 5).arrive(); }),
                  errc::bad_option, "arriving at a latch");
    require_equal(plain_latch.inspect().count, std::uint64_t{5},
                  "the latch after the refused step");
}

constexpr test_case list[] = {
    {"a_latch_opens_at_zero", with_latches, a_latch_opens_at_zero},
    {"a_latch_is_set_only_at_zero", with_latches, a_latch_is_set_only_at_zero},
    {"a_latch_set_again_lets_the_old_waiters_go", with_barriers,
     a_latch_set_again_lets_the_old_waiters_go},
    {"waiters_of_a_latch_are_pushed", with_latches, waiters_of_a_latch_are_pushed},
    {"a_latch_wait_has_an_end", with_latches, a_latch_wait_has_an_end},
    {"bad_latches_are_refused", with_latches, bad_latches_are_refused},
    {"a_latch_counts_other_processes", with_latches_and_processes, a_latch_counts_other_processes},
    {"an_unknown_latch_is_an_error", with_barriers, an_unknown_latch_is_an_error},
    {"a_latch_is_forgotten_after_its_ttl", with_barriers, a_latch_is_forgotten_after_its_ttl},
    {"a_barrier_turns_a_thousand_times", with_barriers, a_barrier_turns_a_thousand_times},
    {"a_barrier_knows_its_parties", with_barriers, a_barrier_knows_its_parties},
};

}  // namespace

std::span<const test_case> latch_tests() noexcept { return list; }

}  // namespace pawl::conformance
