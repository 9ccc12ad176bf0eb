// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// How the answers of a fence are judged, for both APIs.
#pragma once

#include <pawl/error.hpp>
#include <pawl/guard/connection.hpp>
#include <pawl/guard/fence_result.hpp>

#include <optional>
#include <string_view>

namespace pawl::guard {

// Throws errc::unsupported outside a transaction.
void expect_transaction(bool is_open, std::string_view resource);
// Nothing for an answer without a row.
[[nodiscard]] std::optional<fence_result> judge_fence(const rows& answer, fencing_token token);
[[nodiscard]] error missing_fence(std::string_view resource);

}  // namespace pawl::guard
