// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// ShedLock's table in MariaDB and MySQL: its statements and its check.
#pragma once

#include "../sql/shedlock.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace pawl::mysql {

// The table is that of checked options; without a schema of its own it is in `schema`.
[[nodiscard]] sql::shedlock_statements shedlock_statements(const shedlock_table& table,
                                                           const std::string& schema);
// For the commands mariadb and mysql: makes the table if it is missing, and grants an account what
// locks need.
[[nodiscard]] std::string shedlock_script(const shedlock_table& table, const std::string& schema,
                                          std::string_view account);

// Of a session, in place of the server's defaults. The time zone stays the server's, as in the
// other programs: it decides what a TIMESTAMP column means.
[[nodiscard]] const std::vector<std::string>& shedlock_settings();
// Answers with the columns, as `check_shedlock` reads them.
[[nodiscard]] std::string shedlock_columns_query(const shedlock_table& table,
                                                 const std::string& schema);
// Throws errc::refused. Returns the longest name, in characters; 0: without a limit.
[[nodiscard]] std::int64_t check_shedlock(const std::vector<sql::row>& columns,
                                          const shedlock_table& table, const std::string& server);
// Answers with one row for `doctor`: the locks that began in the future by the database's clock,
// whether a TIMESTAMP column depends on a time zone other than UTC, and whether the column `name`
// takes two names for one.
[[nodiscard]] std::string shedlock_state_query(const shedlock_table& table,
                                               const std::string& schema);

}  // namespace pawl::mysql
