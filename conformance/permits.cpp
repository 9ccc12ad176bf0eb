// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Semaphores.
#include "test_groups.hpp"

namespace pawl::conformance {

namespace {

using blocking::held_lock;

constexpr lock_options permit_options(std::uint32_t permits, std::uint32_t total = 0) {
    return {.ttl = long_ttl,
            .wait = wait_bound,
            .mode = lock_mode::permits,
            .permits = permits,
            .total_permits = total};
}
constexpr try_options try_permit_options(std::uint32_t permits, std::uint32_t total = 0) {
    return {
        .ttl = long_ttl, .mode = lock_mode::permits, .permits = permits, .total_permits = total};
}

bool with_permits(const capabilities& supported) { return supported.permits; }
bool with_queued_permits(const capabilities& supported) {
    return supported.permits && supported.modes_share_queue;
}
bool with_permits_and_processes(const capabilities& supported) {
    return supported.permits && supported.across_processes;
}
bool with_fenced_permits(const capabilities& supported) {
    return supported.permits && supported.fencing;
}
// Redisson's permits have no tokens that a forced release could compare.
bool with_permits_that_force_can_tell(const capabilities& supported) {
    return with_fenced_permits(supported) && supported.modes_share_queue;
}
bool with_both_modes(const capabilities& supported) {
    return supported.permits && supported.shared && supported.modes_share_queue;
}

// Counts the permits that are in use, and remembers the highest number.
class permit_counter {
public:
    void add(int permits) {
        const int now = used_ += permits;
        for (int highest = highest_; highest < now;)
            if (highest_.compare_exchange_weak(highest, now)) break;
    }
    void subtract(int permits) { used_ -= permits; }
    [[nodiscard]] int highest() const { return highest_; }

private:
    std::atomic<int> used_ = 0, highest_ = 0;
};

void never_more_permits_than_there_are(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    permit_counter counter;
    std::vector<std::unique_ptr<background_task>> crowd;
    for (int i = 0; i < 6; ++i)
        crowd.push_back(std::make_unique<background_task>([&, i] {
            blocking::client locks(env.target, long_tries);
            for (int round = 0; round < 25; ++round) {
                const int permits = 1 + (round + i) % 3;
                auto hold =
                    locks.acquire("it", permit_options(static_cast<std::uint32_t>(permits), 3));
                counter.add(permits);
                std::this_thread::yield();
                counter.subtract(permits);
                release_in_time(std::move(hold), "release by a thread");
            }
        }));
    for (auto& each : crowd)
        each->get();
    require(counter.highest() <= 3, "more permits than the total were in use");
    blocking::client observer(env.target, long_tries);
    require(has_waiters(service_fixture, observer, "it", 0) && is_free(observer, "it"),
            "a lock is held when all threads are done");
}

// -1: unknown.
std::int64_t free_permits(blocking::client& observer) {
    const lock_info info = observer.inspect("it");
    return info.free_permits ? std::int64_t{*info.free_permits} : -1;
}

void permits_are_held_together(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client first_client(env.target, long_tries), second_client(env.target, long_tries);
    require_equal(free_permits(first_client), std::int64_t{-1},
                  "the free permits of an unknown semaphore");
    auto first = first_client.acquire("it", permit_options(2, 4));
    auto second = second_client.acquire("it", permit_options(1));
    auto third = first_client.try_acquire("it", try_permit_options(1));
    require(first.owns_lock() && second.owns_lock() && third, "free permits were not granted");
    require(!second_client.try_acquire("it", try_permit_options(1)).owns_lock(),
            "a permit beyond the total was granted");
    const lock_info info = second_client.inspect("it");
    require_equal(info.permits, std::uint32_t{4}, "the total of permits");
    require(info.held_by && info.others.size() == 2, "inspect does not show three holders");
    std::uint32_t permits_out = info.held_by->permits;
    for (const holder& each : info.others)
        permits_out += each.permits;
    require_equal(permits_out, std::uint32_t{4}, "the permits in use, as inspect shows them");
    require_equal(free_permits(second_client), std::int64_t{0},
                  "the free permits when all are in use");
    require(info.held_by->mode == lock_mode::permits,
            "a holder of permits is shown in another mode");
    require_equal(first.release(), release_result::released, "release of two permits");
    require_equal(free_permits(second_client), std::int64_t{2},
                  "the free permits of four, with two in use");
    const auto listed = second_client.list("it");
    require(listed.size() == 1 && listed.front().free_permits == 2U,
            "list shows another number of free permits");
    auto two_again = second_client.try_acquire("it", try_permit_options(2));
    require(static_cast<bool>(two_again), "two permits were not released together");
    require(!first_client.try_acquire("it", try_permit_options(1)).owns_lock(),
            "more permits came back than were released");
}

// A has 2 of 3, B waits for 3, C asks for 1, which is free: it waits behind B.
void many_permits_are_not_starved_by_few(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client first_client(env.target, long_tries), second_client(env.target, long_tries);
    auto first = first_client.acquire("it", permit_options(2, 3));
    held_lock large_hold, small_hold;
    background_task large_request(
        [&] { large_hold = second_client.acquire("it", permit_options(3)); });
    require(has_waiters(service_fixture, first_client, "it", 1),
            "the request for three is not seen in the queue");
    require(!first_client.try_acquire("it", try_permit_options(1)).owns_lock(),
            "a request for one permit passed the request for three");
    background_task small_request(
        [&] { small_hold = first_client.acquire("it", permit_options(1)); });
    require(has_waiters(service_fixture, first_client, "it", 2),
            "the request for one does not wait behind the other");
    require_equal(first.release(), release_result::released, "release of the first two");
    large_request.get_soon("the grant of three permits");
    require_equal(waiters_of(first_client, "it"), std::uint64_t{1},
                  "the waiters for three permits");
    require_equal(large_hold.release(), release_result::released, "release of the three permits");
    small_request.get_soon("the grant of one permit");
    require(small_hold.owns_lock(), "the request for one was never granted");
}

void a_killed_holders_permits_come_back(fixture& service_fixture) {
    const duration ttl = supported_ttl(service_fixture, 2s);
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    agent holder(env);
    (void)token_in(holder.request("take permits it " + milliseconds_text(ttl) + " forever 2 3"));
    auto beside = locks.acquire("it", permit_options(1));
    require(!locks.try_acquire("it", try_permit_options(1)).owns_lock(),
            "a permit beyond the total was granted");
    holder.process().kill_and_reap();
    auto back = locks.acquire("it", {.ttl = long_ttl,
                                     .wait = takeover_time(service_fixture, ttl),
                                     .mode = lock_mode::permits,
                                     .permits = 2});
    require(back.owns_lock() && beside.owns_lock(), "the living holder lost its permit");
}

void more_permits_let_waiters_in_at_once(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client first_client(env.target, long_tries), second_client(env.target, long_tries);
    auto all_permits = first_client.acquire("it", permit_options(2, 2));
    held_lock first, second;
    background_task waits([&] { first = first_client.acquire("it", permit_options(1)); });
    background_task also_waits([&] { second = second_client.acquire("it", permit_options(1)); });
    require(has_waiters(service_fixture, first_client, "it", 2), "the waiters are not seen");
    first_client.resize("it", 4);
    waits.get_soon("the turn of the first waiter");
    also_waits.get_soon("the turn of the second waiter");
    require(all_permits.owns_lock() && first.owns_lock() && second.owns_lock(),
            "not all waiters hold their permits");
    require_equal(first_client.inspect("it").permits, std::uint32_t{4}, "the total after resize");
    require(!second_client.try_acquire("it", try_permit_options(1)).owns_lock(),
            "a fifth of four permits was granted");
}

void fewer_permits_wait_for_those_that_are_out(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client first_client(env.target, long_tries), second_client(env.target, long_tries);
    std::vector<held_lock> holds;
    for (int i = 0; i < 4; ++i)
        holds.push_back(first_client.acquire("it", permit_options(1, 4)));
    second_client.resize("it", 2);
    held_lock next;
    background_task waits([&] { next = second_client.acquire("it", permit_options(1)); });
    require(has_waiters(service_fixture, first_client, "it", 1), "the waiter is not seen");
    for (int remaining = 3; remaining >= 2; --remaining) {
        require_equal(holds.back().release(), release_result::released, "release");
        holds.pop_back();
        require_equal(waiters_of(first_client, "it"), std::uint64_t{1},
                      "the waiters while too many permits are in use");
        require(!first_client.try_acquire("it", try_permit_options(1)).owns_lock(),
                "a permit beyond the new total was granted");
    }
    require_equal(holds.back().release(), release_result::released, "release");
    waits.get_soon("the waiter's turn");
    require(next.owns_lock() && !first_client.try_acquire("it", try_permit_options(1)).owns_lock(),
            "not two of two permits are in use");
}

// B waits for 3 of 3, and then the total becomes 2: B can never be served, and C behind it must be.
void a_waiter_for_more_permits_than_the_total_fails(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client first_client(env.target, long_tries), second_client(env.target, long_tries);
    auto first = first_client.acquire("it", permit_options(1, 3));
    background_task large_request([&] {
        const auto why = failure_of([&] { (void)second_client.acquire("it", permit_options(3)); });
        require_equal(why, errc::bad_option, "waiting for more permits than the new total");
    });
    require(has_waiters(service_fixture, first_client, "it", 1),
            "the request for three is not seen in the queue");
    held_lock small_hold;
    background_task small_request(
        [&] { small_hold = first_client.acquire("it", permit_options(1)); });
    require(has_waiters(service_fixture, first_client, "it", 2),
            "the request for one does not wait behind the other");
    first_client.resize("it", 2);
    large_request.get_soon("the refusal");
    small_request.get_soon("the grant of one permit");
    require(first.owns_lock() && small_hold.owns_lock(), "the request for one was never granted");
    require(has_waiters(service_fixture, first_client, "it", 0), "a waiter is left");
}

void wrong_permits_leave_nothing_behind(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    const auto require_refused = [&](const lock_options& options, const std::string& checked) {
        const auto try_wrong_permits = [&] { (void)locks.acquire("it", options); };
        require_equal(failure_of(try_wrong_permits), errc::bad_option, checked);
    };
    require_refused(permit_options(1), "a semaphore without a total");
    require_refused(permit_options(0, 5), "no permits at all");
    require_refused(permit_options(6, 5), "six permits of five in total");
    require_equal(failure_of([&] { locks.resize("it", 0); }), errc::bad_option, "resize to none");
    const lock_info before = locks.inspect("it");
    require(!before.held_by && before.permits == 0 && before.waiters == 0, "an error left a lock");
    auto hold = locks.acquire("it", permit_options(2, 5));
    require_refused(permit_options(1, 8), "naming a total of eight where it is five");
    require_refused(permit_options(6), "requesting six permits where the total is five");
    const lock_info after = locks.inspect("it");
    require(after.permits == 5 && after.others.empty() && after.waiters == 0,
            "an error left a lock");
    auto rest = locks.try_acquire("it", try_permit_options(3, 5));
    require(hold.owns_lock() && rest, "the free permits cannot be acquired");
}

void the_number_of_permits_outlives_the_holders(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    {
        blocking::client locks(env.target, long_tries);
        (void)locks.acquire("it", permit_options(1, 2)).release();
        locks.resize("other", 3);
    }
    blocking::client locks(env.target, long_tries);
    require_equal(locks.inspect("it").permits, std::uint32_t{2}, "the total");
    require_equal(free_permits(locks), std::int64_t{2}, "the free permits when none is in use");
    auto all_permits = locks.acquire("it", permit_options(2));
    require(!locks.try_acquire("it", try_permit_options(1)).owns_lock(),
            "a third of two permits was granted");
    require_equal(failure_of([&] { (void)locks.try_acquire("it", try_permit_options(1, 3)); }),
                  errc::bad_option, "naming another total than the stored one");
    auto three = locks.acquire("other", permit_options(3));
    require(all_permits.owns_lock() && three.owns_lock(), "resize did not set the total");
}

void each_hold_of_permits_has_a_later_token(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client first_client(env.target, long_tries), second_client(env.target, long_tries);
    fencing_token newest;
    std::vector<held_lock> holds;
    for (int i = 0; i < 6; ++i) {
        holds.push_back(
            (i % 2 == 0 ? first_client : second_client).acquire("it", permit_options(1, 3)));
        require(holds.back().token() > newest, "a hold's token is not later than the one before");
        newest = holds.back().token();
        if (holds.size() == 3) holds.erase(holds.begin());
    }
    holds.clear();
    if (!service_fixture.capabilities().modes_share_queue) return;
    auto alone = first_client.acquire("it", {.ttl = long_ttl, .wait = wait_bound});
    require(alone.token() > newest, "an exclusive hold's token is not later than the permits'");
}

void the_modes_keep_each_other_out(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client first_client(env.target, long_tries), second_client(env.target, long_tries);
    constexpr try_options reading{.ttl = long_ttl, .mode = lock_mode::shared};
    constexpr try_options writing{.ttl = long_ttl};
    {
        auto hold = first_client.acquire("it", permit_options(1, 2));
        require(!second_client.try_acquire("it", reading).owns_lock(),
                "a reader was granted beside a holder of permits");
        require(!second_client.try_acquire("it", writing).owns_lock(),
                "a writer was granted beside a holder of permits");
    }
    {
        auto reads =
            second_client.acquire("it", {.ttl = long_ttl, .wait = soon, .mode = lock_mode::shared});
        require(!first_client.try_acquire("it", try_permit_options(1)).owns_lock(),
                "a permit was granted beside a reader");
        require_equal(free_permits(first_client), std::int64_t{0},
                      "the free permits beside a reader");
    }
    auto writes = first_client.acquire("it", {.ttl = long_ttl, .wait = soon});
    require(!first_client.try_acquire("it", try_permit_options(1)).owns_lock(),
            "a permit was granted beside a writer");
}

// An operator who has seen one hold means no later one.
void force_by_token_leaves_later_permits(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    auto first = locks.acquire("it", permit_options(1, 2));
    auto second = locks.acquire("it", permit_options(1, 2));
    require(locks.force_release("it", first.token()), "the first hold was not found");
    require_equal(failure_of([&] { first.renew(); }), errc::lost, "renew of the first hold");
    second.renew();
    require_equal(second.release(), release_result::released, "release of the later hold");
    auto third = locks.acquire("it", permit_options(1, 2));
    require(locks.force_release("it"), "the third hold was not found");
    require_equal(failure_of([&] { third.renew(); }), errc::lost, "renew of the third hold");
}

constexpr test_case list[] = {
    {"never_more_permits_than_there_are", with_permits, never_more_permits_than_there_are},
    {"permits_are_held_together", with_permits, permits_are_held_together},
    {"many_permits_are_not_starved_by_few", with_queued_permits,
     many_permits_are_not_starved_by_few},
    {"a_killed_holders_permits_come_back", with_permits_and_processes,
     a_killed_holders_permits_come_back},
    {"more_permits_let_waiters_in_at_once", with_permits, more_permits_let_waiters_in_at_once},
    {"fewer_permits_wait_for_those_that_are_out", with_permits,
     fewer_permits_wait_for_those_that_are_out},
    {"a_waiter_for_more_permits_than_the_total_fails", with_queued_permits,
     a_waiter_for_more_permits_than_the_total_fails},
    {"wrong_permits_leave_nothing_behind", with_permits, wrong_permits_leave_nothing_behind},
    {"the_number_of_permits_outlives_the_holders", with_permits,
     the_number_of_permits_outlives_the_holders},
    {"each_hold_of_permits_has_a_later_token", with_fenced_permits,
     each_hold_of_permits_has_a_later_token},
    {"force_by_token_leaves_later_permits", with_permits_that_force_can_tell,
     force_by_token_leaves_later_permits},
    {"the_modes_keep_each_other_out", with_both_modes, the_modes_keep_each_other_out},
};

}  // namespace

std::span<const test_case> permits_tests() noexcept { return list; }

}  // namespace pawl::conformance
