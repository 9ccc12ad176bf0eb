// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What `SHOW GLOBAL VARIABLES` and `SHOW GLOBAL STATUS` tell of a server.
#pragma once

#include "../sql/session.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pawl::mysql {

using server_variables = std::map<std::string, std::string, std::less<>>;

[[nodiscard]] server_variables variables_in(const std::vector<sql::row>& rows);
// Empty for an unknown variable.
[[nodiscard]] const std::string& value_of(const server_variables& all, std::string_view name);

// `value` is that of the variable `read_only`, in a list or an expression.
[[nodiscard]] bool is_read_only(std::string_view value) noexcept;
// In seconds. Negative after a step of the clock back over the server's start.
[[nodiscard]] std::int64_t uptime_of(const server_variables& all);

[[nodiscard]] bool is_galera(const server_variables& all);
// The nodes of a cluster agree on each commit: one of two transactions that change the same row is
// rolled back. Each transaction that decides about a lock changes the lock's row, or the row that
// it decides about.
[[nodiscard]] bool is_cluster(const server_variables& all);
// Of the server that accepts writes. The nodes of a cluster are one server: they have the same
// tables.
[[nodiscard]] std::string identity_of(const server_variables& all);

}  // namespace pawl::mysql
