// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#pragma once

#include <pawl/types.hpp>

namespace pawl::core {

// The end of a lease that begins now, without an overflow: the ttl may be `forever`.
[[nodiscard]] inline time_point lease_end(time_point now, duration ttl) noexcept {
    return ttl >= time_point::max() - now ? time_point::max() : now + ttl;
}

}  // namespace pawl::core
