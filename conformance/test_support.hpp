// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The tools of the tests.
#pragma once

#include "process.hpp"

#include <pawl/blocking/mutex.hpp>
#include <pawl/spi/backend.hpp>
#include <pawl/spi/conformance.hpp>

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace pawl::conformance {

using namespace std::chrono_literals;
using spi::capabilities;
using spi::drift;
using spi::fairness;

// For an effect that must not need the end of a lease: such tests use ttls of a minute.
inline constexpr duration soon = 30s;
inline constexpr duration long_ttl = 60s;
// Waits that must succeed have a bound, so that a failure is a sentence and not a hanging test.
inline constexpr duration wait_bound = 30s;

// The shortest ttl that the service supports and that is not below `wanted`.
[[nodiscard]] duration supported_ttl(const fixture& service_fixture, duration wanted);

// The time until the lock of a dead holder with this ttl must be granted to the next: the bound of
// the capabilities, and some time for a busy machine.
[[nodiscard]] duration takeover_time(const fixture& service_fixture, duration ttl);

// For a hold that must last longer than its lease: on a busy machine, the renewals of a short lease
// may come too late. Calls `test` with a lease of about `wanted`, and if that returns false, with
// one six times as long. Throws `failure` with the sentence if both calls return false.
void with_a_lasting_lease(const fixture& service_fixture, duration wanted,
                          const std::function<bool(duration ttl)>& test,
                          const std::string& sentence);

// A duration as the commands of a helper process expect it.
[[nodiscard]] std::string milliseconds_text(duration length);

// Throws `failure` with the sentence if `holds` is false.
void require(bool holds, const std::string& sentence);

template <class A, class B>
void require_equal(const A& actual, const B& expected, const std::string& checked);

[[nodiscard]] std::string to_text(lock_state value);
[[nodiscard]] std::string to_text(loss_reason value);
[[nodiscard]] std::string to_text(release_result value);
[[nodiscard]] std::string to_text(errc value);
[[nodiscard]] std::string to_text(bool value);
[[nodiscard]] std::string to_text(fencing_token value);
[[nodiscard]] std::string to_text(const std::string& value);
[[nodiscard]] std::string to_text(const std::optional<errc>& value);
template <class Number>
    requires std::is_integral_v<Number>
[[nodiscard]] std::string to_text(Number value) {
    return std::to_string(value);
}

template <class A, class B>
void require_equal(const A& actual, const B& expected, const std::string& checked) {
    if (!(actual == expected))
        throw failure(checked + ": " + to_text(actual) + " instead of " + to_text(A(expected)));
}

// For a first connection on a busy machine, and tests of which the limit is not the subject.
inline client_options long_try_options() {
    client_options options;
    options.try_limit = 10s;
    return options;
}
inline const client_options long_tries = long_try_options();

// Evaluates `effect` again and again, for at most `bound`.
[[nodiscard]] bool eventually(const std::function<bool()>& effect, duration bound = soon);

// Releases the hold. A thread that a busy machine delays beyond the time of a pushed grant may find
// that it has expired.
void release_in_time(blocking::held_lock hold, const std::string& checked);

// The reason of the pawl::error that the call throws; empty if it throws none.
[[nodiscard]] std::optional<errc> failure_of(const std::function<void()>& call);

[[nodiscard]] std::uint64_t waiters_of(blocking::client& observer, const std::string& name);
[[nodiscard]] bool has_waiters(blocking::client& observer, const std::string& name,
                               std::uint64_t count);
// The same, or where waiters cannot be seen, gives them a moment to begin.
[[nodiscard]] bool has_waiters(const fixture& service_fixture, blocking::client& observer,
                               const std::string& name, std::uint64_t count);
[[nodiscard]] bool is_free(blocking::client& observer, const std::string& name);
// True as well where locks cannot be listed.
[[nodiscard]] bool nothing_is_listed(const fixture& service_fixture, blocking::client& observer,
                                     const std::string& prefix = {});

// Queues this number of waiters behind a hold of the first client, each when the one before is in
// the queue, and each in the next client. Requires that they are served in this order.
void require_order_of_arrival(const test_service& env, std::size_t clients, std::size_t waiters,
                              lock_options options);

// A helper process that executes one command at a time; the commands are in agent.cpp.
class agent {
public:
    explicit agent(const test_service& env);

    [[nodiscard]] child& process() noexcept { return process_; }
    void send(const std::string& command) { process_.send(command); }
    // The next line; throws `failure` if none comes in time.
    std::string read_reply(duration bound = soon);
    std::string request(const std::string& command, duration bound = soon);
    // Lets it acquire the lock, and returns the token that it got within `bound`.
    fencing_token acquire(const std::string& name, duration ttl, duration bound = soon);

private:
    child process_;
};

// The token in a line `held TOKEN …`; throws `failure` for any other line.
[[nodiscard]] fencing_token token_in(const std::string& line);

// A call in another thread; joined by `get` or the destructor.
class background_task {
public:
    explicit background_task(std::function<void()> work);
    // Rethrows the exception of the call.
    void get();
    // As `get`, but throws `failure` if the call has not ended within `soon`. For calls that could
    // wait for longer.
    void get_soon(const std::string& checked);

private:
    std::exception_ptr thrown_;
    std::atomic<bool> is_done_ = false;
    std::jthread thread_;
};

// For a lock object that the calling thread holds: `renew` moves the end of the hold, refuses a
// thread without a hold, and reports a loss.
template <class Lock>
void require_renewal(Lock& lock, blocking::client& other) {
    const auto before = lock.handle().safe_until();
    require(boot_clock::now() < before, "a new hold has ended");
    lock.renew();
    require(lock.handle().safe_until() > before, "renew did not move safe_until");
    background_task([&] {
        require_equal(failure_of([&] { lock.renew(); }), errc::not_held, "renew without a hold");
    }).get();
    require(other.force_release("it"), "force_release of a held lock reported no holder");
    require_equal(failure_of([&] { lock.renew(); }), errc::lost, "renew after a forced release");
}

// Counts the callers inside, and remembers whether two were inside at once.
class overlap_detector {
public:
    void enter();
    void leave();
    [[nodiscard]] bool has_overlapped() const noexcept { return overlapped_; }

private:
    std::atomic<int> inside_count_ = 0;
    std::atomic<bool> overlapped_ = false;
};

}  // namespace pawl::conformance
