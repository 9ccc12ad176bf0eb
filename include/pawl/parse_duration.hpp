// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Durations as text, as the command and the options of URLs have them: for the configuration of a
// program. Thread-safe.
#pragma once

#include <pawl/types.hpp>

#include <optional>
#include <string_view>

namespace pawl {

// The duration that a text names: whole numbers with the units ms, s, min or m, h and d, such as
// "500ms", "30s" or "1h30m"; or "0"; or "forever", which is the constant `pawl::forever`. Empty for
// any other text, and for a duration of more than 292 years.
[[nodiscard]] std::optional<duration> parse_duration(std::string_view text);

}  // namespace pawl
