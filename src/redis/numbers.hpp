// Numbers in what a server says; 0 where there is none.
#pragma once

#include "link.hpp"

#include <charconv>

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

}  // namespace pawl::redis
