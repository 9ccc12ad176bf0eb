// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The statements of a transaction, in each dialect.
#pragma once

#include <pawl/error.hpp>
#include <pawl/guard/connection.hpp>

namespace pawl::guard {

[[nodiscard]] statement begin_statement(dialect spoken);
[[nodiscard]] error open_transaction_error();
[[nodiscard]] error ended_transaction_error();
[[nodiscard]] error left_transaction_error();

}  // namespace pawl::guard
