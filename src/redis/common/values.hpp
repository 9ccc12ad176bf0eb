// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The value of a lock's key: OWNER;CLIENT;PID;HOST;COMMAND;SINCE. SINCE is when the hold began,
// in ms since 1970. Opaque to other programs.
#pragma once

#include "core/util/spi.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace pawl::redis {

// The value without SINCE. The prefix identifies a hold before the time of its begin is known.
[[nodiscard]] std::string make_value_prefix(std::string_view owner, std::string_view client,
                                            const identity& process);
[[nodiscard]] std::string make_value(std::string_view prefix, std::int64_t since_ms);
// The holder that a value names. For a value of another library, only `owner` is set.
[[nodiscard]] holder parse_value(std::string_view value);
// True: `parse_value` recognized a value of Pawl's.
[[nodiscard]] bool is_written_by_pawl(const holder& candidate) noexcept;

}  // namespace pawl::redis
