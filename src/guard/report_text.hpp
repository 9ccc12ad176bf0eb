// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Bytes and times as text, for reports.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace pawl::guard {

// In quotes, as RFC 8259 wants them. Bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string json_text(std::string_view bytes);
// Control characters, and bytes that are not UTF-8, as \x0a.
[[nodiscard]] std::string plain_text(std::string_view bytes);
// 2026-11-21T03:12:09.123Z.
[[nodiscard]] std::string utc_text(std::chrono::system_clock::time_point when);

}  // namespace pawl::guard
