// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// One text of SQL for all dialects.
#pragma once

#include <pawl/guard/connection.hpp>

#include <string_view>

namespace pawl::guard {

// The database's clock in µs since 1970, at this moment, and not at the transaction's beginning,
// where the database has both. No time zone of a session changes it.
[[nodiscard]] constexpr std::string_view clock_of(dialect spoken) {
    switch (spoken) {
    case dialect::postgres: return "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint";
    // Of the statement's beginning, as replication needs it.
    case dialect::mysql: return "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";
    case dialect::sqlite: break;
    }
    return "CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER)";
}

// The text has $1, $2 … for its parameters, {clock} for clock_of, and {larger} for the function
// that chooses the larger number. String parameters are bytes.
[[nodiscard]] statement in_dialect(dialect spoken, std::string_view text,
                                   std::vector<value> parameters);

// For parameters. Rounded up to a µs.
[[nodiscard]] constexpr std::int64_t microseconds(std::int64_t nanoseconds) {
    return nanoseconds / 1000 + (nanoseconds % 1000 > 0 ? 1 : 0);
}

}  // namespace pawl::guard
