// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#pragma once

#include <pawl/options.hpp>

namespace pawl::simulation {

// The same options without `wait`, for one attempt.
[[nodiscard]] constexpr try_options to_try_options(const lock_options& options) noexcept {
    return {.ttl = options.ttl,
            .max_hold = options.max_hold,
            .mode = options.mode,
            .fenced = options.fenced,
            .fair = options.fair,
            .permits = options.permits,
            .total_permits = options.total_permits,
            .durable = options.durable};
}

}  // namespace pawl::simulation
