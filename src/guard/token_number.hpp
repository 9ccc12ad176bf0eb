// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Fencing tokens as numbers that a resource stores.
#pragma once

#include <pawl/types.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace pawl::guard {

// Throws errc::bad_option for the empty token, and for one of more than 63 bits.
[[nodiscard]] std::int64_t token_number(fencing_token token);

// The decimal digits of a token, as to_string writes them; nothing for any other text.
[[nodiscard]] std::optional<fencing_token> parse_token(std::string_view digits) noexcept;

}  // namespace pawl::guard
