// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The options and the state of a latch or barrier. Standard headers only.
#pragma once

#include <pawl/types.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <type_traits>

namespace pawl {

// The settings of a latch or barrier.
struct latch_options {
    // The service forgets a latch that was not changed for this time: 1 s to 366 days. Waiters and
    // later callers then get errc::lost. Redisson's layout ignores it and forgets nothing.
    duration ttl = std::chrono::hours(24);
};
static_assert(std::is_trivially_copyable_v<latch_options>);

// The number of a barrier's phase, from `arrive`. Later phases have larger numbers.
enum class phase : std::uint64_t {};

// The state of a latch or barrier. For display only: the report is outdated when it arrives.
struct latch_info {
    std::string name;              // of the latch
    bool known = false;            // false: it was never set, was reset, or is forgotten
    std::uint64_t count = 0;       // the steps that are missing
    std::uint64_t generation = 0;  // its number; grows; 0 in Redisson's layout, which has none
    std::uint32_t parties = 0;     // of a barrier; 0 for a latch
    std::uint64_t waiters = 0;     // on Redis, the clients that wait
    duration remaining{};          // until the service forgets it; `forever` if it never does
};

}  // namespace pawl
