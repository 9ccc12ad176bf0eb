// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// An answer as the bytes that a record keeps.
#pragma once

#include <pawl/guard/idempotency_key.hpp>

#include <optional>
#include <string>

namespace pawl::guard {

// Throws errc::bad_option for a header that is none.
[[nodiscard]] std::string encode_answer(const http_answer& answer);
// Nothing: these bytes are no answer.
[[nodiscard]] std::optional<http_answer> decode_answer(std::string_view bytes);

}  // namespace pawl::guard
