// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "utf8.hpp"

#include <algorithm>
#include <array>

namespace pawl::cli {

namespace {

struct range {
    char32_t first;
    char32_t last;
};

// Unicode's control characters (Cc), separators of lines and paragraphs (Zl, Zp), and the invisible
// ones among its format characters (Cf).
constexpr std::array<range, 15> deceptive{{{0x0000, 0x001F},
                                           {0x007F, 0x009F},
                                           {0x00AD, 0x00AD},
                                           {0x061C, 0x061C},
                                           {0x180E, 0x180E},
                                           {0x200B, 0x200F},
                                           {0x2028, 0x202E},
                                           {0x2060, 0x206F},
                                           {0x3164, 0x3164},
                                           {0xFEFF, 0xFEFF},
                                           {0xFFA0, 0xFFA0},
                                           {0xFFF9, 0xFFFB},
                                           {0x1BCA0, 0x1BCA3},
                                           {0x1D173, 0x1D17A},
                                           {0xE0000, 0xE0FFF}}};

std::size_t length_of(unsigned char first) {
    if (first < 0x80U) return 1;
    if (first >= 0xC2U && first <= 0xDFU) return 2;
    if (first >= 0xE0U && first <= 0xEFU) return 3;
    return first >= 0xF0U && first <= 0xF4U ? 4 : 0;
}

}  // namespace

code_point first_code_point(std::string_view text) noexcept {
    static constexpr std::array<char32_t, 5> first_bits{0, 0x7F, 0x1F, 0x0F, 0x07};
    static constexpr std::array<char32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t bytes = length_of(first);
    if (bytes == 0 || bytes > text.size()) return {};
    char32_t value = first & first_bits[bytes];
    for (std::size_t i = 1; i < bytes; ++i) {
        const auto next = static_cast<unsigned char>(text[i]);
        if ((next & 0xC0U) != 0x80U) return {};
        value = (value << 6U) | (next & 0x3FU);
    }
    const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
    if (value < smallest[bytes] || value > 0x10FFFF || surrogate) return {};
    return {.value = value, .bytes = bytes};
}

bool is_deceptive(char32_t value) noexcept {
    return std::any_of(deceptive.begin(), deceptive.end(), [value](const range& each) {
        return value >= each.first && value <= each.last;
    });
}

}  // namespace pawl::cli
