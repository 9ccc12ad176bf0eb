// What the members in the standard's shape make of the caller's waits. Standard headers only.
#pragma once

#include <pawl/options.hpp>

#include <chrono>
#include <cmath>
#include <ratio>

namespace pawl {

// Rounded up; `forever` where it is longer than 146 years, also where it is too long for
// nanoseconds; none where it is not above 0, or not a number.
template <class Rep, class Period>
[[nodiscard]] duration wait_time(const std::chrono::duration<Rep, Period>& wait) {
    using exact = std::chrono::duration<long double, std::nano>;
    const exact asked(wait);
    if (!(asked.count() > 0)) return {};
    if (asked >= exact(forever / 2)) return forever;
    return duration(static_cast<duration::rep>(std::ceil(asked.count())));
}

template <class Clock, class Duration>
[[nodiscard]] duration wait_until_time(const std::chrono::time_point<Clock, Duration>& when) {
    using exact = std::chrono::duration<long double, std::nano>;
    return wait_time(exact(when.time_since_epoch()) - exact(Clock::now().time_since_epoch()));
}

}  // namespace pawl
