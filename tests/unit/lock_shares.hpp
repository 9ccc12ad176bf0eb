// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Short names for the holders and waiters in tests of the rules of stores.
#pragma once

#include "core/store/queue_policy.hpp"

namespace store_tests {

inline constexpr pawl::core::lock_share writer{pawl::lock_mode::exclusive, 0};
inline constexpr pawl::core::lock_share reader{pawl::lock_mode::shared, 0};
[[nodiscard]] constexpr pawl::core::lock_share permits(std::uint32_t count) {
    return {pawl::lock_mode::permits, count};
}

}  // namespace store_tests
