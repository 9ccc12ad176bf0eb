// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The ttls that requests about a lease ask for, and when an unanswered one is repeated.
#pragma once

#include "lease.hpp"

#include <algorithm>

namespace pawl::core {

// The ttl that a service gets for this one: rounded up to the service's unit, and at least its
// least ttl. A hold must not end earlier at the service than its client believes.
[[nodiscard]] constexpr duration service_ttl(duration ttl,
                                             const capabilities& capabilities) noexcept {
    const auto unit = capabilities.ttl_granularity;
    const auto units = ttl / unit + (ttl % unit > duration{} ? 1 : 0);
    return std::max<duration>(units * unit, capabilities.least_ttl);
}

// The pause before an unanswered renewal is repeated: a twentieth of the ttl, or the shorter pause
// of a confirmation. In a claim window, which can be shorter than that, it is at most a quarter of
// what is left of the window, or 50 ms if that is more.
[[nodiscard]] inline duration retry_pause(const lease& lease, time_point now) {
    auto pause = lease.granted_hold().claim.ttl / 20;
    if (lease.in_keeper.confirmation_pause > duration{})
        pause = std::min(pause, lease.in_keeper.confirmation_pause);
    if (lease.granted_hold().grant.needs_renewal)
        pause = std::min<duration>(
            pause, std::max<duration>((lease.deadline() - now) / 4, std::chrono::milliseconds(50)));
    return std::max<duration>(pause, std::chrono::milliseconds(5));
}

// The ttl of the next renewal: shorter if the lease would last beyond the end of `max_hold`.
[[nodiscard]] inline duration renewal_ttl(const lease& lease, time_point now,
                                          const capabilities& capabilities) {
    const auto ttl = lease.granted_hold().claim.ttl;
    const auto left =
        std::max<duration>(lease.end_of_max_hold() - now, std::chrono::milliseconds(1));
    return left < ttl ? std::min(ttl, service_ttl(left + drift(ttl), capabilities)) : ttl;
}

}  // namespace pawl::core
