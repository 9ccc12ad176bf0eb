// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The failover epoch within a token. docs/backends/sentinel.md says why it is there.
#pragma once

#include <pawl/types.hpp>

#include <cstdint>

namespace pawl::redis {

// A token has 16 bits for the epoch above 47 bits for the counter. The counter's least value comes
// from the server's clock, which needs all of them in 2092.
inline constexpr unsigned epoch_shift = 47;

// All tokens of the epoch are above this one, and those of earlier epochs below it.
[[nodiscard]] constexpr std::int64_t epoch_base(std::uint64_t epoch) noexcept {
    return static_cast<std::int64_t>(epoch << epoch_shift);
}

}  // namespace pawl::redis
