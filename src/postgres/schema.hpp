// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The SQL that makes Pawl's tables and functions. Its sources are in the folder `schema`.
#pragma once

#include <string>
#include <string_view>

namespace pawl::postgres {

// The number of the schema's format, and of the functions' names.
inline constexpr int schema_format = 1;

// The statements, in their order. The schema is that of checked options.
[[nodiscard]] std::string schema_text(const std::string& schema);
// One statement that makes the tables and functions if they are missing.
[[nodiscard]] std::string make_schema_statement(const std::string& schema);
// Gives everything to an owner that cannot log in, and a role the rights that locks need.
[[nodiscard]] std::string rights_text(const std::string& schema, std::string_view role);

}  // namespace pawl::postgres
