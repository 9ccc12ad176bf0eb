// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#pragma once

#include <pawl/guard/connection.hpp>

struct sqlite3;

namespace pawl::guard {

// Runs the first statement of the text. Throws `conflict` or another database_error.
[[nodiscard]] rows run_statement(sqlite3* handle, const statement& to_run);

}  // namespace pawl::guard
