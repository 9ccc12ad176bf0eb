// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "duration.hpp"

#include "failure.hpp"

#include <pawl/options.hpp>
#include <pawl/parse_duration.hpp>

#include <algorithm>
#include <array>
#include <cstdio>

namespace pawl::cli {

namespace {

using namespace std::chrono_literals;

struct unit {
    std::string_view name;
    duration size;
};

// Numbers and units only, so the sum is too long: with 1 in place of each number it is not.
bool is_too_long(std::string_view text) {
    if (text == "forever") return false;
    std::string shape;
    for (const char each : text) {
        const bool is_digit = each >= '0' && each <= '9';
        if (!is_digit || !shape.ends_with('1')) shape += is_digit ? '1' : each;
    }
    return parse_duration(shape).has_value();
}

// For a text that parse_duration does not read.
[[noreturn]] void refuse(std::string_view option, std::string_view text, std::string_view examples,
                         std::string_view range) {
    const auto refused = "'" + std::string(text) + "' ";
    const auto of_option = " for " + std::string(option);
    if (is_too_long(text))
        throw failure(exit_code::usage,
                      refused + "is too long" + of_option + "; use " + std::string(range) + ".");
    auto reason = "is not a duration" + of_option;
    if (!text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos)
        reason = "has no unit, which " + std::string(option) + " needs";
    else if (text.find_first_of(".,") != std::string_view::npos)
        reason = "has a fraction, which " + std::string(option) + " does not accept";
    throw failure(exit_code::usage,
                  refused + reason + "; write it like " + std::string(examples) + ".");
}

// The largest number of whole days in a duration.
constexpr const char* unlimited_range = "0 to 106751d, or forever";

}  // namespace

duration duration_option(std::string_view option, std::string_view text) {
    if (const auto parsed = parse_duration(text)) return *parsed;
    refuse(option, text, "500ms, 30s, 2min, 1h30m, 0 or forever", unlimited_range);
}

duration finite_option(std::string_view option, std::string_view text, std::string_view range) {
    const auto parsed = parse_duration(text);
    if (!parsed || *parsed == forever) refuse(option, text, "500ms, 30s, 2min or 1h30m", range);
    return *parsed;
}

duration remaining_of(duration whole, time_point since) {
    return whole == forever ? forever : std::max<duration>(0s, whole - (boot_clock::now() - since));
}

time_point saturated_sum(time_point when, duration more) {
    return more >= time_point::max() - when ? time_point::max() : when + more;
}

std::string format_readable(duration length) {
    if (length == forever) return "forever";
    if (length < 0s) return "0 s";
    if (length < 1s) return std::to_string(length / 1ms) + " ms";
    constexpr std::array<unit, 4> steps{{{" d", 24h}, {" h", 1h}, {" min", 1min}, {" s", 1s}}};
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (length < steps[i].size) continue;
        std::string text = std::to_string(length / steps[i].size).append(steps[i].name);
        const duration rest = length % steps[i].size;
        if (i + 1 < steps.size() && rest >= steps[i + 1].size) {
            text.append(" ")
                .append(std::to_string(rest / steps[i + 1].size))
                .append(steps[i + 1].name);
        }
        return text;
    }
    return "0 s";
}

std::string format_exact(duration length) {
    if (length == forever) return "forever";
    constexpr std::array<unit, 5> steps{
        {{" d", 24h}, {" h", 1h}, {" min", 1min}, {" s", 1s}, {" ms", 1ms}}};
    std::string text;
    for (const unit& each : steps) {
        if (length < each.size) continue;
        text.append(text.empty() ? "" : " ").append(std::to_string(length / each.size));
        text.append(each.name);
        length %= each.size;
    }
    return text.empty() ? "0 ms" : text;
}

std::string format_measured(duration length) {
    constexpr std::array<unit, 4> steps{{{"s", 1s}, {"ms", 1ms}, {"µs", 1us}, {"ns", 1ns}}};
    for (const unit& each : steps) {
        if (length < each.size && each.size > 1ns) continue;
        const double value =
            static_cast<double>(length.count()) / static_cast<double>(each.size.count());
        std::array<char, 32> text{};
        const int digits = value >= 100 || each.size == 1ns ? 0 : value >= 10 ? 1 : 2;
        std::snprintf(text.data(), text.size(), "%.*f ", digits, value);
        return std::string(text.data()).append(each.name);
    }
    return "0 ns";
}

}  // namespace pawl::cli
