// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The options of acquire and try_acquire. Both structs are trivially copyable on purpose: see
// docs/contributing/internals.md, "Coroutines and compilers". A value out of range fails with
// errc::bad_option.
#pragma once

#include <pawl/durability.hpp>
#include <pawl/types.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace pawl {

// No limit.
inline constexpr duration forever = duration::max();

// A duration that must have a unit: `{.ttl = 30s}` compiles, `{.ttl = 30}` does not.
struct time_to_live : duration {
    constexpr time_to_live() noexcept = default;
    // From any duration that converts without a loss.
    template <class Rep, class Period>
        requires std::convertible_to<std::chrono::duration<Rep, Period>, duration>
    // NOLINTNEXTLINE(google-explicit-constructor): options are written as durations
    constexpr time_to_live(std::chrono::duration<Rep, Period> time) noexcept : duration(time) {}
    // Does not compile: a number without a unit.
    template <class Number>
        requires std::is_arithmetic_v<Number>
    // NOLINTNEXTLINE(google-explicit-constructor): refuses a bare number with a clear message
    constexpr time_to_live(Number) noexcept {
        static_assert(
            !std::is_arithmetic_v<Number>,
            "A ttl, or a max_hold, needs its unit: write 30s or 500ms, with `using namespace "
            "std::chrono_literals`, not a bare number.");
    }
};

// The options of an acquire that waits.
struct lock_options {
    // The lease: when the holder dies, the lock is free after this time. 10 ms to 24 h, or the
    // narrower range of the service, which may round it up. A smaller `max_hold` shortens it.
    time_to_live ttl = std::chrono::seconds(30);
    // How long `acquire` waits for the lock, and for a service that is away. 0: one attempt, which
    // has `client_options::try_limit`, as a try has. Afterwards the error is errc::timed_out, or
    // errc::unreachable if the service is away then (on Redlock, also errc::no_quorum). If `wait`
    // ends while a request is under way, its answer is awaited: on Redis for up to 0.3 s.
    duration wait = forever;
    // The longest total hold, counted from the grant: 10 ms or more. The lease is not renewed
    // beyond it.
    time_to_live max_hold = forever;
    // The mode of the hold. A mode that the service does not have fails with errc::unsupported.
    lock_mode mode = lock_mode::exclusive;
    // False: the hold has no fencing token. On Redis, but not on Redlock, a lock that is granted at
    // once does not advance the token counter.
    bool fenced = true;
    // Strict order: the earliest request of all processes is served first. Without it, exclusive
    // waiters of one client queue in the client; on Redis, a lock may also stay in one client for a
    // few holds, and a new caller may take a lock whose lease has expired. All users of a name
    // should set the same value. Shared and permit requests queue in order anyway,
    // except in Redisson's layout. errc::unsupported: the service has no such order.
    bool fair = false;
    // With lock_mode::permits: the permits that this hold takes, 1 or more.
    std::uint32_t permits = 1;
    // With lock_mode::permits: the semaphore's total. The service keeps the total of the first
    // caller until `resize`; another total fails with errc::bad_option. 0: the stored total.
    std::uint32_t total_permits = 0;
    // The copies of the grant that exist before the caller gets the lock. An acquire waits for
    // these copies until `wait` ends, but at least for 0.3 s, and no longer than the ttl or the
    // reply timeout of the service. Then it releases the lock and fails with errc::not_durable; it
    // does not try again, however much of `wait` is left.
    durability durable{};
};

// Polling instead of queueing. A polling caller is not woken by a release and has no place in the
// queue. The first pause is `interval`, and each further one is `growth` times as long, up to
// `longest`. Each pause is shortened at random, to no less than half.
struct polling {
    std::uint32_t tries = 1;                             // for each lock, 1 or more
    duration interval = std::chrono::milliseconds(100);  // 1 ms or more
    double growth = 2;                                   // 1 to 1000
    duration longest = std::chrono::seconds(5);          // `interval` or more
};

// As lock_options, but without waiting: one attempt, or polling.
struct try_options {
    time_to_live ttl = std::chrono::seconds(30);
    time_to_live max_hold = forever;
    lock_mode mode = lock_mode::exclusive;
    bool fenced = true;
    bool fair = false;  // true: does not take a free lock past a waiter
    polling retry{};    // one attempt by default
    std::uint32_t permits = 1;
    std::uint32_t total_permits = 0;
    durability durable{};  // errc::not_durable ends the polling
};

// The options of an object that acquires one lock or semaphore again and again, such as a mutex or
// an election. Its functions say how long they wait. The fields mean what they mean in
// lock_options.
struct lease_options {
    time_to_live ttl = std::chrono::seconds(30);  // of each hold
    time_to_live max_hold = forever;              // the longest total hold
    bool fenced = true;                           // each hold has a fencing token
    bool fair = false;                            // strict order over all processes
    durability durable{};                         // the copies of each grant
};

namespace detail {

// The same options with a `wait` of 0.
[[nodiscard]] constexpr lock_options to_lock_options(const try_options& options) noexcept {
    return {.ttl = options.ttl,
            .wait = {},
            .max_hold = options.max_hold,
            .mode = options.mode,
            .fenced = options.fenced,
            .fair = options.fair,
            .permits = options.permits,
            .total_permits = options.total_permits,
            .durable = options.durable};
}

// The options of an acquire by an object.
[[nodiscard]] constexpr lock_options to_lock_options(const lease_options& options,
                                                     duration wait = forever,
                                                     lock_mode mode = lock_mode::exclusive,
                                                     std::uint32_t permits = 1) noexcept {
    return {.ttl = options.ttl,
            .wait = wait,
            .max_hold = options.max_hold,
            .mode = mode,
            .fenced = options.fenced,
            .fair = options.fair,
            .permits = permits,
            .durable = options.durable};
}

}  // namespace detail

static_assert(std::is_trivially_copyable_v<lock_options> &&
              std::is_trivially_copyable_v<try_options> &&
              std::is_trivially_copyable_v<lease_options>);

}  // namespace pawl
