// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Durations as text, with the units of `parse_duration`: in messages, and as values of a URL's
// options.
#pragma once

#include <pawl/types.hpp>

#include <string>
#include <string_view>

namespace pawl::core {

// For messages: "1 min 30 s".
[[nodiscard]] std::string duration_text(duration length);

// The allowed durations of an option, both included.
struct duration_range {
    duration min;
    duration max;
    std::string_view text;  // for the message: "1ms to 10min"
};

// "500ms", "5s", "1h30m"; a bare number is milliseconds. Throws errc::bad_url for any other text,
// and for a duration out of range.
[[nodiscard]] duration parse_duration_option(std::string_view name, std::string_view value,
                                             const duration_range& range);

}  // namespace pawl::core
