// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include <pawl/guard/connection.hpp>

#include <charconv>

namespace pawl::guard {

std::int64_t as_number(const value& field) {
    if (const auto* number = std::get_if<std::int64_t>(&field)) return *number;
    const auto* text = std::get_if<std::string>(&field);
    if (text == nullptr) throw std::invalid_argument("The value is NULL, and not a number.");
    std::int64_t number = 0;
    const auto* end = text->data() + text->size();
    const auto parsed = std::from_chars(text->data(), end, number);
    if (parsed.ec != std::errc() || parsed.ptr != end)
        throw std::invalid_argument("The value is a text, and not a number of 64 bits.");
    return number;
}

std::string as_string(const value& field) {
    if (const auto* text = std::get_if<std::string>(&field)) return *text;
    if (const auto* number = std::get_if<std::int64_t>(&field)) return std::to_string(*number);
    return {};
}

}  // namespace pawl::guard
