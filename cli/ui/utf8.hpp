// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// UTF-8 text of other users, decoded by code points.
#pragma once

#include <cstddef>
#include <string_view>

namespace pawl::cli {

struct code_point {
    char32_t value = 0;
    std::size_t bytes = 0;  // 0 if these bytes are not UTF-8 (RFC 3629)
};
// The first code point of a text that is not empty.
[[nodiscard]] code_point first_code_point(std::string_view text) noexcept;

// Whether a terminal shows the character as something else: it controls the terminal, breaks the
// line, changes the direction of the text around it, or is invisible.
[[nodiscard]] bool is_deceptive(char32_t value) noexcept;

}  // namespace pawl::cli
