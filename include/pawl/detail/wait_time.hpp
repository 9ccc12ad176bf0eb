// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// An implementation detail: how functions such as `try_lock_for` convert the caller's times.
// Standard headers only.
#pragma once

#include <pawl/options.hpp>

#include <chrono>
#include <cmath>
#include <ratio>

namespace pawl {

// The wait in nanoseconds, rounded up. `forever` for 146 years or more; 0 for a negative wait and
// for NaN.
template <class Rep, class Period>
[[nodiscard]] duration wait_time(const std::chrono::duration<Rep, Period>& wait) {
    using exact = std::chrono::duration<long double, std::nano>;
    const exact requested(wait);
    if (!(requested.count() > 0)) return {};
    if (requested >= exact(forever / 2)) return forever;
    return duration(static_cast<duration::rep>(std::ceil(requested.count())));
}

// The time from now until `when`, by that clock; converted as above.
template <class Clock, class Duration>
[[nodiscard]] duration wait_time_until(const std::chrono::time_point<Clock, Duration>& when) {
    using exact = std::chrono::duration<long double, std::nano>;
    return wait_time(exact(when.time_since_epoch()) - exact(Clock::now().time_since_epoch()));
}

}  // namespace pawl
