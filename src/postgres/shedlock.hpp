// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// ShedLock's table in PostgreSQL: its statements and its check.
#pragma once

#include "connection.hpp"

#include "../sql/shedlock.hpp"

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace pawl::postgres {

// The table is that of checked options.
[[nodiscard]] sql::shedlock_statements shedlock_statements(const shedlock_table& table);
// Makes the table if it is missing, and grants a role what locks need.
[[nodiscard]] std::string shedlock_schema(const shedlock_table& table, std::string_view role);
// Throws errc::refused if the table is missing or has other columns. Returns the facts of a session
// whose waiters poll.
[[nodiscard]] boost::asio::awaitable<sql::session_facts> check_shedlock(
    std::shared_ptr<connection> session, const shedlock_table& table, runtime& time,
    time_point give_up_at);
// Counts the locks that began in the future, by a clock that is not the database's.
[[nodiscard]] std::string future_locks_query(const shedlock_table& table);

}  // namespace pawl::postgres
