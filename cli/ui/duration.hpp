// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Durations as text, for people.
#pragma once

#include <pawl/types.hpp>

#include <string>
#include <string_view>

namespace pawl::cli {

// As parse_duration, for the value of an option. Throws a usage failure that names the option.
[[nodiscard]] duration duration_option(std::string_view option, std::string_view text);

// As duration_option, for a time that has an end. `range` is for the message: "10ms to 24h".
[[nodiscard]] duration finite_option(std::string_view option, std::string_view text,
                                     std::string_view range);

// The rest of a time that began at `since`; 0 if the time is over.
[[nodiscard]] duration remaining_of(duration whole, time_point since);

// The sum without overflow: time_point::max() if `more` is `forever` or nearly so.
[[nodiscard]] time_point saturated_sum(time_point when, duration more);

// At most two units: "850 ms", "29 s", "3 min 5 s", "2 h".
[[nodiscard]] std::string format_readable(duration length);

// With milliseconds: "1 s 500 ms".
[[nodiscard]] std::string format_exact(duration length);

// One unit and three digits, for measurements: "43.1 µs".
[[nodiscard]] std::string format_measured(duration length);

}  // namespace pawl::cli
