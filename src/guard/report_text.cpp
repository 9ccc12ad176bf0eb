// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "report_text.hpp"

#include <array>
#include <cstdint>
#include <cstdio>

namespace pawl::guard {
namespace {

// The bytes of the first character, and its number; no bytes if it is not UTF-8 (RFC 3629).
struct character {
    std::size_t bytes = 0;
    std::uint32_t number = 0;
};

character first_character(std::string_view text) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned lead = byte(0);
    const std::size_t size = lead < 0x80                   ? 1
                             : lead >= 0xc2 && lead < 0xe0 ? 2
                             : lead >= 0xe0 && lead < 0xf0 ? 3
                             : lead >= 0xf0 && lead < 0xf5 ? 4
                                                           : 0;
    if (size == 0 || size > text.size()) return {};
    std::uint32_t number = size == 1 ? lead : lead & (0x7fU >> size);
    for (std::size_t i = 1; i < size; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return {};
        number = number << 6 | (byte(i) & 0x3fU);
    }
    constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
    const bool is_surrogate = number >= 0xd800 && number < 0xe000;
    if (number < least[size] || number > 0x10ffff || is_surrogate) return {};
    return {size, number};
}

bool is_control(std::uint32_t number) noexcept {
    return number < 0x20 || (number >= 0x7f && number < 0xa0);
}

std::string in_hex(const char* format, std::uint32_t number) {
    std::array<char, 16> text{};
    const int size = std::snprintf(text.data(), text.size(), format, number);
    return {text.data(), static_cast<std::size_t>(size)};
}

}  // namespace

std::string json_text(std::string_view bytes) {
    std::string text = "\"";
    while (!bytes.empty()) {
        const auto [size, number] = first_character(bytes);
        if (size == 0)
            text += "\xef\xbf\xbd";
        else if (number == '"' || number == '\\')
            (text += '\\') += static_cast<char>(number);
        else if (is_control(number))
            text += in_hex("\\u%04x", number);
        else
            text += bytes.substr(0, size);
        bytes.remove_prefix(size == 0 ? 1 : size);
    }
    return text + '"';
}

std::string plain_text(std::string_view bytes) {
    std::string text;
    while (!bytes.empty()) {
        const auto [size, number] = first_character(bytes);
        if (size == 0 || is_control(number))
            text += in_hex("\\x%02x", static_cast<unsigned char>(bytes.front()));
        else
            text += bytes.substr(0, size);
        bytes.remove_prefix(size == 0 || is_control(number) ? 1 : size);
    }
    return text;
}

std::string utc_text(std::chrono::system_clock::time_point when) {
    const auto ms = std::chrono::floor<std::chrono::milliseconds>(when);
    const auto day = std::chrono::floor<std::chrono::days>(ms);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss time(ms - day);
    std::array<char, 48> text{};
    const int size = std::snprintf(
        text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ",
        static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
        static_cast<unsigned>(date.day()), static_cast<int>(time.hours().count()),
        static_cast<int>(time.minutes().count()), static_cast<int>(time.seconds().count()),
        static_cast<int>(time.subseconds().count()));
    return {text.data(), static_cast<std::size_t>(size)};
}

}  // namespace pawl::guard
