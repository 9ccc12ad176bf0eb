// Text that others have written, byte by byte.
#pragma once

#include <cstddef>
#include <string_view>

namespace pawl::cli {

struct code_point {
    char32_t value = 0;
    std::size_t bytes = 0;  // 0: these bytes are no UTF-8 (RFC 3629)
};
// The first one of a text that is not empty.
[[nodiscard]] code_point first_code_point(std::string_view text) noexcept;

// Whether it is shown as something else than itself: it steers the terminal, breaks the line, turns
// the direction of what stands around it, or cannot be seen.
[[nodiscard]] bool is_deceptive(char32_t value) noexcept;

}  // namespace pawl::cli
