// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The end of a wait or of a lease that may have no limit.
#pragma once

#include "spi.hpp"

namespace pawl::core {

// The sum, without an overflow: `more` may be `forever`.
[[nodiscard]] inline time_point plus(time_point when, duration more) noexcept {
    return more >= time_point::max() - when ? time_point::max() : when + more;
}

}  // namespace pawl::core
