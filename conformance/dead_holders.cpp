// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "test_groups.hpp"

namespace pawl::conformance {

namespace {

// SIGKILL: no destructor runs. Only the end of the lease frees the lock.
void a_killed_holder_frees_it_after_its_ttl(fixture& service_fixture) {
    const duration ttl = supported_ttl(service_fixture, 2s);
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    agent holder(env);
    const fencing_token first = holder.acquire("it", ttl);
    holder.process().kill_and_reap();
    auto next = locks.acquire("it", {.ttl = long_ttl, .wait = takeover_time(service_fixture, ttl)});
    require(!first || next.token() > first, "the next token is not later than the dead holder's");
}

void a_killed_holder_frees_it_for_a_waiter(fixture& service_fixture) {
    const duration ttl = supported_ttl(service_fixture, 2s);
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries), observer(env.target, long_tries);
    agent holder(env);
    (void)holder.acquire("it", ttl);
    std::atomic<bool> acquired = false;
    background_task waiting([&] {
        auto next = locks.acquire("it", {.ttl = long_ttl, .wait = wait_bound});
        acquired = true;
    });
    require(has_waiters(service_fixture, observer, "it", 1), "a waiter is not seen");
    holder.process().kill_and_reap();
    require(eventually([&] { return acquired.load(); }, takeover_time(service_fixture, ttl)),
            "the takeover time did not free it");
    waiting.get();
}

// SIGSTOP for longer than the ttl: another client gets the lock. After SIGCONT, the old holder sees
// the loss before anything else.
void a_stopped_holder_wakes_up_as_a_loser(fixture& service_fixture) {
    const duration ttl = supported_ttl(service_fixture, 2s);
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    agent holder(env);
    const fencing_token first = holder.acquire("it", ttl);
    require_equal(holder.request("watch it"), std::string("watching"), "the holder");
    holder.process().stop();
    auto next = locks.acquire("it", {.ttl = long_ttl, .wait = takeover_time(service_fixture, ttl)});
    require(!first || next.token() > first,
            "the next token is not later than the stopped holder's");
    holder.process().resume();
    const std::string reply = holder.read_reply();
    require(reply.starts_with("woke lost"),
            "a holder that was stopped for its ttl reported: " + reply);
    const std::string release = holder.request("release it");
    require(release != "release released", "its release reported that it still held the lock");
    require_equal(next.state(), lock_state::held, "the new holder, after the old one's release");
}

// No other client wanted it meanwhile; it is lost all the same.
void a_stopped_holder_loses_even_a_lock_that_nobody_took(fixture& service_fixture) {
    const duration ttl = supported_ttl(service_fixture, 2s);
    const test_service env = service_fixture.make_test_service();
    blocking::client observer(env.target, long_tries);
    agent holder(env);
    (void)holder.acquire("it", ttl);
    require_equal(holder.request("watch it"), std::string("watching"), "the holder");
    holder.process().stop();
    require(
        eventually([&] { return is_free(observer, "it"); }, takeover_time(service_fixture, ttl)),
        "the takeover time did not free it");
    holder.process().resume();
    const std::string reply = holder.read_reply();
    require(reply.starts_with("woke lost"),
            "a holder that was stopped for its ttl reported: " + reply);
    require(observer.try_acquire("it", {.ttl = long_ttl}).owns_lock(),
            "the old holder acquired the lock again");
}

// A holder that is stopped for less than its ttl keeps the lock.
void a_short_stop_is_no_loss(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    agent holder(env);
    (void)holder.acquire("it", supported_ttl(service_fixture, 5s));
    require_equal(holder.request("watch it"), std::string("watching"), "the holder");
    holder.process().stop();
    std::this_thread::sleep_for(700ms);
    holder.process().resume();
    const std::string reply = holder.read_reply();
    require(!reply.starts_with("woke lost"),
            "a holder that was stopped for 0.7 s reported: " + reply);
    require_equal(holder.request("release it"), std::string("release released"), "its release");
}

void a_process_that_ends_frees_it_at_once(fixture& service_fixture) {
    const test_service env = service_fixture.make_test_service();
    blocking::client locks(env.target, long_tries);
    agent holder(env);
    (void)holder.acquire("it", long_ttl);
    holder.process().close_input();
    const auto why =
        failure_of([&] { (void)locks.acquire("it", {.ttl = long_ttl, .wait = soon}); });
    require_equal(why, std::optional<errc>(),
                  "waiting for the lock of a process that ended regularly");
    require(holder.process().wait(10s).has_value(), "a process with a held lock did not end");
}

constexpr test_case list[] = {
    {"a_killed_holder_frees_it_after_its_ttl", with_processes,
     a_killed_holder_frees_it_after_its_ttl},
    {"a_killed_holder_frees_it_for_a_waiter", with_processes,
     a_killed_holder_frees_it_for_a_waiter},
    {"a_stopped_holder_wakes_up_as_a_loser", with_processes, a_stopped_holder_wakes_up_as_a_loser},
    {"a_stopped_holder_loses_even_a_lock_that_nobody_took", with_processes,
     a_stopped_holder_loses_even_a_lock_that_nobody_took},
    {"a_short_stop_is_no_loss", with_processes, a_short_stop_is_no_loss},
    {"a_process_that_ends_frees_it_at_once", with_processes, a_process_that_ends_frees_it_at_once},
};

}  // namespace

std::span<const test_case> dead_holder_tests() noexcept { return list; }

}  // namespace pawl::conformance
