// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Numbers as Redis reads and writes them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pawl::simulation {

// No blanks, no plus sign, no leading zeros.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text) noexcept;
// Throws `command_error`.
[[nodiscard]] std::int64_t to_integer(
    std::string_view text, const char* error = "ERR value is not an integer or out of range");
// Also "inf" and hexadecimal numbers. Throws `command_error`.
[[nodiscard]] double to_double(std::string_view text);
// A bound of a range of scores: "(1" excludes 1. Throws `command_error`.
struct score_bound {
    double score = 0;
    bool is_excluded = false;
};
[[nodiscard]] score_bound to_score_bound(std::string_view text);

// A number as text: "%.17g".
class number_text {
public:
    explicit number_text(double number) noexcept;
    [[nodiscard]] std::string_view view() const noexcept { return {text_.data(), size_}; }

private:
    std::array<char, 32> text_;
    std::size_t size_;
};

}  // namespace pawl::simulation
