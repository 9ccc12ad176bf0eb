// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "duration_text.hpp"

#include <pawl/error.hpp>
#include <pawl/options.hpp>
#include <pawl/parse_duration.hpp>

#include <array>
#include <charconv>
#include <cstdint>
#include <string>

namespace pawl {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view digits = "0123456789";

struct unit {
    std::string_view name;
    duration size;
};

constexpr std::array<unit, 6> units{
    {{"d", 24h}, {"h", 1h}, {"min", 1min}, {"m", 1min}, {"s", 1s}, {"ms", 1ms}}};

std::optional<duration> size_of(std::string_view name) {
    for (const unit& each : units) {
        if (each.name == name) return each.size;
    }
    return {};
}

// Removes the first part, such as "30s", from `text`. `forever` for a part that is too long.
std::optional<duration> take_part(std::string_view& text) {
    std::uint64_t count = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (problem == std::errc::invalid_argument) return {};
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));

    const auto letters = text.substr(0, text.find_first_of(digits));
    const auto size = size_of(letters);
    text.remove_prefix(letters.size());
    if (!size) return {};
    const bool fits =
        problem == std::errc{} && count <= static_cast<std::uint64_t>(forever / *size);
    return fits ? *size * static_cast<std::int64_t>(count) : forever;
}

// The sum of the parts; `forever` if it is too long. No sum of whole milliseconds has that length.
std::optional<duration> sum_of(std::string_view text) {
    if (text.empty()) return {};
    duration sum{};
    while (!text.empty()) {
        const auto part = take_part(text);
        if (!part) return {};
        sum = *part > forever - sum ? forever : sum + *part;
    }
    return sum;
}

}  // namespace

std::optional<duration> parse_duration(std::string_view text) {
    if (text == "forever") return forever;
    if (text == "0") return duration::zero();
    const auto sum = sum_of(text);
    return sum == forever ? std::nullopt : sum;
}

std::string core::duration_text(duration length) {
    if (length == forever) return "forever";
    if (length < 0ms) return "less than 0";
    std::string text;
    for (const unit& each : units) {
        if (length < each.size) continue;
        if (!text.empty()) text += ' ';
        text += std::to_string(length / each.size) + ' ' + std::string(each.name);
        length %= each.size;
    }
    return text.empty() ? "0 ms" : text;
}

duration core::parse_duration_option(std::string_view name, std::string_view value,
                                     const duration_range& range) {
    std::string text(value);
    if (!text.empty() && text.find_first_not_of(digits) == std::string::npos) text += "ms";
    const auto parsed = text == "forever" ? forever : sum_of(text);
    const auto option = "The URL's option " + std::string(name) + "=" + std::string(value);
    if (!parsed)
        throw error(errc::bad_url, option +
                                       " is not a duration; give one such as 500ms, 5s or 2min (a "
                                       "bare number is milliseconds), from " +
                                       std::string(range.text) + ".");
    if (*parsed < range.min || *parsed > range.max)
        throw error(errc::bad_url,
                    option + " is out of range; give " + std::string(range.text) + ".");
    return *parsed;
}

}  // namespace pawl
