// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The tables of fences and reconciliations.
#pragma once

#include <pawl/guard/connection.hpp>

#include <string_view>

namespace pawl::guard {

// CREATE TABLE statements without a semicolon at the end.
[[nodiscard]] std::string_view fence_table(dialect spoken) noexcept;
[[nodiscard]] std::string_view reconcile_table(dialect spoken) noexcept;

}  // namespace pawl::guard
