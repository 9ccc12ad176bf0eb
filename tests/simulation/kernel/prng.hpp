// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A small random number generator with the same sequence on every platform.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace pawl::simulation {

// splitmix64, for which every seed is good.
class prng {
public:
    explicit prng(std::uint64_t seed) noexcept : state_(seed) {}

    std::uint64_t next() noexcept {
        auto z = state_ += 0x9E3779B97F4A7C15u;
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
        z = (z ^ z >> 27) * 0x94D049BB133111EBu;
        return z ^ z >> 31;
    }
    // Both limits are possible results.
    std::int64_t between(std::int64_t low, std::int64_t high) noexcept {
        return low +
               static_cast<std::int64_t>(next() % (static_cast<std::uint64_t>(high - low) + 1));
    }
    std::chrono::nanoseconds between(std::chrono::nanoseconds low,
                                     std::chrono::nanoseconds high) noexcept {
        return std::chrono::nanoseconds(between(low.count(), high.count()));
    }
    std::size_t below(std::size_t end) noexcept { return next() % end; }
    bool happens(double probability) noexcept {
        return static_cast<double>(next() >> 11) * 0x1p-53 < probability;
    }
    // An independent generator, so that one part's random choices do not shift another's.
    prng fork() noexcept { return prng(next()); }

private:
    std::uint64_t state_;
};

}  // namespace pawl::simulation
