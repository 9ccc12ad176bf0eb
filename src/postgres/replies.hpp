// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The server's replies to queries of Pawl that are not calls of the schema's functions.
#pragma once

#include "server_errors.hpp"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::postgres {

// 0 for NULL, and for what is no number.
[[nodiscard]] inline std::int64_t number_or_0(const std::optional<std::string>& column) noexcept {
    std::int64_t number = 0;
    if (column) std::from_chars(column->data(), column->data() + column->size(), number);
    return number;
}

[[nodiscard]] inline error strange_reply(const error_place& place,
                                         std::string_view to = "a query") {
    return {errc::protocol, place.server + " sent an unexpected reply to " + std::string(to) + "."};
}

}  // namespace pawl::postgres
