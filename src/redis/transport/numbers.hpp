// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Numbers in requests and replies. Without a number in a reply, the result is 0.
#pragma once

#include "link.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string>
#include <string_view>

namespace pawl::redis {

template <class Number = std::uint64_t>
[[nodiscard]] Number parse_number(std::string_view digits) {
    Number value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
}

// For an integer reply, or a string of digits.
[[nodiscard]] inline std::int64_t parse_number(const reply& value) {
    return value.type == reply::kind::integer ? value.number
                                              : parse_number<std::int64_t>(value.text);
}

// A time from a server, limited to a century in both directions, so that arithmetic with the result
// cannot overflow.
[[nodiscard]] inline std::chrono::milliseconds milliseconds_of(std::int64_t count) {
    constexpr std::int64_t century = 3'155'760'000'000;
    return std::chrono::milliseconds(std::clamp(count, -century, century));
}

// As the scripts expect it: whole milliseconds, rounded up.
[[nodiscard]] inline std::string milliseconds_text(duration time_span) {
    return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(time_span).count());
}

}  // namespace pawl::redis
