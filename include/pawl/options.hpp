// The options of acquire and try_acquire. Both structs are trivially copyable on purpose: see
// docs/internals.md, "Coroutines and compilers". A value out of range fails with errc::bad_option.
#pragma once

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
    template <class Rep, class Period>
        requires std::convertible_to<std::chrono::duration<Rep, Period>, duration>
    // NOLINTNEXTLINE(google-explicit-constructor): options are written as durations
    constexpr time_to_live(std::chrono::duration<Rep, Period> time) noexcept : duration(time) {}
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

struct lock_options {
    // The lease: when the holder dies, the lock is free after this time. 10 ms to 24 h. A smaller
    // `max_hold` shortens it.
    time_to_live ttl = std::chrono::seconds(30);
    // How long `acquire` waits for the lock, and for a service that is away. 0: one attempt.
    // Afterwards the error is errc::timed_out, or errc::unreachable if the service is away then. An
    // answer that is due at that moment is awaited: on Redis for up to 0.3 s, and for an attempt
    // with a `wait` of 0 for up to the reply timeout. `try_acquire` ignores this option.
    duration wait = forever;
    // The longest total hold, counted from the grant: 10 ms or more. The lease is not renewed
    // beyond it.
    time_to_live max_hold = forever;
    // A mode that the service does not have fails with errc::unsupported.
    lock_mode mode = lock_mode::exclusive;
    // False: the hold has no token, and the service does not count.
    bool fenced = true;
    // Strict order: the earliest request of all processes is served first. Without it, a lock may
    // stay in one process for a few turns, and a newcomer may take a lock whose lease ran out. All
    // users of a name should set the same. Requests for reading and for permits queue in order
    // anyway, except in Redisson's layout. errc::unsupported: the service has no such order.
    bool fair = false;
    // With lock_mode::permits: the permits that this hold takes, 1 or more.
    std::uint32_t permits = 1;
    // With lock_mode::permits: the semaphore's total. The service keeps the total of the first
    // caller until `resize`; another total fails with errc::bad_option. 0: the stored total.
    std::uint32_t of = 0;
};

// Polling instead of queueing. A polling caller is not woken by a release and has no place in the
// queue. The first pause is `interval`, and each further one is `growth` times as long, up to
// `longest`. Each pause is shortened at random, to no less than half.
struct polling {
    std::uint32_t tries = 1;                             // in total, 1 or more
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
    polling retry{};
    std::uint32_t permits = 1;
    std::uint32_t of = 0;
};

// An implementation detail: the options of one attempt.
[[nodiscard]] constexpr lock_options once(const try_options& options) noexcept {
    return {.ttl = options.ttl,
            .wait = {},
            .max_hold = options.max_hold,
            .mode = options.mode,
            .fenced = options.fenced,
            .fair = options.fair,
            .permits = options.permits,
            .of = options.of};
}

// An implementation detail: one attempt for the same hold.
[[nodiscard]] constexpr try_options one_try(const lock_options& options) noexcept {
    return {.ttl = options.ttl,
            .max_hold = options.max_hold,
            .mode = options.mode,
            .fenced = options.fenced,
            .fair = options.fair,
            .permits = options.permits,
            .of = options.of};
}

static_assert(std::is_trivially_copyable_v<lock_options> &&
              std::is_trivially_copyable_v<try_options>);

}  // namespace pawl
