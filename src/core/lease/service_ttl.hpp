// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The ttl that a service gets for a requested one.
#pragma once

#include "../util/spi.hpp"

#include <algorithm>

namespace pawl::core {

// Rounded up to the service's unit, and at least its least ttl: a hold must not end earlier at the
// service than its client believes.
[[nodiscard]] constexpr duration service_ttl(duration ttl,
                                             const capabilities& capabilities) noexcept {
    const auto unit = capabilities.ttl_granularity;
    const auto units = ttl / unit + (ttl % unit > duration{} ? 1 : 0);
    return std::max<duration>(units * unit, capabilities.least_ttl);
}

}  // namespace pawl::core
