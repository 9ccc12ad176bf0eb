// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "numbers.hpp"

#include "store.hpp"

#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace pawl::simulation {
namespace {

// Every integer below it is exact in a double and has fewer digits than "%.17g" shows.
constexpr double exact_integers = 9'007'199'254'740'992.0;

bool has_canonical_digits(std::string_view digits) noexcept {
    return !digits.empty() && digits.front() >= '1' && digits.front() <= '9';
}

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view text) noexcept {
    if (text == "0") return 0;
    if (!has_canonical_digits(text.starts_with('-') ? text.substr(1) : text)) return std::nullopt;
    std::int64_t number = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
    return number;
}

std::int64_t to_integer(std::string_view text, const char* error) {
    const auto number = parse_integer(text);
    if (!number) throw command_error(error);
    return *number;
}

double to_double(std::string_view text) {
    if (text.size() < 16)
        if (const auto integer = parse_integer(text)) return static_cast<double>(*integer);
    const std::string terminated(text);
    errno = 0;
    char* end = nullptr;
    const auto number = std::strtod(terminated.c_str(), &end);
    const bool is_whole = !text.empty() && end == terminated.c_str() + terminated.size() &&
                          std::isspace(static_cast<unsigned char>(text.front())) == 0;
    const bool out_of_range = errno == ERANGE && (std::isinf(number) || number == 0);
    if (!is_whole || out_of_range || std::isnan(number))
        throw command_error("ERR value is not a valid float");
    return number;
}

score_bound to_score_bound(std::string_view text) {
    const bool is_excluded = text.starts_with('(');
    const std::string terminated(text.substr(is_excluded ? 1 : 0));
    char* end = nullptr;
    const auto score = std::strtod(terminated.c_str(), &end);
    if (*end != '\0' || std::isnan(score)) throw command_error("ERR min or max is not a float");
    return {score, is_excluded};
}

number_text::number_text(double number) noexcept {
    if (std::isinf(number)) {
        size_ = static_cast<std::size_t>(
            std::snprintf(text_.data(), text_.size(), "%s", number > 0 ? "inf" : "-inf"));
    } else if (std::abs(number) < exact_integers && std::trunc(number) == number &&
               !(number == 0 && std::signbit(number))) {
        const auto [end, error] = std::to_chars(text_.data(), text_.data() + text_.size(),
                                                static_cast<std::int64_t>(number));
        size_ = static_cast<std::size_t>(end - text_.data());
    } else {
        size_ =
            static_cast<std::size_t>(std::snprintf(text_.data(), text_.size(), "%.17g", number));
    }
}

}  // namespace pawl::simulation
