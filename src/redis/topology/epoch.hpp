// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The epoch within a token: the config epoch of the Sentinels, or of the node that has the lock's
// slot. docs/backends/sentinel.md and cluster.md say why it is there.
#pragma once

#include <pawl/types.hpp>

#include <cstdint>

namespace pawl::redis {

// A token has 16 bits for the epoch above 47 bits for the counter. The counter's least value comes
// from the server's clock, which needs all of them in 2092.
inline constexpr unsigned epoch_shift = 47;
// Servers with a higher epoch are refused.
inline constexpr std::uint64_t max_epoch = 65535;

// All tokens of the epoch are above this one, and those of earlier epochs below it.
[[nodiscard]] constexpr std::int64_t epoch_base(std::uint64_t epoch) noexcept {
    return static_cast<std::int64_t>(epoch << epoch_shift);
}

}  // namespace pawl::redis
