// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One text of SQL for all dialects.
#pragma once

#include <pawl/guard/connection.hpp>

#include <string_view>

namespace pawl::guard {

// The text has $1, $2 … for its parameters, {clock} for the database's clock in µs since 1970, and
// {larger} for its function that chooses the larger number. The clock is that of the moment, not of
// the transaction's beginning, where the database has both. String parameters are bytes.
[[nodiscard]] statement in_dialect(dialect spoken, std::string_view text,
                                   std::vector<value> parameters);

// For parameters. Rounded up to a µs.
[[nodiscard]] constexpr std::int64_t microseconds(std::int64_t nanoseconds) {
    return nanoseconds / 1000 + (nanoseconds % 1000 > 0 ? 1 : 0);
}

}  // namespace pawl::guard
