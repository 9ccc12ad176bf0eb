// Durations as people write and read them.
#pragma once

#include <pawl/types.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace pawl::cli {

// 500ms, 30s, 2min or 2m, 1h, 1h30m, 1d, 0, forever. Empty for everything else.
[[nodiscard]] std::optional<duration> parse_duration(std::string_view text);

// The same for an option's value; throws a usage failure that names the option.
[[nodiscard]] duration duration_option(std::string_view option, std::string_view text);

// The same for a time that must be longer than 0 and must end.
[[nodiscard]] duration finite_option(std::string_view option, std::string_view text);

// What is left of a time that began `since`; 0 when it is over.
[[nodiscard]] duration rest_of(duration whole, time_point since);

// Without running over; the end of time where `more` is `forever` or nearly so.
[[nodiscard]] time_point plus(time_point when, duration more);

// Two units at the most, for people: "850 ms", "29 s", "3 min 5 s", "2 h".
[[nodiscard]] std::string readable(duration what);

// To the millisecond: "1 s 500 ms".
[[nodiscard]] std::string exact(duration what);

// One unit with three digits, for measurements: "43.1 µs".
[[nodiscard]] std::string measured(duration what);

}  // namespace pawl::cli
