// How a lock is asked for. Both structs are trivially copyable on purpose: see docs/internals.md,
// "Coroutines and compilers".
#pragma once

#include <pawl/types.hpp>

#include <cstdint>
#include <type_traits>

namespace pawl {

inline constexpr duration forever = duration::max();

struct lock_options {
    // The lease: a holder that dies frees the lock after this long. 10 ms to 24 h.
    duration ttl = std::chrono::seconds(30);
    // How long `acquire` may wait; 0 asks once; `try_acquire` ignores it.
    duration wait = forever;
    // The longest total hold; renewal stops so that the lease ends then. `forever`: no limit.
    duration max_hold = forever;
    lock_mode mode = lock_mode::exclusive;
    // False saves the service the work of counting; the hold then has no token.
    bool fenced = true;
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
    duration ttl = std::chrono::seconds(30);
    duration max_hold = forever;
    lock_mode mode = lock_mode::exclusive;
    bool fenced = true;
    polling retry{};
};

static_assert(std::is_trivially_copyable_v<lock_options> &&
              std::is_trivially_copyable_v<try_options>);

}  // namespace pawl
