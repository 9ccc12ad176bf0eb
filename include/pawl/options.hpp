// How a lock is asked for. Both structs are trivially copyable on purpose: see docs/internals.md,
// "Coroutines and compilers".
#pragma once

#include <pawl/types.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace pawl {

inline constexpr duration forever = duration::max();

// A duration whose unit was said: `{.ttl = 30s}`; `{.ttl = 30}` does not compile.
struct time_to_live : duration {
    constexpr time_to_live() noexcept = default;
    template <class Rep, class Period>
        requires std::convertible_to<std::chrono::duration<Rep, Period>, duration>
    // NOLINTNEXTLINE(google-explicit-constructor): options are written as durations
    constexpr time_to_live(std::chrono::duration<Rep, Period> time) noexcept : duration(time) {}
    template <class Number>
        requires std::is_arithmetic_v<Number>
    // NOLINTNEXTLINE(google-explicit-constructor): so that a bare number is refused with a sentence
    constexpr time_to_live(Number) noexcept {
        static_assert(
            !std::is_arithmetic_v<Number>,
            "A ttl, or a max_hold, needs its unit: write 30s or 500ms, with `using namespace "
            "std::chrono_literals`, not a bare number.");
    }
};

struct lock_options {
    // The lease: a holder that dies frees the lock after this long. 10 ms to 24 h.
    time_to_live ttl = std::chrono::seconds(30);
    // How long `acquire` may wait, for the lock and for a service that is away; 0 asks once;
    // `try_acquire` ignores it. A service that is silent at the end may take its reply timeout
    // longer. Where the service is away at the end, the error is errc::unreachable.
    duration wait = forever;
    // The longest total hold; renewal stops so that the lease ends then. `forever`: no limit.
    time_to_live max_hold = forever;
    lock_mode mode = lock_mode::exclusive;
    // False saves the service the work of counting; the hold then has no token.
    bool fenced = true;
    // Strict: whoever asked earlier, in any process, goes first. Without it a lock may stay within
    // a process for a few turns, and one that ran out may be taken by a newcomer. All users of the
    // name should say the same. Readers and holders of permits stand in line in any case.
    bool fair = false;
    // With lock_mode::permits: how many this hold takes, and how many there are. The service keeps
    // the number of the first who says it, until `resize`; 0: as the service has it.
    std::uint32_t permits = 1;
    std::uint32_t of = 0;
};

// For who would rather ask again than stand in line: nobody wakes them, and nobody keeps their
// turn. The pause before another try is `interval`, then `growth` times the one before, up to
// `longest`, each shortened by chance to no less than half.
struct polling {
    std::uint32_t tries = 1;  // 1 asks once
    duration interval = std::chrono::milliseconds(100);
    double growth = 2;
    duration longest = std::chrono::seconds(5);
};

struct try_options {
    time_to_live ttl = std::chrono::seconds(30);
    time_to_live max_hold = forever;
    lock_mode mode = lock_mode::exclusive;
    bool fenced = true;
    bool fair = false;  // does not take a free lock past somebody who waits for it
    polling retry{};
    std::uint32_t permits = 1;
    std::uint32_t of = 0;
};

// What a single try asks for.
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

// The same hold, asked for by a single try.
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
