// Numbers in what a server says; 0 where there is none.
#pragma once

#include "link.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>

namespace pawl::redis {

template <class Number = std::uint64_t>
[[nodiscard]] Number number(std::string_view digits) {
    Number value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
}

// Of an integer or of digits.
[[nodiscard]] inline std::int64_t number(const reply& from) {
    return from.what == reply::kind::integer ? from.number : number<std::int64_t>(from.text);
}

// A time that a server says, as far as one can reckon with: a century, before and after.
[[nodiscard]] inline std::chrono::milliseconds milliseconds_of(std::int64_t said) {
    constexpr std::int64_t century = 3'155'760'000'000;
    return std::chrono::milliseconds(std::clamp(said, -century, century));
}

}  // namespace pawl::redis
