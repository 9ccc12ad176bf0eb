// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The SQL that makes Pawl's tables and procedures. Its sources are in the folder `schema`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pawl::mysql {

// The number of the schema's format, and of the procedures' names.
inline constexpr int schema_format = 1;

// The statements, in their order. They may be repeated after a failure in between: MariaDB and
// MySQL have no transactions for tables. The last one says that the schema is complete. `definer`
// is an account as SQL has it; empty: the user that runs them. `or_replace` is for MariaDB only:
// two clients on two nodes of a cluster may then run them at once.
[[nodiscard]] std::vector<std::string> schema_statements(const std::string& schema,
                                                         std::string_view definer = {},
                                                         bool or_replace = false);
// In the order of a first use, without the procedures that are there already. The procedures come
// first: an account that may not make them, which is usual, has then made no table.
[[nodiscard]] std::vector<std::string> statements_without(
    std::vector<std::string> statements, const std::vector<std::string>& present_procedures);
// A table with the name of one of Pawl's in a database that has not Pawl's first one; or empty.
[[nodiscard]] std::string foreign_table(const std::vector<std::string>& present_tables);
// The statements for an administrator's command. With an account, also its rights; see schema_of.
[[nodiscard]] std::string schema_script(const std::string& schema, std::string_view account);
// 'user'@'host' for "user@host", and 'user'@'%' for "user".
[[nodiscard]] std::string account_text(std::string_view account);
// Throws errc::bad_option for an account that cannot be named: "user" or "user@host".
void check_account(std::string_view account);

}  // namespace pawl::mysql
